"""Documentation comments of PHP: the types that they declare, and the members that they name.

`/** @param Depot $depot */` uses Depot, and declares the type of a parameter that has none in the code. Of the other
tags, those that tools follow by name are read: `@covers Depot::open`, `@dataProvider weights`. Prose and `@see` are
not code.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Syntax
from prism_chunker.core.references import NAME_CHARS_MAX, QUALIFIER_CHARS_MAX
from prism_chunker.core.type_names import type_name
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, VALUE_KINDS, Binding, Reference, ReferenceKind

LANGUAGES = frozenset({"php"})
# A longer comment is a text.
BYTES_MAX = 20_000
TYPE_CHARS_MAX = 300

_START = b"/**"
_TYPED = frozenset({"param", "var", "return", "throws", "property", "mixin", "extends", "implements", "use"})
_NAMING = frozenset({"covers", "uses", "dataProvider", "depends"})
_TAG = re.compile(
    r"@(?:phpstan-|psalm-)?(?:template-)?(param|var|return|throws|property|method|mixin|extends|implements|use|covers|uses"
    r"|dataProvider|depends)(?:-read|-write)?[ \t]+([^\n]*)"
)
# A name of a class, maybe with a constant of it: built-in types begin with a small letter.
_NAME = re.compile(r"(?<![\w$\\:'\"-])(\\?(?:\w+\\)+\w+|\\?[A-Z]\w*)(?:::(\w+))?")
_TARGET = re.compile(r"(?:(\\?[\w\\]+)?::)?\$?(\w+)(?:\(\))?|(\\?\w+(?:\\\w+)+)")
_VARIABLE = re.compile(r"[ \t]*(?:&|\.\.\.)?(\$\w+)")
_OWN = frozenset({"$this", "static", "self"})
_SEPARATOR = "\\"


class _Place(NamedTuple):
    """Where a comment is."""

    described: int  # the definition below it, -1 without one
    symbol: int  # this definition, or the one around the comment
    line: int  # that of the name of the definition, or the one below the comment


class Docblocks(NamedTuple):
    """What the comments of a file say."""

    references: Sequence[Reference]
    bindings: Sequence[Binding]


def read_docblocks(syntax: Syntax, nesting: Nesting, own_object: str) -> Docblocks:
    """Returns the uses in documentation comments, and the types that they declare, in line order."""
    references: list[Reference] = []
    bindings: list[Binding] = []
    starts = [definition.start for definition in nesting.kept]
    for captures in syntax.matches_with("comment"):
        node = captures["comment"][0]
        begin, end = node.start_byte, node.end_byte
        if not syntax.source.startswith(_START, begin) or end - begin > BYTES_MAX:
            continue
        text = syntax.source[begin:end].decode("utf-8", "replace")
        described = _described(end, starts, syntax.source)
        place = (
            _Place(described, described, nesting.kept[described].name_row + 1)
            if described >= 0
            else _Place(-1, nesting.around(begin), node.end_point[0] + 2)
        )
        row = node.start_point[0] + 1
        for tag in _TAG.finditer(text):
            line = row + text.count("\n", 0, tag.start())
            references += _references(tag[1], tag[2], line, place.symbol)
            if tag[1] in _TYPED:
                bindings += _bindings(tag, place, nesting, own_object)
    return Docblocks(references, bindings)


def with_declared(bindings: Iterable[Binding], declared: Sequence[Binding]) -> list[Binding]:
    """Returns bindings with what comments declare: a type in the code comes first."""
    found = list(bindings)
    known = {(one.symbol, one.name) for one in found if one.type}
    values = {(one.symbol, one.name): at for at, one in enumerate(found) if not one.type and not one.made_by}
    for one in declared:
        place = one.symbol, one.name
        if place in known:
            continue
        if place in values and one.line <= found[values[place]].line:  # a parameter without a type
            untyped = found[values[place]]
            found[values[place]] = Binding(
                name=untyped.name, line=untyped.line, symbol=untyped.symbol, type=one.type
            )
        else:
            found.insert(0, one)
            values = {key: at + 1 for key, at in values.items()}
    return sorted(found, key=lambda binding: binding.line)


def _described(end: int, starts: Sequence[int], source: bytes) -> int:
    """Returns the position of the definition that directly follows a comment; -1 without one."""
    at = bisect_left(starts, end)
    if at < len(starts) and not source[end : starts[at]].strip():
        return at
    return -1


def _references(tag: str, text: str, line: int, symbol: int) -> Iterator[Reference]:
    if tag in _NAMING:
        yield from _named(text.split(maxsplit=1)[0] if text.strip() else "", line, symbol)
        return
    types = text if tag == "method" else _type_in(text)
    for name in _NAME.finditer(types[:TYPE_CHARS_MAX]):
        kind = ReferenceKind.VALUE if name[2] else ReferenceKind.TYPE
        qualifier, own = (name[1], name[2]) if name[2] else _split(name[1])
        yield _reference(own, qualifier, kind, line, symbol)


def _named(target: str, line: int, symbol: int) -> Iterator[Reference]:
    r"""Yields what the name for a tool refers to: `Depot::open`, `\Shop\Depot`, or a method of the class around."""
    found = _TARGET.fullmatch(target.rstrip(".,;"))
    if found is None:
        return
    owner, member, whole = found.groups()
    if whole or (member[:1].isupper() and "::" not in target):
        qualifier, name = _split(whole or member)
        yield _reference(name, qualifier, ReferenceKind.VALUE, line, symbol)
    else:
        yield _reference(member, owner or "self", ReferenceKind.VALUE, line, symbol)


def _reference(name: str, qualifier: str, kind: ReferenceKind, line: int, symbol: int) -> Reference:
    return Reference(
        name=name[:NAME_CHARS_MAX],
        kind=kind,
        line=line,
        symbol=symbol,
        qualifier=qualifier if len(qualifier) <= QUALIFIER_CHARS_MAX else "",
    )


def _bindings(tag: re.Match[str], place: _Place, nesting: Nesting, own_object: str) -> Iterator[Binding]:
    """Yields the type of the variable, the property or the result that a tag is about."""
    text, spelling = tag[2], _type_in(tag[2])
    type_ = "static" if spelling in _OWN else type_name(spelling)
    if not (type_ == "static" or type_.lstrip(_SEPARATOR)[:1].isupper() or _SEPARATOR in type_):
        return
    found = _VARIABLE.match(text, len(spelling) + text.index(spelling))
    variable = found[1] if found else ""
    kind = nesting.kept[place.described].kind if place.described >= 0 else None
    name, symbol = None, place.symbol
    if kind in CALLABLE_KINDS:
        name = {"return": "", "param": variable or None}.get(tag[1])
    elif kind in TYPE_KINDS and tag[1] == "property" and variable:
        name = f"{own_object}.{variable[1:]}"
    elif kind in VALUE_KINDS and tag[1] == "var":
        name = f"{own_object}.{nesting.kept[place.described].name}"
        symbol = nesting.parents[place.described]
    elif kind is None and tag[1] == "var":
        name = variable or None
    if name is not None:
        yield Binding(name=name, line=place.line, symbol=symbol, type=type_)


def _type_in(text: str) -> str:
    """Returns the type at the start of a text: up to a blank outside of brackets."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "<[({") - (character in ">])}")
        if depth <= 0 and character.isspace():
            return text[:at]
    return text.removesuffix("*/").rstrip()


def _split(name: str) -> tuple[str, str]:
    """Returns the namespace and the last part of a name."""
    qualifier, separator, last = name.rpartition(_SEPARATOR)
    return (qualifier or separator), last
