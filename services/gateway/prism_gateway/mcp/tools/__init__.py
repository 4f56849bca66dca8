"""The tools, a file a topic: their arguments, whom they ask, and what they say of their results."""
