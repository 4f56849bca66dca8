"""Answers questions from the index: queries, fuses, ranks, explains. Never writes to the index."""
