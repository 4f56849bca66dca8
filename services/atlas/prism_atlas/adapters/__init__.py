"""Storage of graphs, and the sources that graphs are built from."""
