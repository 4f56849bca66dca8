"""Where graphs are kept, and where they are made from."""
