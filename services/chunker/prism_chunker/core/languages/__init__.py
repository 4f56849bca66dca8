"""The languages: what they are called by file name (`table.py`), and what their syntax means (`queries/*.scm`)."""
