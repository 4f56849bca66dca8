"""MCP: the tools. `tool.py` says what a tool is, `code.py`, `docs.py`, `graph.py`, `admin.py` are the toolsets."""
