"""Conditionals in a form that a grammar can parse: where one cuts through the syntax, one branch remains.

A grammar accepts `#if` only between whole statements, declarations and fields. Where two branches both open
`if (...) {` and share the closing bracket, it sees a bracket too many, and loses or nests the functions
below. Blanks replace the removed branches, so every other byte keeps its offset. Removed branches are
returned, so that they can be parsed on their own. C# has the same conditionals. Those of Swift hold whole
statements, and its grammar knows them only among statements: without their rows all branches can be parsed.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from prism_chunker.core.preprocessor import COMMENT, COMMENT_OR_LITERAL, blanked

# The nesting limit of conditionals: each level scans the text within once more.
CONDITIONALS_DEPTH_MAX = 32
# How far back to search for the end of the code before a conditional.
CONTEXT_BYTES_MAX = 2_000

# Only comments, literals and directives contain a `#` at the start.
_NO_CODE = re.compile(
    COMMENT_OR_LITERAL + rb"|#[ \t]*+(\w*+)((?:" + COMMENT + rb"|//[^\n]*+|\\\r?\n|[^\n])*+)", re.DOTALL
)
_CONDITIONAL = frozenset({b"if", b"ifdef", b"ifndef", b"elif", b"elifdef", b"elifndef", b"else", b"endif"})
_ROW_OF_SWIFT = re.compile(rb"(?m)^[ \t]*+#(?:if|elseif|else|endif)\b[^\n]*+")
# Rows that no C compiler reads.
_FALSE = re.compile(rb"\s*(?:0\b|__cplusplus\b|defined\s*\(?\s*__cplusplus\b)")
# A statement begins after a colon, and a branch that ends with a label ends within a statement.
_BEFORE = (b";", b"{", b"}", b":")
_ENDS = (b";", b"}")
_GOES_ON = re.compile(rb"else\b")


class Span(NamedTuple):
    """Bytes from `start` to `end`, the latter excluded."""

    start: int
    end: int


class Resolved(NamedTuple):
    """A source of unchanged length without some branches, and the removed branches, padded to the same
    length.
    """

    source: bytes
    gone: list[Span]
    branches: bytes


class _Directive(NamedTuple):
    start: int
    end: int
    word: bytes
    condition: bytes


def resolve_conditionals(source: bytes) -> Resolved:
    """Returns the source without the conditionals that cut through its syntax, up to the nesting limit."""
    return _Resolver(source).resolve()


def blank_directives(source: bytes) -> bytes:
    """Returns a source of Swift with blanks for the rows of its conditionals, at unchanged length."""
    return _ROW_OF_SWIFT.sub(lambda row: blanked(row.group()), source) if b"#if" in source else source


class _Resolver:
    def __init__(self, source: bytes) -> None:
        self._source = source
        self._directives: list[_Directive] = []
        # Where brackets count: outside of comments, strings, directives and removed branches.
        self._code = bytearray(_NO_CODE.sub(self._take, source))
        self._text = bytearray(source)
        self._branches = bytearray(source)
        self._gone: list[Span] = []

    def resolve(self) -> Resolved:
        pending: list[list[_Directive]] = []
        for directive in self._directives:
            if directive.word.startswith(b"if"):
                pending.append([directive])
                if len(pending) > CONDITIONALS_DEPTH_MAX:
                    return Resolved(self._source, [], b"")
            elif pending:
                pending[-1].append(directive)
                if directive.word == b"endif":
                    self._close(pending.pop())
        return Resolved(bytes(self._text), self._gone, bytes(self._branches))

    def _take(self, found: re.Match[bytes]) -> bytes:
        if found[1] in _CONDITIONAL:
            self._directives.append(_Directive(*found.span(), found[1], found[2]))
        return blanked(found.group())

    def _close(self, directives: list[_Directive]) -> None:
        """Resolve a conditional that cuts through the syntax; those inside it are resolved already."""
        branches = [Span(one.end + 1, self._row(other.start)) for one, other in pairwise(directives)]
        codes = [bytes(self._code[start:end]).strip() for start, end in branches]
        if self._is_between(directives[0].start) and all(map(_is_whole, codes)):
            return
        for start, end, *_ in directives:
            _blank(self._text, start, end)
        if not all(map(_is_listed, codes)):
            self._keep(int(_is_false(directives[0])), branches)

    def _row(self, at: int) -> int:
        """Returns the start of a byte's row."""
        return self._source.rfind(b"\n", 0, at) + 1

    def _is_between(self, start: int) -> bool:
        """Whether a statement, a declaration or a block has just begun or ended."""
        before = self._code[max(0, start - CONTEXT_BYTES_MAX) : start].rstrip()
        return not before or before.endswith(_BEFORE)

    def _keep(self, at: int, branches: list[Span]) -> None:
        """Remove all branches of a conditional except one, or all if none is at `at`."""
        kept = branches[at] if at < len(branches) else Span(0, 0)
        # Parts removed from a branch earlier are removed with it.
        inner: list[Span] = []
        while self._gone and self._gone[-1].start >= branches[0].start:
            inner.append(self._gone.pop())
        self._gone += [span for span in inner if kept.start <= span.start < kept.end]
        for branch in branches:
            if branch is not kept:
                self._gone.append(branch)
                place = slice(*branch)
                self._branches[place] = self._text[place]
                _blank(self._text, *branch)
                _blank(self._code, *branch)


def _is_false(directive: _Directive) -> bool:
    return directive.word in (b"if", b"ifdef") and _FALSE.match(directive.condition) is not None


def _is_whole(code: bytes) -> bool:
    """Whether a branch neither begins nor ends inside a statement."""
    return not code or (_is_balanced(code) and code.endswith(_ENDS) and not _GOES_ON.match(code))


def _is_listed(code: bytes) -> bool:
    """Whether a branch holds members of a list, which may follow those of another branch."""
    return not code or (_is_balanced(code) and code.endswith(b","))


def _is_balanced(code: bytes) -> bool:
    if code.count(b"{") != code.count(b"}") or code.count(b"(") != code.count(b")"):
        return False
    # `} else {` has as many of each
    first, last = code.find(b"{"), code.rfind(b"}")
    return first < 0 or (first < code.find(b"}") and last > code.rfind(b"{"))


def _blank(text: bytearray, start: int, end: int) -> None:
    text[start:end] = blanked(bytes(text[start:end]))
