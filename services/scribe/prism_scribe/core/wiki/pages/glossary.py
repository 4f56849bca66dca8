"""The words of the code: the types, constants and functions that most code depends on, from A to Z."""

import re
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol, SymbolKind
from prism_contracts.records import WikiTocEntry
from prism_resolver.prose import first_sentence
from prism_scribe.core.wiki import markdown
from prism_scribe.core.wiki.contents import outlined
from prism_scribe.core.wiki.orientation import Evidence, Orientation

TERMS_MAX = 80
TERMS_OF_FILE_MAX = 8
_GLOSSARY = re.compile(r"glossar|terminolog|\bterms\b|vocabular", re.IGNORECASE)
_TERMS = TYPE_KINDS | CALLABLE_KINDS | {SymbolKind.CONSTANT}


class _Term(NamedTuple):
    symbol: Symbol
    path: str
    said: str


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    terms: dict[str, _Term] = {}
    for path in outlined(orientation):
        for term in _terms(path, evidence)[:TERMS_OF_FILE_MAX]:
            terms.setdefault(term.symbol.name, term)
    rows = [
        (
            markdown.code(term.symbol.name),
            term.symbol.kind.value,
            term.said,
            markdown.place(term.path, term.symbol.name_line),
        )
        for term in sorted(list(terms.values())[:TERMS_MAX], key=lambda term: term.symbol.name.lower())
    ]
    found = ["# Glossary", "", *_documents(orientation)]
    if not rows:
        return [*found, "No name in the main files has a description of its own."]
    lead = "Names of the main files that have a description, with its first sentence."
    return [*found, lead, "", *markdown.table(("name", "kind", "what it says of itself", "defined in"), rows)]


def _terms(path: str, evidence: Evidence) -> list[_Term]:
    outline = evidence.outlines.get(path)
    symbols = outline.symbols if outline else ()
    found = [
        _Term(symbol, path, markdown.text(first_sentence(symbol.docstring)))
        for symbol in symbols
        if symbol.parent < 0 and symbol.exported and symbol.kind in _TERMS and not symbol.name.startswith("_")
    ]
    described = [term for term in found if term.said and not term.said.startswith("`http")]
    return sorted(described, key=lambda term: term.symbol.kind not in TYPE_KINDS)


def _documents(orientation: Orientation) -> list[str]:
    places = [
        markdown.place(document.path, heading.start_line)
        for document in orientation.documents
        for heading in document.headings
        if _GLOSSARY.search(heading.name)
    ]
    return [f"The authors explain terms in {markdown.joined(places)}.", ""] if places else []
