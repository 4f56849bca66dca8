"""The graph and what is read off it. Pure: no store, no broker, no clock."""
