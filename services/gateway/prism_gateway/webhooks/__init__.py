"""Webhooks of forges: authentication, parsing, and the event that follows."""
