"""The embedder's adapters: the deep model's library, the bus, the cache of vectors."""
