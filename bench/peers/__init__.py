"""Other tools that answer the same questions in the same benchmark, each in its own environment."""
