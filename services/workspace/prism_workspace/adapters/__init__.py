"""Storage of documents and git objects."""
