"""MCP: `server.py` is the endpoint, `toolsets.py` what it lists, `tools` what can be asked, `answers` what is told."""
