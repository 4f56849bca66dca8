"""The relevant names in a file: those that it defines or imports, and those before a dot."""

import re
from collections.abc import Iterable

from tree_sitter import Node

from prism_chunker.core.languages.table import Language
from prism_chunker.core.nesting import Nesting
from prism_contracts.code import TYPE_KINDS, Reference, ReferenceKind, SymbolKind

WILDCARD = "*"

_MEMBER_OWNERS = TYPE_KINDS - {SymbolKind.MODULE, SymbolKind.NAMESPACE}
_HEAD = re.compile(r"[\w$]+")


class Names:
    """The names that a file's definitions and references use."""

    def __init__(self, language: Language, nesting: Nesting, references: Iterable[Reference]) -> None:
        self.members: set[str] = set()
        self.imported: set[str] = set()
        # The receivers of members: `depot` of `depot.open()`.
        self.objects: set[str] = set()
        # Names that the file defines or imports and that can be written without an object before them.
        self.known: set[str] = set()
        for definition, outer in zip(nesting.kept, nesting.outer, strict=True):
            is_member = outer is not None and (outer.kind is None or outer.kind in _MEMBER_OWNERS)
            if is_member:
                self.members.add(definition.name)
            if not is_member or language.bare_members:
                self.known.add(definition.name)
        for reference in references:
            if reference.kind is ReferenceKind.IMPORT:
                # `import a.b` binds `a`.
                self.imported |= {reference.alias or reference.name, head_of(reference.qualifier)}
            elif reference.qualifier:
                self.objects.add(head_of(reference.qualifier))
        self.known |= self.imported


def head_of(path: str) -> str:
    """Returns the first name in a path: `depot` of `depot.parts[0].open`."""
    if path.isidentifier():
        return path
    found = _HEAD.search(path)
    return found.group() if found else ""


def text_of(node: Node, source: bytes) -> str:
    """Returns the text of a node on one line."""
    text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    # Most are plain names.
    return text if text.isidentifier() else " ".join(text.split())
