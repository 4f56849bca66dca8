"""Answers that take several questions: contexts, and the wiki of a repository."""
