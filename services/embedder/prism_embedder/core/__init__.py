"""Texts in, vectors out. No broker, no store, no threads."""
