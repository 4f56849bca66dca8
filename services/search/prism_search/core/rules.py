"""Finds the rules for agents and contributors that apply to a path, by their folder and their globs.

In: paths of a repository, and the text of a rules file. Out: rules files in order of precedence, and why one
applies. Never follows the rules themselves.
"""

import re
from collections.abc import Iterable, Iterator

from prism_contracts.errors import PrismError
from prism_store.globs import compile_glob

# Read by tools: agents.md, Claude Code, Gemini CLI, Cursor (docs.cursor.com/context/rules), Copilot
# (docs.github.com/copilot, custom instructions); and by contributors.
KINDS = (
    re.compile(r"(?P<folder>(?:.*?/)??)(?:AGENTS|CLAUDE|GEMINI)\.md", re.IGNORECASE),
    re.compile(r"(?P<folder>(?:.*?/)??)\.cursor/rules/.+\.mdc?", re.IGNORECASE),
    re.compile(r"(?P<folder>(?:.*?/)??)\.github/copilot-instructions\.md", re.IGNORECASE),
    re.compile(r"(?P<folder>(?:.*?/)??)(?:\.github/|docs?/(?:.*/)?)?CONTRIBUTING(?:\.(?:md|rst|adoc|txt))?", re.IGNORECASE),
)  # fmt: skip
CURSOR, CONTRIBUTING = 1, 3
FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<fields>.*?)\n---[ \t]*(?:\n|$)", re.DOTALL)
FRONT_MATTER_CHARS_MAX = 4_000
COMMA = re.compile(r",(?![^{]*\})")  # not within braces


def rules_for(path: str, paths: Iterable[str]) -> list[str]:
    """Returns the rules files of folders around a path, nearest folder first; all for an empty path."""
    found = []
    for rules in paths:
        kind = kind_of(rules)
        if kind is not None and (not path or path.startswith(folder_of(rules))):
            found.append((-folder_of(rules).count("/") if path else folder_of(rules).count("/"), kind, rules))
    return [rules for _, _, rules in sorted(found)]


def is_contributing(rules: str) -> bool:
    """Whether a rules file is for people: long, and mostly not about code."""
    return kind_of(rules) == CONTRIBUTING


def folder_of(rules: str) -> str:
    """Returns the folder that a rules file applies to, with a trailing slash; empty for the repository."""
    kind = kind_of(rules)
    found = KINDS[kind].fullmatch(rules) if kind is not None else None
    return found["folder"] if found else ""


def applies(rules: str, text: str, path: str) -> str:
    """Returns in a few words why a rules file applies to a path; empty if its globs exclude the path.

    Expects a rules file of a folder around the path.
    """
    folder = folder_of(rules)
    if kind_of(rules) != CURSOR:
        return f"folder {folder}" if folder else "repository"
    fields = _front_matter(text)
    if fields.get("alwaysApply", "").lower() == "true":
        return "always"
    globs = list(_listed(fields.get("globs", "")))
    if not path:
        return f"globs {', '.join(globs)}" if globs else "on request"
    for glob in globs:
        try:
            if compile_glob(glob).fullmatch(path.removeprefix(folder)):
                return f"glob {glob}"
        except PrismError:
            return f"perhaps: its glob {glob} is not valid"
    return ""


def kind_of(path: str) -> int | None:
    """Returns the position in KINDS; None for any other file."""
    return next((kind for kind, pattern in enumerate(KINDS) if pattern.fullmatch(path)), None)


def _front_matter(text: str) -> dict[str, str]:
    """Returns the front matter, read line by line: people write `globs: *.ts`, which is not valid YAML."""
    found = FRONT_MATTER.match(text[:FRONT_MATTER_CHARS_MAX])
    fields: dict[str, str] = {}
    name = ""
    for line in found["fields"].split("\n") if found else ():
        item = line.strip()
        if item.startswith("- ") and name:
            fields[name] = f"{fields[name]},{item[2:]}"
        elif ":" in line:
            name, _, value = (part.strip() for part in line.partition(":"))
            fields[name] = value
    return fields


def _listed(value: str) -> Iterator[str]:
    """Splits `a,b`, `["a", "b"]`, or the lines of a list joined by commas."""
    if value.startswith("[") and value.endswith("]"):
        value = value[1:-1]
    parts = (part.strip().strip("\"'") for part in COMMA.split(value))
    return filter(None, parts)
