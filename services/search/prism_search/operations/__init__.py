"""What several handlers call, or what is too long for one: it asks adapters for data and core for decisions."""
