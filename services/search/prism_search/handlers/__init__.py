"""One module per kind of request: decode, call, reply."""
