"""Answers from the graph alone: takes a graph, a request and a receipt; returns a reply."""
