"""The process in which grammars run."""
