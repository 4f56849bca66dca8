"""JSON of Qdrant's REST interface to engine objects and back: pure, strict, no I/O."""
