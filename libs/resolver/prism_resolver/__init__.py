"""Resolves references: turns the parsed facts of files into edges between symbols. Pure."""
