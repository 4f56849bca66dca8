"""The only writer of the index: embedded files, removals, skips and failures become points; the newest
version wins.
"""
