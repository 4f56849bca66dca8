"""Sign-on by access tokens of identity providers, and `/mcp` as a protected resource of OAuth 2.1.

`door` joins the parts for the gateway: `verifier` admits a token, `access_tokens` reads it, `keys` has the
keys of an issuer, `fetching` gets them, and `resource` publishes where clients sign on.
"""
