"""A wiki made from the index alone: what the pages are, and the Markdown of each.

`contents` plans the pages from an `orientation`, `pages` writes one from its evidence. Nothing here asks a service.
"""
