"""YAML front matter: the metadata at the beginning of a Markdown file, between two lines of `---`."""

import re
from collections.abc import Mapping

import yaml

FENCE = "---\n"
MATTER_BYTES_MAX = 16_384
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)\n?", re.DOTALL | re.MULTILINE)


def split(text: str) -> tuple[str, str]:
    """Returns the YAML of the front matter, and the Markdown below it. The first is empty if there is none."""
    found = _FRONT.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)


def write(fields: Mapping[str, object], content: str) -> str:
    """Returns a file with these fields as its front matter. Empty ones are left out; `split` undoes it."""
    kept = {name: value for name, value in fields.items() if value not in (None, "", (), [], {})}
    return f"{FENCE}{_yaml(kept)}{FENCE}\n{content}"


def read(matter: str) -> dict[str, object]:
    """Returns the fields of a front matter; none if it is no YAML mapping, or too long. Only plain values are read."""
    if len(matter.encode(errors="replace")) > MATTER_BYTES_MAX:
        return {}
    try:
        found = yaml.safe_load(matter)
    except (yaml.YAMLError, ValueError, RecursionError):  # a ValueError comes from an impossible date
        return {}
    return {str(name): value for name, value in found.items()} if isinstance(found, dict) else {}


def _yaml(fields: Mapping[str, object]) -> str:
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=1_000)
