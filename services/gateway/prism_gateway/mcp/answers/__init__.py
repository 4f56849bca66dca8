"""Turns replies into answers: structured content for programs, and a short text for readers.

The text is not a copy of the JSON: it shows places and code as a person wants to read them. Pure functions.
Each respects `max_tokens`, and notes what it had to leave out.
"""
