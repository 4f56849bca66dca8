"""`prism mcp`: MCP over standard input and output, for clients that start their servers as commands.

door.py carries requests to the gateway, server.py answers the client, command.py runs both.
"""
