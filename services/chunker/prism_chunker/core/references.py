"""From the matches of a query to references: calls, imports, bases, assignments. Uses of types and values: `uses.py`.

An import names what it brings in: `qualifier` is the module as it is written, `name` what is taken from it, and for a
whole module its last part (`import numpy as np` -> name numpy, qualifier numpy, alias np).
"""

import re

from tree_sitter import Node

from prism_chunker.core.definitions import unquoted
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Captures, Syntax
from prism_contracts.code import Reference, ReferenceKind

QUALIFIER_CHARS_MAX = 80
NAME_CHARS_MAX = 200

KINDS: dict[str, ReferenceKind] = {
    str(kind): kind for kind in ReferenceKind if kind not in (ReferenceKind.TYPE, ReferenceKind.VALUE)
}
KINDS |= {"item": ReferenceKind.IMPORT, "file": ReferenceKind.IMPORT}
_FROM = re.compile(r"\w+\s+([\w.]+?)\.?\s*(?:[{_*].*)?$", re.DOTALL)
_DOTTED = re.compile(r"(?:(.*?)(?:::|[./\\]))?([^./\\:]+)$", re.DOTALL)


def find_references(syntax: Syntax, nesting: Nesting, references_max: int) -> tuple[Reference, ...]:
    """References in order of appearance. Of two patterns that match one name, the one that says more wins."""
    found: dict[tuple[str, int], tuple[Node, Captures]] = {}
    names = {definition.name_start for definition in nesting.kept}
    modules: set[int] = set()
    for _, captures in syntax.matches:
        if "module" in captures:
            modules.add(captures["module"][0].start_byte)
        for key in captures:
            if key in KINDS:
                node = captures[key][0]
                if key == "call" and node.start_byte in names:
                    continue  # the head of a definition looks like a call in Lisp, Julia and Elixir
                known = found.get((key, node.start_byte))
                if known is None or _said(known[1]) < _said(captures):
                    found[key, node.start_byte] = node, captures
        if len(found) >= references_max:
            break
    return tuple(
        _reference(key, node, captures, syntax.source, nesting)
        for (key, start), (node, captures) in sorted(found.items(), key=_place)
        # `const { open } = require("fs")` is no import of the whole module.
        if key != "file" or start not in modules
    )


def _place(entry: tuple[tuple[str, int], tuple[Node, Captures]]) -> int:
    return entry[0][1]


def _reference(key: str, node: Node, captures: Captures, source: bytes, nesting: Nesting) -> Reference:
    kind = KINDS[key]
    name = _of(key, captures, source)
    qualifier = _of("qualifier", captures, source).rstrip(".:") if "qualifier" in captures else ""
    if kind is ReferenceKind.IMPORT:
        name, qualifier = _imported(name, captures, source)
    elif len(qualifier) > QUALIFIER_CHARS_MAX:
        qualifier = ""
    return Reference(
        name=name[:NAME_CHARS_MAX],
        kind=kind,
        line=node.start_point[0] + 1,
        symbol=nesting.around(node.start_byte),
        qualifier=qualifier,
        alias=_of("alias", captures, source) if "alias" in captures else "",
    )


def _imported(name: str, captures: Captures, source: bytes) -> tuple[str, str]:
    if "module" in captures:
        return name, _of("module", captures, source)
    if "from" in captures:
        found = _FROM.match(_of("from", captures, source))
        return name, found.group(1).removesuffix(f".{name}") if found else ""
    if "file" in captures:
        name = name.strip("<>")
        return name.rstrip("/").rsplit("/", 1)[-1], name
    found = _DOTTED.match(name)
    if not found:
        return name, name
    return found.group(2), (found.group(1) or name) if "item" in captures else name


def _said(captures: Captures) -> int:
    return sum(map(len, captures.values()))


def _of(key: str, captures: Captures, source: bytes) -> str:
    """The text of a capture on one line, without quotes."""
    nodes = captures[key]
    text = source[nodes[0].start_byte : nodes[-1].end_byte].decode("utf-8", "replace")
    # Most are plain names, which have neither.
    return text if text.isidentifier() else " ".join(unquoted(text).split())
