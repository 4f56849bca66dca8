"""What the authors write: the sections of their documents and the documentation in the code, each by its first words."""

import re
from collections.abc import Callable, Iterator, Sequence

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol, SymbolKind
from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.guidance import ContextSection
from prism_scribe.core.wiki import markdown, module_docs, prose
from prism_scribe.core.wiki.contents import surveyed
from prism_scribe.core.wiki.orientation import Evidence, Orientation, Prose

SECTIONS_MAX = 60
DEPTHS = (4, 3, 2)  # a long document loses its deepest sections first
MODULES_MAX = 20
# Characters of a section: the most with which the page has room for all documents.
SECTION_CHARS = (2_400, 1_200, 700, 320)
BLOCK_LINES_MAX = 44
PASSAGE_CHARS_MIN = 600
CHARS_MAX = 74_000
# Documents of the project's process say less of the code than others.
_LATE = (ContextSection.DECISIONS, ContextSection.CONTRIBUTING, ContextSection.CHANGELOG)
_NO_SECTION = re.compile(
    r"^(?:licen[sc]e|contribut|changelog|sponsors?|authors?|credits|table of contents|badges)", re.IGNORECASE
)


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    documents = [one for one in orientation.documents if one.section not in _LATE]
    documents.sort(key=_order(evidence))
    documents += module_docs.documents(surveyed(orientation), evidence)[:MODULES_MAX]
    documents += [one for one in orientation.documents if one.section in _LATE]
    lead = "The sections of the documents by their first words, and where each goes on."
    rendered: list[list[str]] = []
    for most in SECTION_CHARS:
        rendered = [[*_document(document, most)] for document in documents]
        if sum(len(line) for section in rendered for line in section) <= CHARS_MAX:
            break
    found: list[str] = []
    room = CHARS_MAX
    left_out = []
    for document, section in zip(documents, rendered, strict=True):
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


def _order(evidence: Evidence) -> Callable[[Prose], tuple[bool, int]]:
    """Returns the order of documents: introductions, then those that name most of the code."""
    defined = {
        symbol.name.rpartition(".")[2]
        for outline in evidence.outlines.values()
        for symbol in outline.symbols
        if symbol.exported and symbol.kind in CALLABLE_KINDS | TYPE_KINDS
    }
    return lambda one: (one.section is None, -len(defined & prose.names_in_code([one]).keys()))


def _document(document: Prose, section_chars: int) -> Iterator[str]:
    sections, left_out = _sections(document)
    opening_end = sections[0].start_line - 1 if sections else len(document.lines)
    opening = [*_said(document, 1, opening_end, section_chars)]
    quoted = [line for heading in sections for line in _section(document, heading, sections, section_chars)]
    if not quoted and not opening:
        return
    yield f"## {markdown.code(document.path)}"
    yield ""
    if opening:
        yield f"- From {markdown.place(document.path, 1, opening_end)}:"
        yield from opening
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


def _section(
    document: Prose, heading: Symbol, sections: Sequence[Symbol], section_chars: int
) -> Iterator[str]:
    """Yields a heading and the text up to the next heading."""
    following = [one.start_line - 1 for one in sections if one.start_line > heading.start_line]
    end = min([heading.end_line, *following])
    place = markdown.place(document.path, heading.start_line, heading.end_line)
    said = [*_said(document, heading.start_line + 1, end, section_chars)]
    yield f"- **{markdown.text(heading.name)}** ({place}){':' if said else ''}"
    yield from said


def _said(document: Prose, start: int, end: int, section_chars: int) -> Iterator[str]:
    """Yields the passages of a range of lines, up to so many characters. What a passage announces comes with it."""
    room = section_chars
    announces = False
    for passage in prose.passages(document, start, end):
        if room <= 0 and not announces:
            yield f"  - {markdown.ELLIPSIS}"
            return
        if passage.block is not None:
            if len(passage.block.lines) <= min(BLOCK_LINES_MAX, section_chars // 40):
                block = markdown.block(passage.block.lines, passage.block.language)
                yield from ["", *(f"  {line}".rstrip() for line in block), ""]
                room -= sum(map(len, passage.block.lines))
            announces = False
            continue
        if prose.is_mark(passage.text):
            continue
        yield f"  - {markdown.text(passage.text, max(section_chars, PASSAGE_CHARS_MIN))}"
        room -= len(passage.text)
        # The items of a list belong to the line that announces them.
        announces = passage.text.rstrip().endswith(":") or (
            announces and passage.is_item and room > -section_chars
        )
