"""Functions that macros of Rust define under a name that they are given: `rgtest!(skips_hidden_files, …)`.

A macro of the same file is read: it has to define a function of its first argument. One of another file is not
known here, so its own name has to say that it defines tests, and more has to follow the name.
"""

import re

from prism_chunker.core.parse import Captures, Syntax

_TESTING = re.compile(rb"(?:^|_)(?:tests?|bench(?:es|mark)?s?|cases?|props?|specs?)(?:_|$)|tests?$")
_FUNCTION_NAME = re.compile(rb"[a-z_][a-z0-9_]*")
# The name of a function in the body of a macro that is one of its arguments.
_MADE = re.compile(rb"\bfn\s+\$(\w+)")
_FIRST_ARGUMENT = re.compile(rb"[({\[]\s*\$(\w+)\s*:\s*ident\b")


class MadeFunctions:
    """Which macro calls of a file define a function."""

    def __init__(self, syntax: Syntax) -> None:
        self._source = syntax.source
        self._makers: dict[bytes, bool] = {}
        for captures in syntax.matches_with("macro") if "maker" in syntax.patterns else ():
            name, node = captures["name"][0], captures["macro"][0]
            body = self._source[name.end_byte : node.end_byte]
            firsts = set(_FIRST_ARGUMENT.findall(body))
            self._makers[self._source[name.start_byte : name.end_byte]] = not firsts.isdisjoint(
                _MADE.findall(body)
            )

    def names(self, captures: Captures) -> bool:
        """Returns whether the first argument of a macro call is the name of a function that it defines."""
        maker, name = captures["maker"][0], captures["name"][0]
        called = self._source[maker.start_byte : maker.end_byte].rpartition(b"::")[2]
        if not _FUNCTION_NAME.fullmatch(self._source, name.start_byte, name.end_byte):
            return False
        if called in self._makers:
            return self._makers[called]
        following = name.next_sibling
        return following is not None and following.type == "," and _TESTING.search(called) is not None
