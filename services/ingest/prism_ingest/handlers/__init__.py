"""What ingest does when asked or told: one module a kind of work."""
