"""The pure steps of a search.

`operations.retrieval` calls plan, fuse and stale; `handlers.search` then calls filters, rank and assemble.

plan      which legs to ask the store, and how many points of each
fuse      the legs' points as one list of candidate files
stale     candidates whose chunks and file point are of different versions
filters   candidates that the store could not filter out
rank      the order of candidates by the sum of their signals
assemble  the lines to show of each, and the hits
"""
