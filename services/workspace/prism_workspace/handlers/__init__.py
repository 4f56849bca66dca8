"""What workspace answers: one module per kind of message.

A handler decodes a message, calls an operation or the core, and replies. No handler imports another one.
"""
