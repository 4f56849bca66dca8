"""References from the expansions of C's macros: the calls in them, and the names of other macros.

To a grammar a macro's expansion is bare text, which may be no statement, no expression, or half of one. So it
is searched for names before brackets, and for names that are macros by convention.
"""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import chain, islice

from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Captures, Syntax
from prism_chunker.core.preprocessor import COMMENT_OR_LITERAL, MACRO, blanked
from prism_chunker.core.references import NAME_CHARS_MAX, QUALIFIER_CHARS_MAX
from prism_contracts.code import Reference, ReferenceKind

# How far back from a call to search for its receiver.
CONTEXT_BYTES_MAX = 100

_SILENT = re.compile(COMMENT_OR_LITERAL, re.DOTALL)
_WORD = re.compile(rb"\w+")
_CALL = re.compile(rb"\b([A-Za-z_]\w*+)[ \t]*+\(")
# Another macro; what follows one of these marks is a member, a part of a name, or a text.
_OTHER = re.compile(rb"(?<![\w.>:#])" + MACRO + rb"(?![\w#])(?![ \t]*+[(#])")
_OBJECT = re.compile(rb"((?:(?<!\w)\(\w+\)|\b\w+)(?:(?:->|\.)\w+)*)(?:->|\.)\Z")
# `int add(`: a word before a name declares it, unless it begins a statement.
_ANNOUNCES = re.compile(
    rb"\b(?!(?:return|else|do|case|goto|throw|co_await|co_return|co_yield|not|and|or)\b)\w+\s\Z"
)
# Names before brackets that are not calls.
_NO_FUNCTION = frozenset(
    b"if for while switch return sizeof defined catch typeof __typeof__ decltype alignof _Alignof alignas _Alignas noexcept "
    b"__attribute__ __declspec __asm__ __asm asm _Generic static_assert _Static_assert "
    b"void char short int long float double signed unsigned bool auto".split()
)


def read_expansions(syntax: Syntax, nesting: Nesting, references_max: int) -> list[Reference]:
    """Returns the calls and the other macros in macros, macro by macro."""
    macros = syntax.matches_with("expansion")
    found = chain.from_iterable(_references(captures, syntax.source, nesting) for captures in macros)
    return list(islice(found, references_max))


def _references(captures: Captures, source: bytes, nesting: Nesting) -> Iterator[Reference]:
    node = captures["expansion"][0]
    text = source[node.start_byte : node.end_byte]
    if not (b"(" in text or b"_" in text):
        return
    name = captures["name"][0]
    own = {source[name.start_byte : name.end_byte], *_WORD.findall(source, name.end_byte, node.start_byte)}
    text = _SILENT.sub(lambda silent: blanked(silent.group()), text)
    row, symbol = node.start_point[0] + 1, nesting.around(node.start_byte)
    yield from _calls(text, own, row, symbol)
    for other in _OTHER.finditer(text):
        if other[0] not in own:
            yield Reference(
                name=other[0].decode("utf-8", "replace")[:NAME_CHARS_MAX],
                kind=ReferenceKind.VALUE,
                line=row + text.count(b"\n", 0, other.start()),
                symbol=symbol,
            )


def _calls(text: bytes, own: AbstractSet[bytes], row: int, symbol: int) -> Iterator[Reference]:
    """Yields the calls in the text of an expansion. `own`: the macro itself, and its parameters."""
    line, at = row, 0
    for called in _CALL.finditer(text):
        line, at = line + text.count(b"\n", at, called.start()), called.start()
        before = text[max(0, called.start() - CONTEXT_BYTES_MAX) : called.start()]
        if called[1] in _NO_FUNCTION or called[1] in own or before.rstrip().endswith(b"##"):
            continue
        is_member = before.endswith((b"->", b"."))
        on = _OBJECT.search(before) if is_member else None
        if _ANNOUNCES.search(before) or (is_member and on is None):
            continue
        qualifier = on[1].decode("utf-8", "replace") if on else ""
        yield Reference(
            name=called[1].decode("utf-8", "replace")[:NAME_CHARS_MAX],
            kind=ReferenceKind.CALL,
            line=line,
            symbol=symbol,
            qualifier=qualifier if len(qualifier) <= QUALIFIER_CHARS_MAX else "",
        )
