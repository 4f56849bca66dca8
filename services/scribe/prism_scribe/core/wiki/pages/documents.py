"""What the authors write: the sections of their documents and the documentation in the code, each by its first words."""

import re
from collections.abc import Iterator, Sequence

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.guidance import ContextSection
from prism_scribe.core.wiki import markdown, module_docs, prose
from prism_scribe.core.wiki.contents import surveyed
from prism_scribe.core.wiki.orientation import Evidence, Orientation, Prose

SECTIONS_MAX = 36
DEPTHS = (3, 2)  # a long document loses its deepest sections first
MODULES_MAX = 20
ITEMS_MAX = 8
ITEM_CHARS_MAX = 110
SAID_CHARS_MAX = 320
CHARS_MAX = 45_000
# Documents of the project's process say less of the code than others.
_LATE = (ContextSection.DECISIONS, ContextSection.CONTRIBUTING, ContextSection.CHANGELOG)
_NO_SECTION = re.compile(
    r"^(?:licen[sc]e|contribut|changelog|sponsors?|authors?|credits|table of contents|badges)", re.IGNORECASE
)


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    documents = [one for one in orientation.documents if one.section not in _LATE]
    documents += module_docs.documents(surveyed(orientation), evidence)[:MODULES_MAX]
    documents += [one for one in orientation.documents if one.section in _LATE]
    lead = "The first words of each section, and where it goes on."
    found: list[str] = []
    room = CHARS_MAX
    left_out = []
    for document in documents:
        section = [*_document(document)]
        if not section:
            continue
        room -= sum(map(len, section))
        if room < 0 and found:
            left_out.append(markdown.place(document.path, 1))
            continue
        found += section
    if left_out:
        found += ["## More documents", "", f"Not quoted here: {markdown.joined(left_out)}.", ""]
    return ["# What the documents say", "", lead, "", *found]


def _document(document: Prose) -> Iterator[str]:
    sections, left_out = _sections(document)
    opening = (
        prose.first_paragraph(document, 1, sections[0].start_line - 1)
        if sections
        else prose.first_paragraph(document)
    )
    quoted = [_section(document, heading, sections) for heading in sections]
    if not quoted and opening is None:
        return
    yield f"## {markdown.code(document.path)}"
    yield ""
    if opening:
        yield f"- {_said(document, opening, opening.line + 1)} ({markdown.place(document.path, opening.line)})"
    yield from quoted
    if left_out:
        yield f"- and {markdown.counted(left_out, 'more section')} ({markdown.place(document.path, 1)})"
    yield ""


def _sections(document: Prose) -> tuple[list[Symbol], int]:
    """Returns the sections to quote, and the number of those left out."""
    every = [
        heading
        for heading in document.headings
        if heading.kind is SymbolKind.SECTION and not _NO_SECTION.match(heading.name)
    ]
    shown: list[Symbol] = []
    for depth in DEPTHS:
        shown = [heading for heading in every if heading.qualified_name.count(".") < depth]
        if len(shown) <= SECTIONS_MAX:
            break
    shown = shown[:SECTIONS_MAX]
    return shown, len(every) - len(shown)


def _section(document: Prose, heading: Symbol, sections: Sequence[Symbol]) -> str:
    """Returns a heading with the first paragraph below it, before the next heading."""
    following = [one.start_line - 1 for one in sections if one.start_line > heading.start_line]
    end = min([heading.end_line, *following])
    found = prose.first_paragraph(document, heading.start_line + 1, end)
    said = _said(document, found, end) if found else _items(document, heading.start_line + 1, end)
    text = f": {said}" if said else ""
    place = markdown.place(document.path, heading.start_line, heading.end_line)
    return f"- **{markdown.text(heading.name)}**{text} ({place})"


def _said(document: Prose, found: prose.Quote, end: int) -> str:
    """Returns a paragraph, with the list that it announces."""
    text = markdown.text(found.text, SAID_CHARS_MAX)
    announces = found.text.rstrip().endswith(":") and len(found.text) < SAID_CHARS_MAX
    items = _items(document, found.line + 1, end) if announces else ""
    return f"{text} {items}" if items else text


def _items(document: Prose, start: int, end: int) -> str:
    items = prose.list_items(document, start, end, ITEMS_MAX)
    return "; ".join(markdown.text(item.text, ITEM_CHARS_MAX).rstrip(".;") for item in items)
