"""Documents as text and metadata. Never uses the broker or the clock."""
