"""Reads `.gitattributes`, which override the guesses of classify.py. Pure.

For a work tree, git itself answers this (`git check-attr`). This module does the same for a plain folder and
for the tree of a commit: https://git-scm.com/docs/gitattributes. It keeps only the attributes of linguist,
and expands no macros (no built-in macro sets a linguist attribute).
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from prism_contracts.code import FileFlags
from prism_contracts.types import LANGUAGE_CHARS_MAX
from prism_source.limits import ATTRIBUTES_LINES_MAX
from prism_source.patterns import GitPatterns

LINGUIST_GENERATED = "linguist-generated"
LINGUIST_VENDORED = "linguist-vendored"
LINGUIST_DOCUMENTATION = "linguist-documentation"
LINGUIST_LANGUAGE = "linguist-language"
LINGUIST = (LINGUIST_GENERATED, LINGUIST_VENDORED, LINGUIST_DOCUMENTATION, LINGUIST_LANGUAGE)

SET = "set"
UNSET = "unset"
UNSPECIFIED = "unspecified"
_TRUE = frozenset({SET, "true"})
_FALSE = frozenset({UNSET, "false"})

_LINE = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\S+)\s+(.*)', re.DOTALL)


class Attributes(NamedTuple):
    """The linguist attributes of one file. None: not set."""

    generated: bool | None = None
    vendored: bool | None = None
    documentation: bool | None = None
    language: str = ""

    def override(self, flags: FileFlags) -> FileFlags:
        """Returns the flags, overridden by the attributes that are set."""
        overrides = {
            name: value
            for name in ("generated", "vendored", "documentation")
            if (value := getattr(self, name)) is not None
        }
        return flags.model_copy(update=overrides) if overrides else flags


NO_ATTRIBUTES = Attributes()


def attributes_of(states: Mapping[str, str]) -> Attributes:
    """Parses states as `git check-attr` prints them: set, unset, unspecified or a value."""
    language = states.get(LINGUIST_LANGUAGE, UNSPECIFIED).lower()
    is_name = language not in (SET, UNSET, UNSPECIFIED) and len(language) <= LANGUAGE_CHARS_MAX
    return Attributes(
        generated=_flag(states.get(LINGUIST_GENERATED)),
        vendored=_flag(states.get(LINGUIST_VENDORED)),
        documentation=_flag(states.get(LINGUIST_DOCUMENTATION)),
        language=language if is_name else "",
    )


class AttributeRules:
    """The `.gitattributes` files of a tree, looked up by path."""

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        """Parses the files, given as (path, text) in any order."""
        parsed = {path.rpartition("/")[0]: _RuleFile(text) for path, text in files}
        self._files = {folder: rules for folder, rules in parsed.items() if rules.states}

    def of(self, path: str) -> Attributes:
        """Returns the attributes of a file.

        The nearest `.gitattributes` wins, and within it the last line.
        """
        if not self._files:
            return NO_ATTRIBUTES
        states: dict[str, str] = {}
        for folder in _folders_above(path):
            rules = self._files.get(folder)
            if rules is not None:
                states |= rules.of(path[len(folder) + 1 :] if folder else path)
        return attributes_of(states) if states else NO_ATTRIBUTES


class _RuleFile:
    def __init__(self, text: str) -> None:
        lines = [parsed for line in text.removeprefix("\ufeff").split("\n") if (parsed := _parse(line))]
        del lines[ATTRIBUTES_LINES_MAX:]
        self.states = [states for _, states in lines]
        self._patterns = GitPatterns(pattern for pattern, _ in lines)

    def of(self, path: str) -> dict[str, str]:
        states: dict[str, str] = {}
        for position in self._patterns.matching(path):
            states |= self.states[position]
        return states


def _folders_above(path: str) -> list[str]:
    segments = path.split("/")[:-1]
    return ["/".join(segments[:depth]) for depth in range(len(segments) + 1)]


def _parse(line: str) -> tuple[str, dict[str, str]] | None:
    """Returns the pattern of a line and the states of its linguist attributes; None if it sets none."""
    found = _LINE.fullmatch(line.rstrip("\r"))
    if found is None or found[1].startswith(("#", "!", "[attr]")):
        return None
    states = {name: state for name, state in map(_state, found[2].split()) if name in LINGUIST}
    pattern = _unquote(found[1])
    # Attributes apply to files, and a trailing slash means a folder.
    return (pattern, states) if states and not pattern.endswith("/") else None


def _state(word: str) -> tuple[str, str]:
    if word.startswith("-"):
        return word[1:], UNSET
    if word.startswith("!"):
        return word[1:], UNSPECIFIED
    name, equals, value = word.partition("=")
    return name, value if equals else SET


def _unquote(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern[1:-1]) if pattern.startswith('"') else pattern


def _flag(state: str | None) -> bool | None:
    if state in _TRUE:
        return True
    return False if state in _FALSE else None
