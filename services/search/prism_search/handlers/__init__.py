"""One module a kind of question."""
