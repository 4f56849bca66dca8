"""How replies become answers: structured content for programs, and a short text for readers.

The text is not the JSON again: it is what a person would want to read, a place and the code. Pure functions; each
keeps to `max_tokens` and says so when it had to leave something out.
"""
