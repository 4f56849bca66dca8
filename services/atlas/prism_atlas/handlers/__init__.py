"""One module a kind of question, and one for what makes a graph anew."""
