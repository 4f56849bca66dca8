"""The languages: their file names (`table.py`), and the meaning of their syntax (`queries/*.scm`)."""
