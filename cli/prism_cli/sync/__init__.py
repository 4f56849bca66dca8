"""`prism sync` and `prism watch`: uncommitted changes become searchable, as a private overlay.

overlay.py updates the overlay of a work tree, memory.py stores its handle between two runs, command.py runs
one update. watch.py updates after each save that saves.py reports, and display.py shows the state.
"""
