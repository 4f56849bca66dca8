"""REST: `/api/v1/…`. A route turns a request into one call of the backend, and its reply into JSON."""
