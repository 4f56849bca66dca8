"""The only writer of the index: embedded files, removals, skips and failures become points, newest version first."""
