"""`.gitattributes`: what the authors say about their files, over what the rules of classify.py guess. Pure.

Git itself answers this for a work tree (`git check-attr`). Here is the same for a plain folder and for a tree
of a commit: https://git-scm.com/docs/gitattributes. Only the attributes of linguist are kept; macros are not
expanded, except that none of the built-in ones concerns linguist.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import re2  # type: ignore[import-untyped]

from prism_contracts.code import FileFlags

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

# A pattern of git's has the `**` forms; everything else is RE2, so a hostile pattern costs linear time.
_TOKEN = re.compile(r"/\*\*/|^\*\*/|/\*\*$|\*+|\?|\[(?:!|\^)?\]?(?:\[:\w+:\]|[^\]])*\]|\\.|.", re.DOTALL)
_WILDCARDS = {"**/": "(?:.*/)?", "/**/": "/(?:.*/)?", "/**": "/.*", "?": "[^/]"}
_LINE = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\S+)\s+(.*)', re.DOTALL)


class Attributes(NamedTuple):
    """What is said about one file. None: nothing."""

    generated: bool | None = None
    vendored: bool | None = None
    documentation: bool | None = None
    language: str = ""

    def override(self, flags: FileFlags) -> FileFlags:
        """The flags, corrected."""
        said = {
            name: value
            for name in ("generated", "vendored", "documentation")
            if (value := getattr(self, name)) is not None
        }
        return flags.model_copy(update=said) if said else flags


NOTHING_SAID = Attributes()


def attributes_of(states: Mapping[str, str]) -> Attributes:
    """From states as `git check-attr` prints them: set, unset, unspecified or a value."""
    language = states.get(LINGUIST_LANGUAGE, UNSPECIFIED)
    return Attributes(
        generated=_flag(states.get(LINGUIST_GENERATED)),
        vendored=_flag(states.get(LINGUIST_VENDORED)),
        documentation=_flag(states.get(LINGUIST_DOCUMENTATION)),
        language="" if language in (SET, UNSET, UNSPECIFIED) else language.lower(),
    )


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    by_name: bool  # the pattern has no slash: it is compared with the last segment
    states: dict[str, str]


class AttributeRules:
    """The `.gitattributes` files of a tree, asked by path."""

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        """Take (path of the file, its text) in any order."""
        parsed = {path.rpartition("/")[0]: _parse(text) for path, text in files}
        self._rules = {folder: rules for folder, rules in parsed.items() if rules}

    def of(self, path: str) -> Attributes:
        """What is said about a file. The nearest `.gitattributes` wins, in it the last line."""
        if not self._rules:
            return NOTHING_SAID
        states: dict[str, str] = {}
        for folder in _folders_above(path):
            for rule in self._rules.get(folder, ()):
                inner = path[len(folder) + 1 :] if folder else path
                if rule.pattern.fullmatch(inner.rpartition("/")[2] if rule.by_name else inner):
                    states.update(rule.states)
        return attributes_of(states) if states else NOTHING_SAID


def _folders_above(path: str) -> list[str]:
    segments = path.split("/")[:-1]
    return ["/".join(segments[:depth]) for depth in range(len(segments) + 1)]


def _parse(text: str) -> list[_Rule]:
    return [rule for line in text.removeprefix("\ufeff").split("\n") if (rule := _parse_line(line))]


def _parse_line(line: str) -> _Rule | None:
    found = _LINE.fullmatch(line.rstrip("\r"))
    if found is None or found[1].startswith(("#", "!", "[attr]")):
        return None
    states = dict(_state(word) for word in found[2].split())
    states = {name: state for name, state in states.items() if name in LINGUIST}
    pattern = _unquote(found[1])
    if not states or pattern.endswith("/"):
        return None
    compiled = _compile(pattern)
    return None if compiled is None else _Rule(compiled, "/" not in pattern, states)


def _state(word: str) -> tuple[str, str]:
    if word.startswith("-"):
        return word[1:], UNSET
    if word.startswith("!"):
        return word[1:], UNSPECIFIED
    name, equals, value = word.partition("=")
    return name, value if equals else SET


def _unquote(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern[1:-1]) if pattern.startswith('"') else pattern


@lru_cache(maxsize=1_024)
def _compile(pattern: str) -> re.Pattern[str] | None:
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    tokens = _TOKEN.findall(pattern.removeprefix("/"))
    try:
        return re2.compile("".join(map(_translate, tokens)), options)  # type: ignore[no-any-return]
    except re2.error:
        return None


def _translate(token: str) -> str:
    if token in _WILDCARDS:
        return _WILDCARDS[token]
    if token.startswith("*"):
        return "[^/]*"
    if token.startswith("[") and len(token) > 1:
        return "[^" + token[2:] if token[1] == "!" else token
    return re.escape(token[-1])


def _flag(state: str | None) -> bool | None:
    if state in _TRUE:
        return True
    return False if state in _FALSE else None
