"""What a parser saw in one file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from prism_contracts.code import Binding, Reference, ReferenceKind, Symbol, SymbolFact
from prism_resolver.expressions import CALL, OWN_OBJECT, steps_of


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file of a repository, by what it defines, uses and says of its variables."""

    id: str  # of the file point
    scope: str  # id of the repository
    repo: str  # the repository's own name, without its owner
    path: str
    language: str
    flags: str
    symbols: Sequence[Symbol | SymbolFact]
    references: Sequence[Reference]
    bindings: Sequence[Binding]
    blob: str = ""  # of the content


def with_qualifier_uses(facts: FileFacts) -> FileFacts:
    """The same, with a use of each name that stands before the dot of a reference: `Depot.open()` uses Depot as well.

    Only where it may mean anything: what begins with a name that the file defines, imports, or says something of.
    """
    imported = (one for one in facts.references if one.kind is ReferenceKind.IMPORT)
    known = OWN_OBJECT.union(
        (one.alias or one.name for one in imported),
        (one.name for one in facts.symbols),
        (one.name for one in facts.bindings if one.type or one.made_by),
    )
    found = (
        use for reference in facts.references for use in _qualifier_uses(reference) if _head(use) in known
    )
    return replace(facts, references=(*facts.references, *dict.fromkeys(found)))


def _qualifier_uses(reference: Reference) -> Iterator[Reference]:
    """Names before the dot that are not called there: a call is a reference of its own."""
    if reference.kind is ReferenceKind.IMPORT or not reference.qualifier:
        return
    steps = steps_of(reference.qualifier)
    for position, step in enumerate(steps):
        if step is CALL or CALL in steps[:position] or steps[position + 1 : position + 2] == (CALL,):
            return
        if step.name not in OWN_OBJECT:
            qualifier = ".".join(before.name for before in steps[:position])
            yield Reference(
                name=step.name,
                kind=ReferenceKind.VALUE,
                line=reference.line,
                symbol=reference.symbol,
                qualifier=qualifier,
            )


def _head(use: Reference) -> str:
    return use.qualifier.partition(".")[0] or use.name
