"""What the embedder knows: texts in, vectors out. No broker, no store, no threads of its own."""
