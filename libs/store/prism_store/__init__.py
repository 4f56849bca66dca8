"""Stores code in Qdrant: the schema, the reader and the writer.

Only the indexer imports `writer`. Every read goes through `reader` and takes a `Scope`.
"""
