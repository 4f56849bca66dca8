"""Questions about a graph, answered from it alone: a request and a receipt come in, a reply goes out."""
