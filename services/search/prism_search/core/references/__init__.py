"""Who uses a symbol: from what each file says of itself to edges, each with how it was found.

`modules` says which file an import means, `scopes` what a file's names stand for, `resolution` makes the edges.
"""
