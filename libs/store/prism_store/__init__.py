"""How Prism keeps code in Qdrant: the schema, the one gate through which it is read, and the writer.

Only the indexer imports `writer`; whoever reads goes through `reader`, which takes a `Scope` with every call.
What every service that answers questions needs lies beside it: `repositories` turns names into scopes and writes receipts,
`globs` chooses paths.
"""
