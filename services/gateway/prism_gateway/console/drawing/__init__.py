"""Pictures as data: where boxes, lines and words are. Takes numbers and names, returns places, never does I/O."""
