"""Files of a git repository as documents: which are some, and what their records say."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from pathlib import PurePosixPath
from typing import Any

from pydantic import TypeAdapter, ValidationError

from prism_contracts.records import DocumentRecord, document_id
from prism_contracts.types import (
    DOCUMENT_CHARS_MAX,
    DOCUMENT_FIELDS_MAX,
    DOCUMENT_SOURCES_MAX,
    DOCUMENT_TAGS_MAX,
    DOCUMENT_TITLE_CHARS_MAX,
    DocumentFields,
    DocumentTag,
    ShortLine,
    ShortText,
    Word,
)
from prism_source.paths import path_problem
from prism_workspace.core import front_matter
from prism_workspace.core.commits import README_PATH
from prism_workspace.core.documents import described
from prism_workspace.core.paths import GENERATED

CAPTURED = "documents"
SUFFIXES = frozenset({".md", ".markdown", ".txt"})
# Fields of the front matter that records have, or that follow from the path.
KNOWN = frozenset(
    {"title", "document_id", "created", "category", "tags", "url", "description", "sources", "modified"}
)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_TAG: TypeAdapter[str] = TypeAdapter(DocumentTag)
_WORD: TypeAdapter[str] = TypeAdapter(Word)
_TEXT: TypeAdapter[str] = TypeAdapter(ShortText)
_LINE: TypeAdapter[str] = TypeAdapter(ShortLine)
_FIELDS: TypeAdapter[dict[str, Any]] = TypeAdapter(DocumentFields)


def is_document(path: str) -> bool:
    """Whether a file at this path is a document: a text in one of the folders of documents."""
    folder, slash, _ = path.partition("/")
    return (
        bool(slash)
        and folder in {CAPTURED, GENERATED}
        and path != README_PATH
        and PurePosixPath(path).suffix.lower() in SUFFIXES
        and not path_problem(path)
    )


def text_of_file(body: bytes) -> str | None:
    """Returns the text of a file; None if it is too large for a document, or no text."""
    if len(body) > DOCUMENT_CHARS_MAX or b"\0" in body:
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def read_document(tenant: str, path: str, text: str, at: datetime) -> DocumentRecord:
    """Returns the record of a file, without hashes. What its front matter lacks follows from text and path.

    Values that no document may have are left out. `at` is the time of the commit.
    """
    matter, content = front_matter.split(text)
    fields = front_matter.read(matter)
    record = DocumentRecord(
        tenant=tenant,
        document=document_id(tenant, path),
        path=path,
        blob="",
        title=_title(fields.get("title"), content, path),
        tags=tuple(_valid(_TAG, _listed(fields.get("tags"))))[:DOCUMENT_TAGS_MAX],
        category=_one(_WORD, fields.get("category")),
        url=_one(_LINE, fields.get("url")),
        description=_one(_TEXT, fields.get("description")),
        sources=tuple(_valid(_LINE, _listed(fields.get("sources"))))[:DOCUMENT_SOURCES_MAX],
        custom=_custom(fields),
        created_at=_time(fields.get("created")) or at,
        modified_at=at,
        is_generated=path.startswith(f"{GENERATED}/"),
    )
    return described(record, content)


def _title(given: object, content: str, path: str) -> str:
    heading = _HEADING.search(content)
    found = str(given or "") or (heading[1] if heading else "") or PurePosixPath(path).stem
    return _CONTROL.sub(" ", found).strip()[:DOCUMENT_TITLE_CHARS_MAX] or "Untitled"


def _custom(fields: Mapping[str, object]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in fields.items():
        plain = value.isoformat() if isinstance(value, date) else value
        if name not in KNOWN and len(found) < DOCUMENT_FIELDS_MAX:
            try:
                found |= _FIELDS.validate_python({name: tuple(plain) if isinstance(plain, list) else plain})
            except ValidationError:
                continue
    return found


def _listed(value: object) -> list[object]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return value if isinstance(value, list) else []


def _valid(kind: TypeAdapter[str], values: list[object]) -> Iterator[str]:
    for value in values:
        try:
            yield kind.validate_python(str(value) if isinstance(value, int | float) else value)
        except ValidationError:
            continue


def _one(kind: TypeAdapter[str], value: object) -> str:
    return next(_valid(kind, [value]), "")


def _time(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return datetime.combine(value, time(), UTC) if isinstance(value, date) else None
