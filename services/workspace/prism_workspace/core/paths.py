"""Where documents are in their repository."""

import re
import unicodedata
from datetime import datetime

GENERATED = "generated"
CAPTURED = "documents"
SLUG_CHARS_MAX = 60
NAMELESS = "document"
_OTHER = re.compile(r"[\W_]+")


def generated_path(title: str, at: datetime, number: int = 1) -> str:
    """Returns the path of a generated document: `generated/2026/03/2026-03-14-title.md`.

    `number` makes the path unique if a document of that day has the same title; the first has none.
    """
    suffix = "" if number == 1 else f"-{number}"
    return f"{GENERATED}/{at:%Y}/{at:%m}/{at:%Y-%m-%d}-{slug(title)}{suffix}.md"


def slug(title: str) -> str:
    """Returns a title as part of a file name: lower case, words joined by dashes, in any script."""
    words = _OTHER.sub("-", unicodedata.normalize("NFKC", title).lower()).strip("-")
    return words[:SLUG_CHARS_MAX].rstrip("-") or NAMELESS
