"""What forges post when something was pushed: whose it is, what it says, and what becomes of it."""
