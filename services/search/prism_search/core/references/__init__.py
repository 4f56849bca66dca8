"""Who uses a symbol, as pure functions.

query   what is asked about a name, and the same question for the graph
edges   which references among files resolve to the symbol
text    which lines hold the name without being a definition or a reference
reply   one page of the answer
"""
