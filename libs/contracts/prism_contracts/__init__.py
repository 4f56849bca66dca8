"""Everything that crosses a process border in Prism, as data: events, requests, replies, records, errors,
names.

Nothing here does I/O or decides anything. A message is versioned by its field `v`; a reader ignores fields it
does not know, so a field may be added freely and is never renamed or reused.
"""
