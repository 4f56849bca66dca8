"""What ingest receives and answers: one module per kind of message.

A handler decodes a message, calls an operation, and replies. No handler imports another one.
"""
