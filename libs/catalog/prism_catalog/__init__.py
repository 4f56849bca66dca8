"""Facts about repositories besides their code: names, refs, layers, histories, SCIP indexes, secrets.

It reads and writes the records in NATS. `repositories` resolves the names of a request to the scope that a
read of the store takes.
"""
