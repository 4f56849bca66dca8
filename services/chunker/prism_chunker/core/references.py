"""From the matches of a query to references: calls, imports, bases, assignments, uses of types.

An import names what it brings in: `qualifier` is the module as it is written, `name` what is taken from it, and for a
whole module its last part (`import numpy as np` -> name numpy, qualifier numpy, alias np).
"""

import re

from tree_sitter import Node

from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Captures, Syntax
from prism_contracts.code import Reference, ReferenceKind

QUALIFIER_CHARS_MAX = 80
NAME_CHARS_MAX = 200

_KINDS = {str(kind): kind for kind in ReferenceKind if kind is not ReferenceKind.TYPE} | {
    "use": ReferenceKind.TYPE
}
_LAST_PART = re.compile(r"[^./\\:]+(?:\.\w{1,3})?$")


def find_references(syntax: Syntax, nesting: Nesting, references_max: int) -> tuple[Reference, ...]:
    """References in order of appearance."""
    found: list[Reference] = []
    for _, captures in syntax.matches:
        for key, nodes in captures.items():
            kind = _KINDS.get(key)
            if kind is not None:
                found.append(_reference(kind, nodes[0], captures, syntax.source, nesting))
        if len(found) >= references_max:
            break
    return tuple(found)


def _reference(
    kind: ReferenceKind, node: Node, captures: Captures, source: bytes, nesting: Nesting
) -> Reference:
    name = _text(node, source)
    qualifier = _of("qualifier", captures, source)
    if kind is ReferenceKind.IMPORT:
        name, qualifier = _imported(name, _of("module", captures, source))
    elif len(qualifier) > QUALIFIER_CHARS_MAX:
        qualifier = ""
    return Reference(
        name=name[:NAME_CHARS_MAX],
        kind=kind,
        line=node.start_point[0] + 1,
        symbol=nesting.around(node.start_byte),
        qualifier=qualifier,
        alias=_of("alias", captures, source),
    )


def _imported(name: str, module: str) -> tuple[str, str]:
    if module:
        return name, module
    last = _LAST_PART.search(name)
    return (last.group() if last else name), name


def _of(key: str, captures: Captures, source: bytes) -> str:
    return _text(captures[key][0], source) if key in captures else ""


def _text(node: Node, source: bytes) -> str:
    text = source[node.start_byte : node.end_byte].decode("utf-8", "replace").strip("\"'`<>")
    return " ".join(text.split())
