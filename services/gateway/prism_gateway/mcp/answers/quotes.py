"""Quoted documents: the place, the lines, and the headings of the rest."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from prism_contracts.rpc.guidance import Document, RulesDocument
from prism_gateway.budget import cut, fit

DocumentT = TypeVar("DocumentT", bound=Document)

# The cost of a document without its text and headings, in characters.
DOCUMENT_CHARS = 160
TEXT_FLOOR_CHARS = 200
HEADING_CHARS = 4


def size(document: Document) -> int:
    """Returns the cost of a document, in characters."""
    return len(document.content) + _overhead(document)


def fit_documents(documents: Sequence[DocumentT], chars_max: int) -> tuple[DocumentT, ...]:
    """Returns the first documents that fit, cut to the same length; none if there is no space for one."""
    if not documents or chars_max < TEXT_FLOOR_CHARS:
        return ()
    fits = fit(
        [len(document.content) for document in documents],
        [_overhead(document) for document in documents],
        chars_max,
        TEXT_FLOOR_CHARS,
    )
    return tuple(_cut(document, fits.text_chars_max) for document in documents[: fits.kept])


def block(document: Document, about: str = "") -> str:
    """Returns the text for readers: the place, the quoted lines, and the headings of the rest."""
    place = f"{document.file_path}:{document.start_line}-{document.end_line} of {document.line_count} lines"
    quoted = [f"> {line}".rstrip() for line in document.content.split("\n")]
    rest = [heading for heading in document.headings if _line(heading) > document.end_line]
    further = [f"  further headings: {'; '.join(rest)}"] if rest else []
    return "\n".join([f"{place}{f' ({about})' if about else ''}", *quoted, *further])


def rules_block(documents: Iterable[RulesDocument]) -> str:
    """Returns the text of rules; empty without any."""
    shown = [block(document, document.applies) for document in documents]
    return "\n".join(["rules (quoted from the repository):", *shown]) if shown else ""


def _cut(document: DocumentT, chars_max: int) -> DocumentT:
    content, _ = cut(document.content, chars_max)
    end_line = document.start_line + content.count("\n")
    return document.model_copy(update={"content": content, "end_line": end_line})


def _overhead(document: Document) -> int:
    return DOCUMENT_CHARS + sum(len(heading) + HEADING_CHARS for heading in document.headings)


def _line(heading: str) -> int:
    return int(heading.partition(" ")[0])
