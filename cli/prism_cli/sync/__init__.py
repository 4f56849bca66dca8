"""`prism sync` and `prism watch`: what is not committed becomes searchable, as an overlay of one's own.

overlay.py brings the overlay of a work tree up to date, memory.py remembers it between two runs, command.py does it
once; watch.py does it after each save, which saves.py tells of, and display.py shows it.
"""
