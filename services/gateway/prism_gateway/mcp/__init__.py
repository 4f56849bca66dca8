"""MCP:

`server.py` is the endpoint, `toolsets.py` the list of tools, `tools` their arguments, `answers` their
results.
"""
