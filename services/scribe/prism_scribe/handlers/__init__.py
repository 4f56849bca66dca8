"""Handlers of requests. No handler imports a handler."""
