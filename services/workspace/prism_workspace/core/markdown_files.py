"""Reads a Markdown file from outside as a document: its front matter becomes metadata, the rest its content."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import PurePosixPath
from typing import Any

from pydantic import TypeAdapter, ValidationError

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import (
    DOCUMENT_CHARS_MAX,
    DOCUMENT_FIELDS_MAX,
    DOCUMENT_SOURCES_MAX,
    DOCUMENT_TAGS_MAX,
    DOCUMENT_TITLE_CHARS_MAX,
    SHORT_TEXT_CHARS_MAX,
    WORD_CHARS_MAX,
    DocumentFields,
)
from prism_source.paths import validate_path
from prism_workspace.core import front_matter
from prism_workspace.core.commits import README_PATH
from prism_workspace.core.paths import CAPTURED, GENERATED

MARKDOWN = frozenset({".md", ".markdown"})
RESERVED = ".git"
# The times of creation that static site generators and exporters write, the most explicit first.
CREATED_NAMES = ("created", "created_at", "date")
_KNOWN = frozenset({"title", "document_id", "created", "category", "tags", "url", "description", "sources"})
_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
_FIELD = TypeAdapter[DocumentFields](DocumentFields)


@dataclass(frozen=True)
class MarkdownFile:
    """A file as a document."""

    fields: dict[str, Any]  # of its record
    content: str
    created_at: datetime | None
    left_out: tuple[str, ...]  # fields of the front matter that a document cannot have


def checked_path(path: str) -> str:
    """Returns the path if an imported document may have it. Raises INVALID_PATH."""
    parts = PurePosixPath(validate_path(path)).parts
    if parts[0] not in {GENERATED, CAPTURED} or len(parts) == 1:
        problem = f"documents are in {CAPTURED}/ and {GENERATED}/"
    elif PurePosixPath(path).suffix.lower() not in MARKDOWN:
        problem = "documents are Markdown: .md or .markdown"
    elif any(part.lower() == RESERVED for part in parts):
        problem = ".git is reserved for git"
    elif path == README_PATH:
        problem = "Prism writes this file"
    else:
        return path
    raise PrismError(ErrorCode.INVALID_PATH, f"{path}: {problem}.", "Leave the file out, or rename it.")


def read(path: str, text: str) -> MarkdownFile:
    """Returns a file as a document. Raises INVALID_ARGUMENT, PAYLOAD_TOO_LARGE."""
    size_bytes = len(text.encode(errors="replace"))
    if size_bytes > DOCUMENT_CHARS_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The file has {size_bytes} bytes; the limit is {DOCUMENT_CHARS_MAX}.",
            "Divide it into several files.",
        )
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT, "The file has a NUL or a lone surrogate.", "Send text in UTF-8."
        )
    matter, content = front_matter.split(normalized(text))
    given = front_matter.read(matter)
    custom, left_out = _custom(given)
    fields = {
        "title": _title(given, content, path),
        "tags": _lines(given.get("tags"), WORD_CHARS_MAX, DOCUMENT_TAGS_MAX),
        "category": _line(given.get("category"), WORD_CHARS_MAX),
        "url": _line(given.get("url"), SHORT_TEXT_CHARS_MAX),
        "description": _line(given.get("description"), SHORT_TEXT_CHARS_MAX),
        "sources": _lines(given.get("sources"), SHORT_TEXT_CHARS_MAX, DOCUMENT_SOURCES_MAX),
        "custom": custom,
    }
    return MarkdownFile(fields, content, _created(given), left_out)


def normalized(text: str) -> str:
    """Returns a text with line feeds as its only line ends, without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _title(given: dict[str, object], content: str, path: str) -> str:
    heading = _HEADING.search(content)
    candidates = (given.get("title"), heading and heading[1], PurePosixPath(path).stem)
    return next((found for one in candidates if (found := _line(one, DOCUMENT_TITLE_CHARS_MAX))), "Untitled")


def _created(given: dict[str, object]) -> datetime | None:
    for name in CREATED_NAMES:
        value = given.get(name)
        try:
            found = datetime.fromisoformat(value) if isinstance(value, str) else value
        except ValueError:
            continue
        if isinstance(found, datetime):
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(found, date):
            return datetime(found.year, found.month, found.day, tzinfo=UTC)
    return None


def _custom(given: dict[str, object]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Returns the other fields that a document can have, and the names of those that it cannot."""
    kept: dict[str, Any] = {}
    left_out: list[str] = []
    for name, value in given.items():
        if name in _KNOWN or value is None:
            continue
        try:
            plain = _FIELD.validate_python({name: _plain(value)})
        except ValidationError:
            plain = {}
        if not plain or len(kept) == DOCUMENT_FIELDS_MAX:
            left_out.append(_line(name, WORD_CHARS_MAX))
        kept |= plain if len(kept) < DOCUMENT_FIELDS_MAX else {}
    return kept, tuple(left_out)


def _plain(value: object) -> object:
    """Returns a value of YAML as a document keeps it: nested ones as JSON, times as ISO text."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return value if isinstance(value, str | bool | int | float) else json.dumps(value, default=str)


def _lines(value: object, chars_max: int, count_max: int) -> tuple[str, ...]:
    """Returns a list of YAML, or a text with commas, as lines. Each is in it once."""
    parts: Iterable[object] = (
        value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    )
    found = dict.fromkeys(line for one in parts if (line := _line(one, chars_max)))
    return tuple(found)[:count_max]


def _line(value: object, chars_max: int) -> str:
    return "" if value is None else _CONTROL.sub(" ", str(value)).strip()[:chars_max].strip()
