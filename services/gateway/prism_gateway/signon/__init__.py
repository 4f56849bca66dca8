"""Sign-on by access tokens of identity providers, and MCP as an OAuth 2.1 resource server.

`verifier` admits a token, `access_tokens` reads it, `keys` has the provider's keys, `fetching` gets them, and
`resource` publishes where clients sign on.
"""
