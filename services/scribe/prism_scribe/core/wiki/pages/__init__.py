"""The pages of a wiki, one module for each kind. Each takes an orientation and evidence, and returns Markdown."""

import hashlib
from collections.abc import Callable, Mapping

from prism_contracts.records import WikiPageKind, WikiTocEntry
from prism_scribe.core.wiki.orientation import Evidence, Orientation
from prism_scribe.core.wiki.pages import (
    component,
    conventions,
    documents,
    errors,
    extending,
    flows,
    glossary,
    guide,
    overview,
    settings,
    types,
)

# Counts up when the same sources give another page.
FORMAT = 10

# A page that is longer is cut: a reader of ten pages has a few minutes for each.
CHARS_MAX = 80_000
CUT = "The rest of this page is left out: it is too long."

Toc = tuple[WikiTocEntry, ...]

WRITERS: Mapping[WikiPageKind, Callable[[Orientation, Evidence, Toc], list[str]]] = {
    WikiPageKind.OVERVIEW: overview.lines,
    WikiPageKind.COMPONENT: component.lines,
    WikiPageKind.FLOWS: flows.lines,
    WikiPageKind.TYPES: types.lines,
    WikiPageKind.SETTINGS: settings.lines,
    WikiPageKind.ERRORS: errors.lines,
    WikiPageKind.EXTENDING: extending.lines,
    WikiPageKind.GUIDE: guide.lines,
    WikiPageKind.DOCUMENTS: documents.lines,
    WikiPageKind.CONVENTIONS: conventions.lines,
    WikiPageKind.GLOSSARY: glossary.lines,
}


def write(entry: WikiTocEntry, orientation: Orientation, evidence: Evidence, toc: Toc) -> str:
    """Returns a page without its header, which names the commit: equal sources give an equal page."""
    lines = WRITERS[entry.kind](orientation, evidence, toc)
    kept = _bounded([line for line, before in zip(lines, ["", *lines], strict=False) if line or before])
    return "\n".join(kept).rstrip("\n") + "\n"


def _bounded(lines: list[str]) -> list[str]:
    """Returns lines of at most `CHARS_MAX` characters. A longer page ends after a row or an item, and says so."""
    room, fenced, end = CHARS_MAX - len(CUT), False, 0
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return [*lines[:end], "", CUT]
        fenced ^= line.startswith("```")
        if not fenced:
            end = number + 1
    return lines


def source_hash(page: str) -> str:
    """Returns the hash of what a page says, which is all that its sources decide."""
    return hashlib.sha256(f"{FORMAT}\0{page}".encode(errors="replace")).hexdigest()
