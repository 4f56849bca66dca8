"""Other tools that answer the same questions, run in the same benchmark. Each has an environment of its own."""
