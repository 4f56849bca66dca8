"""Uses of C's macros where no grammar sees them: in conditions of the preprocessor, and where blanks replaced a macro.

Only some forms of a condition are nodes of the grammar, and where a conditional cuts through the syntax, none is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Syntax
from prism_chunker.core.preprocessor import COMMENT_OR_LITERAL, MACRO, blanked
from prism_chunker.core.references import NAME_CHARS_MAX
from prism_contracts.code import Reference, ReferenceKind

_DIRECTIVE = re.compile(
    rb"(?m)^[ \t]*+#[ \t]*+(if|ifdef|ifndef|elif|elifdef|elifndef|undef)\b((?:[^\n\\]|\\\r?\n|\\)*+)"
)
# After `#ifndef SHOP_H`: the definition that makes it the guard of a header.
_GUARD = re.compile(
    rb"[ \t]*(\w+)[^\n]*+(?:\s|//[^\n]*+)*+#[ \t]*+define[ \t]++(\w+)[ \t]*+\r?$", re.MULTILINE
)
# Before the guard of a header a file has at most a pragma.
_FIRST_DIRECTIVE = re.compile(rb"(?m)^[ \t]*+#[ \t]*+(?!pragma\b)\w")
_SILENT = re.compile(COMMENT_OR_LITERAL + rb"|\b__has_\w+[ \t]*+\([^()\n]*+\)", re.DOTALL)
_NAME = re.compile(rb"(?<![\w.])[A-Za-z_]\w*+([ \t]*+\()?")
_MACRO_NAME = re.compile(rb"\b" + MACRO + rb"\b(?:[ \t]*+\()?")
_BLANK, _BRACKET = b" ("
_NO_MACRO = frozenset(b"defined true false and or not __cplusplus".split())


def read_macro_uses(syntax: Syntax, nesting: Nesting) -> dict[int, Reference]:
    """Returns the uses of macros in conditions and where blanks replaced them, in order, by their first byte."""
    source = syntax.source
    places = {
        name.start(): (name.group().rstrip(b"( \t"), source[name.end() - 1] == _BRACKET)
        for name in (*_blanked(syntax), *_in_conditions(source))
    }
    comments = _comments(syntax) if places else []
    found: dict[int, Reference] = {}
    line, counted = 1, 0
    for start, (name, is_called) in sorted(places.items()):
        line, counted = line + source.count(b"\n", counted, start), start
        comment = comments[bisect_right(comments, (start, len(source))) - 1] if comments else (0, 0)
        if not comment[0] <= start < comment[1]:
            found[start] = Reference(
                name=name.decode("utf-8", "replace")[:NAME_CHARS_MAX],
                kind=ReferenceKind.CALL if is_called else ReferenceKind.VALUE,
                line=line,
                symbol=nesting.around(start),
            )
    return found


def _in_conditions(source: bytes) -> Iterator[re.Match[bytes]]:
    """Yields the names in conditions, each with the bracket after it."""
    first = _FIRST_DIRECTIVE.search(source)
    for directive in _DIRECTIVE.finditer(source):
        is_first = first is not None and directive.start() <= first.start()
        guard = _GUARD.match(source, directive.start(2)) if is_first and directive[1] == b"ifndef" else None
        if guard and guard[1] == guard[2]:
            continue
        start, end = directive.span(2)
        text = _SILENT.sub(lambda silent: blanked(silent.group()), directive[2])
        # A search of the source keeps the offsets; comments and questions are blanks in the text.
        for name in _NAME.finditer(source, start, end):
            bare = name.group().rstrip(b"( \t")
            if text.startswith(bare, name.start() - start) and bare not in _NO_MACRO:
                yield name


def _blanked(syntax: Syntax) -> Iterator[re.Match[bytes]]:
    """Yields the macros that blanks replaced, each with the bracket after it."""
    if syntax.text != syntax.source:
        for name in _MACRO_NAME.finditer(syntax.source):
            if syntax.text[name.start()] == _BLANK:
                yield name


def _comments(syntax: Syntax) -> list[tuple[int, int]]:
    """Returns where comments begin and end, in order."""
    nodes = [node for captures in syntax.matches_with("comment") for node in captures["comment"]]
    return sorted((node.start_byte, node.end_byte) for node in nodes)
