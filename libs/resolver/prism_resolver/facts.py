"""The parsed facts of one file: symbols, references and bindings."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from prism_contracts.code import Binding, Reference, ReferenceKind, Symbol, SymbolFact, SymbolKind
from prism_resolver.expressions import ABSOLUTE, CALL, OWN_CLASS, OWN_OBJECT, TOP, steps_of
from prism_resolver.languages import ECMASCRIPT, JVM, MAKES_OBJECT, READS_UNKNOWN, TYPES_WITHOUT_IMPORT

# `depot.class`, `Depot::class`
NO_NAMES = frozenset({"class"})


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file of a repository: its definitions, its references and the types of its variables."""

    id: str  # id of the file point
    scope: str  # id of the repository
    repo: str  # the repository's own name, without its owner
    path: str
    language: str
    flags: str
    symbols: Sequence[Symbol | SymbolFact]
    references: Sequence[Reference]
    bindings: Sequence[Binding]
    blob: str = ""  # hash of the content


def with_qualifier_uses(facts: FileFacts) -> FileFacts:
    """Adds a reference for each name before the dot of another: `Depot.open()` also uses Depot.

    Adds only names that can resolve: their first part is defined, imported or given a type in the file, or is that of a
    type that all files see. An import of a member uses the type that has it.
    """
    if facts.language == "rust":
        facts = _seen_from_file(facts)
    imported = (one for one in facts.references if one.kind is ReferenceKind.IMPORT)
    named = (OWN_OBJECT | OWN_CLASS).union(
        (one.alias or one.name for one in imported), (one.name for one in facts.symbols)
    )
    known = named.union(one.name for one in facts.bindings if one.type or one.made_by)
    # A variable alone is no use of anything in JavaScript, whose variables of modules are symbols.
    heads = named if facts.language in ECMASCRIPT else known
    is_open = facts.language in TYPES_WITHOUT_IMPORT | {"cpp"}  # C++ sees what it includes
    found = (
        use
        for reference in facts.references
        for use in _qualifier_uses(reference, MAKES_OBJECT.get(facts.language, frozenset()))
        if (head := _head(use)) in (known if use.qualifier else heads)
        or (is_open and head[:1].isupper())
        or (use.qualifier and facts.language in READS_UNKNOWN)
    )
    own = set(facts.references) if facts.language in {"cpp", "csharp"} else frozenset()
    added = [use for use in dict.fromkeys(found) if use not in own]
    if facts.language in JVM:
        added += dict.fromkeys(use for one in facts.references for use in _owners(one))
    elif facts.language == "rust":
        added += dict.fromkeys(use for one in facts.references for use in _opened(one))
    return replace(facts, references=(*facts.references, *added))


def _seen_from_file(facts: FileFacts) -> FileFacts:
    """Writes the imports in a module in braces as the file would: `use super::Gate` in `mod tests { … }` is `self::Gate`."""
    modules = {at for at, one in enumerate(facts.symbols) if one.kind is SymbolKind.MODULE}
    if not modules:
        return facts
    references = list(facts.references)
    for at, one in enumerate(references):
        head, separator, rest = one.qualifier.partition("::")
        if one.kind is not ReferenceKind.IMPORT or head not in {"self", "super"}:
            continue
        around, symbol = list[str](), one.symbol
        while symbol >= 0:
            around += [facts.symbols[symbol].name] if symbol in modules else []
            symbol = facts.symbols[symbol].parent
        inside = around[::-1]
        if not inside or one.name == head or (head == "self" and not separator):
            continue
        if head == "super":
            inside.pop()
            while rest.partition("::")[0] == "super" and inside:
                inside.pop()
                rest = rest.partition("::")[2]
            head = "super" if rest.partition("::")[0] == "super" else "self"
            rest = rest.removeprefix("super").removeprefix("::") if head == "super" else rest
        # `self` alone would be that of `mod gates;`.
        path = "::".join(part for part in (head, *inside, rest) if part)
        references[at] = structs.replace(one, qualifier="self::self" if path == "self" else path)
    return replace(facts, references=references)


def _qualifier_uses(reference: Reference, makers: Collection[str]) -> Iterator[Reference]:
    """Yields the names before the dot. A call before it has its own reference, maybe in a line before, with the names
    in front of it.

    `makers` are the methods that make an object of their class: `Depot.new(1)` in Ruby calls Depot.
    """
    qualifier = "" if reference.kind is ReferenceKind.IMPORT else reference.qualifier
    # `town.depots[0].open()` uses `town.depots`.
    steps = steps_of(qualifier) or steps_of(qualifier.partition("[")[0])
    if CALL in steps:
        return
    for position, step in enumerate(steps):
        if step.name not in OWN_OBJECT | OWN_CLASS | NO_NAMES:
            qualifier = ".".join(before.name for before in steps[:position])
            mark = next((one for one in (TOP, ABSOLUTE) if step.name.startswith(one)), "")
            if mark == ABSOLUTE and len(steps) > 1:
                continue  # a namespace of PHP
            is_made = reference.name in makers and position == len(steps) - 1
            yield Reference(
                name=step.name.removeprefix(mark),
                kind=ReferenceKind.CALL if is_made else ReferenceKind.VALUE,
                line=reference.line,
                symbol=reference.symbol,
                qualifier=qualifier or mark,
            )


def _owners(reference: Reference) -> Iterator[Reference]:
    """Yields the types that an import goes through: `import static town.Depot.open` uses Depot."""
    if reference.kind is not ReferenceKind.IMPORT:
        return
    parts = reference.qualifier.split(".")
    for position, part in enumerate(parts):
        if part[:1].isupper():
            qualifier = ".".join(parts[:position])
            yield Reference(
                name=part,
                kind=ReferenceKind.VALUE,
                line=reference.line,
                symbol=reference.symbol,
                qualifier=qualifier,
            )


def _opened(reference: Reference) -> Iterator[Reference]:
    """Yields the enumeration from which an import of Rust takes cases: `use self::Kind::*` uses Kind."""
    path, _, name = reference.qualifier.rpartition("::")
    if reference.kind is ReferenceKind.IMPORT and name[:1].isupper() and name != reference.name:
        yield Reference(
            name=name,
            kind=ReferenceKind.VALUE,
            line=reference.line,
            symbol=reference.symbol,
            qualifier=path,
        )


def _head(use: Reference) -> str:
    return (use.qualifier.partition(".")[0].lstrip("\\:")) or use.name
