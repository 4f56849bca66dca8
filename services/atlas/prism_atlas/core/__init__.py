"""The graph and the answers computed from it. Never uses the store, the broker or the clock."""
