"""Pure functions: what a wiki says, without a broker, a store or a clock."""
