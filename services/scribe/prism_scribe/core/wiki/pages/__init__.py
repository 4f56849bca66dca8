"""The pages of a wiki, one module for each kind. Each takes an orientation and evidence, and returns Markdown."""

import hashlib
from collections.abc import Callable, Mapping

from prism_contracts.records import WikiPageKind, WikiTocEntry
from prism_scribe.core.wiki.orientation import Evidence, Orientation
from prism_scribe.core.wiki.pages import (
    component,
    conventions,
    flows,
    glossary,
    guide,
    overview,
    types,
)

# Counts up when the same sources give another page.
FORMAT = 3

Toc = tuple[WikiTocEntry, ...]

WRITERS: Mapping[WikiPageKind, Callable[[Orientation, Evidence, Toc], list[str]]] = {
    WikiPageKind.OVERVIEW: overview.lines,
    WikiPageKind.COMPONENT: component.lines,
    WikiPageKind.FLOWS: flows.lines,
    WikiPageKind.TYPES: types.lines,
    WikiPageKind.GUIDE: guide.lines,
    WikiPageKind.CONVENTIONS: conventions.lines,
    WikiPageKind.GLOSSARY: glossary.lines,
}


def write(entry: WikiTocEntry, orientation: Orientation, evidence: Evidence, toc: Toc) -> str:
    """Returns a page without its header, which names the commit: equal sources give an equal page."""
    lines = WRITERS[entry.kind](orientation, evidence, toc)
    kept = [line for line, before in zip(lines, ["", *lines], strict=False) if line or before]
    return "\n".join(kept).rstrip("\n") + "\n"


def source_hash(page: str) -> str:
    """Returns the hash of what a page says, which is all that its sources decide."""
    return hashlib.sha256(f"{FORMAT}\0{page}".encode(errors="replace")).hexdigest()
