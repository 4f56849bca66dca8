"""What ingest receives and answers: one module per kind of message. Handlers decode, call an operation, and reply."""
