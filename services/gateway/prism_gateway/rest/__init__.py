"""REST under `/api/v1`.

A route turns an HTTP request into one request to a service, and the reply into JSON.
"""
