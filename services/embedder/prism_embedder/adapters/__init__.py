"""What the embedder talks to: the deep model's library, the bus, the store of cached vectors."""
