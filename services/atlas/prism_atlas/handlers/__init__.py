"""One module per kind of question, and one that builds graphs."""
