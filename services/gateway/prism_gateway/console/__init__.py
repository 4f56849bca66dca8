"""The web console: pages for people, rendered on the server, over the same requests that REST and MCP make.

No page knows more than the token that the person signed in with may ask. Nothing is kept in the process, so any
copy of the gateway answers any request.
"""
