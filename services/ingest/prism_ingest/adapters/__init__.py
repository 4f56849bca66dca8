"""Where ingest keeps its facts, and whom it asks."""
