"""Documents as they are quoted: the place before the lines, and the headings of what is not shown."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from prism_contracts.rpc.guidance import Document, RulesDocument
from prism_gateway.budget import cut, fit

DocumentT = TypeVar("DocumentT", bound=Document)

# Of a document beside its text and its headings.
DOCUMENT_CHARS = 160
TEXT_FLOOR_CHARS = 200
HEADING_CHARS = 4


def size(document: Document) -> int:
    """What a document takes, in characters."""
    return len(document.content) + _overhead(document)


def fit_documents(documents: Sequence[DocumentT], chars_max: int) -> tuple[DocumentT, ...]:
    """The first documents that fit, their lines cut to the same length; none if there is no room for one."""
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
    """For readers: the place, the lines, each marked as quoted, and the headings of the rest."""
    place = f"{document.file_path}:{document.start_line}-{document.end_line} of {document.line_count} lines"
    quoted = [f"> {line}".rstrip() for line in document.content.split("\n")]
    rest = [heading for heading in document.headings if _line(heading) > document.end_line]
    further = [f"  further headings: {'; '.join(rest)}"] if rest else []
    return "\n".join([f"{place}{f' ({about})' if about else ''}", *quoted, *further])


def rules_block(documents: Iterable[RulesDocument]) -> str:
    """Rules for readers; empty without any."""
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
