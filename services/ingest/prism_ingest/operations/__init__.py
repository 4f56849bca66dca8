"""What handlers call: begins jobs, plans, fetches, publishes and tracks them. Operations know no message formats of replies."""
