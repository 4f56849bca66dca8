"""The fast model: vectors of code and of questions from a table of words. Pure."""
