"""Lines of code as HTML: comments, strings, numbers, keywords and names, with marks on the words of a question.

Code of repositories is hostile text, and the gateway serves all tenants in one process. So each text is read once,
from its beginning to its end, by one expression that never goes back; a lexer with nested expressions could
hold up everyone. Nothing of a text reaches the page unescaped.
"""

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import Final, NamedTuple

from markupsafe import Markup, escape

LINE_CHARS_MAX: Final = 2_000
CUT: Final = '<i class="cut">… the rest of the line is not shown</i>'
WORDS_MAX: Final = 12
WORD_CHARS_MIN: Final = 2
WORD_CHARS_MAX: Final = 80


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


HASH = _names(
    "python ruby shell bash zsh fish yaml toml perl r elixir julia make makefile dockerfile cmake nix terraform hcl "
    "powershell ini properties awk tcl gdscript starlark crystal nim graphql"
)
DASHES = _names("sql lua haskell elm ada vhdl")
SEMICOLON = _names("clojure commonlisp lisp scheme racket elisp asm llvm")
MARKUP = _names("html xml vue svelte markdown")
PROSE = _names("markdown text rst restructuredtext asciidoc")
KEYWORDS = _names(
    """abstract alias and as assert async await base begin bool boolean break byte case catch chan char class const
    constexpr continue data def default defer defmodule del delete do double dyn elif else elseif end ensure enum
    except export extends extern false final finally float fn for foreach from func function global go goto if
    impl implements import in include inline instanceof int interface internal is join lambda let local long loop
    macro match mod module move mut namespace new nil none nonlocal not null object of operator or override package
    pass priv private protected protocol pub public raise range readonly record ref register rescue return sealed
    self select short signed sizeof static struct super suspend switch synchronized template then this throw
    throws trait true try type typealias typedef typename typeof undefined union unless unsafe unsigned until use
    using val var virtual void volatile when where while with yield None True False Self"""
)

_DOUBLE = r'"(?:[^"\\\n]|\\.)*+"?|`[^`]*+`?'
# An apostrophe may begin a character, a lifetime or nothing. Without the limit, text that never closes one would be
# read again from each of them.
_STRINGS = rf"{_DOUBLE}|'(?:[^'\\\n]|\\.){{0,120}}+'"
_HASH_STRINGS = rf"{_DOUBLE}|'(?:[^'\\\n]|\\.)*+'?"
_DOCSTRINGS = r'"""(?:[^"]|"(?!""))*+(?:""")?|\'\'\'(?:[^\']|\'(?!\'\'))*+(?:\'\'\')?'
_WORDS = r"(?P<number>\b\d[\w.]*+)|(?P<call>[^\W\d][\w]*+(?=\())|(?P<word>[^\W\d][\w]*+)"
_C_COMMENT = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"


class CodeLine(NamedTuple):
    """A line: its number, and its HTML."""

    number: int
    html: Markup


def lines_of(
    text: str, first: int, language: str, words: Collection[str] = (), *, is_linked: bool = False
) -> list[CodeLine]:
    """Returns the lines of a text, whose first has the number `first`.

    `words` are marked. With `is_linked`, each name is a link to `?symbol=`.
    """
    marks = _pattern_of(words)
    rows = text.split("\n")
    lines: list[list[str]] = [[]]
    for kind, piece in _pieces("\n".join(row[:LINE_CHARS_MAX] for row in rows), language):
        for i, part in enumerate(piece.split("\n")):
            if i:
                lines.append([])
            if part:
                lines[-1].append(_html(kind, part, marks, is_linked=is_linked))
    for row, line in zip(rows, lines, strict=True):
        if len(row) > LINE_CHARS_MAX:
            line.append(CUT)
    return [
        CodeLine(first + i, Markup("".join(pieces)))  # noqa: S704 - escaped piece by piece
        for i, pieces in enumerate(lines)
    ]


def first_lines(
    text: str, first: int, language: str, count: int, words: Collection[str] = ()
) -> tuple[list[CodeLine], int]:
    """Returns the first `count` lines of a text as HTML, and how many more it has."""
    rows = text.rstrip("\n").split("\n")
    return lines_of("\n".join(rows[:count]), first, language, words), max(0, len(rows) - count)


def words_of(question: str) -> list[str]:
    """Returns the words of a question that are worth a mark."""
    found = re.findall(r"\w+", question)[: 10 * WORDS_MAX]
    fitting = [word for word in found if WORD_CHARS_MIN < len(word) <= WORD_CHARS_MAX]
    return list(dict.fromkeys(fitting))[:WORDS_MAX]


def _pieces(text: str, language: str) -> Iterator[tuple[str, str]]:
    if language in PROSE:
        yield "", text
        return
    end = 0
    for found in _expression(_family(language)).finditer(text):
        if found.start() > end:
            yield "", text[end : found.start()]
        kind, piece, end = found.lastgroup or "", found.group(), found.end()
        if kind in ("word", "call") and piece in KEYWORDS:
            kind = "keyword"
        elif kind == "word" and piece[0].isupper():
            kind = "type"
        yield kind, piece
    yield "", text[end:]


def _family(language: str) -> str:
    families = (("hash", HASH), ("dashes", DASHES), ("semicolon", SEMICOLON), ("markup", MARKUP))
    return next((name for name, languages in families if language in languages), "c")


@cache
def _expression(family: str) -> re.Pattern[str]:
    comment = {
        "hash": r"\#[^\n]*+",
        "dashes": r"--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?",
        "semicolon": r";[^\n]*+",
        "markup": r"<!--(?:[^-]|-(?!->))*+(?:-->)?",
        "c": _C_COMMENT,
    }[family]
    strings = f"{_DOCSTRINGS}|{_HASH_STRINGS}" if family == "hash" else _STRINGS
    return re.compile(rf"(?P<comment>{comment})|(?P<string>{strings})|{_WORDS}")


CLASSES: Final = {
    "comment": "c",
    "string": "s",
    "number": "m",
    "keyword": "k",
    "call": "f",
    "type": "t",
    "word": "",
}


def _html(kind: str, part: str, marks: re.Pattern[str] | None, *, is_linked: bool) -> str:
    shown = _marked(part, marks)
    css = CLASSES.get(kind, "")
    if is_linked and kind in ("word", "call", "type"):
        attribute = f' class="{css}"' if css else ""
        return f'<a{attribute} href="?symbol={part}">{shown}</a>' if part.isascii() else shown
    return f'<i class="{css}">{shown}</i>' if css else shown


def _marked(part: str, marks: re.Pattern[str] | None) -> str:
    if marks is None:
        return str(escape(part))
    pieces, end = [], 0
    for found in marks.finditer(part):
        pieces += [str(escape(part[end : found.start()])), f"<mark>{escape(found.group())}</mark>"]
        end = found.end()
    return "".join(pieces) + str(escape(part[end:]))


def _pattern_of(words: Collection[str]) -> re.Pattern[str] | None:
    wanted = sorted((word for word in words if word), key=len, reverse=True)[:WORDS_MAX]
    return re.compile("|".join(map(re.escape, wanted)), re.IGNORECASE) if wanted else None
