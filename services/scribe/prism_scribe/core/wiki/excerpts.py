"""Code of a repository as blocks of numbered lines, without documentation that other parts of a page quote."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_contracts.code import Symbol
from prism_resolver.prose import comment_lines, paragraphs
from prism_scribe.core.wiki import declarations, markdown
from prism_scribe.core.wiki.orientation import Evidence

TAB_COLUMNS = 4
DOCSTRING_WITHIN = 12  # lines of a function: its signature may have many

DOCUMENTATION_CHARS_MAX = 1_200

_COMMENT = re.compile(r"^\s*(?://|#(?!\[|!\[)|/\*|\*|--|;;)")
_MARKS = re.compile(r"^\s*(?:///?!?|/?\*{1,2}/?|#)?\s?")
_PARAMETER = re.compile(
    r"^(?::param(?:eter)?\s+(?:[\w.\[\], |]+\s+)?(?P<name>\*{0,2}\w+)\s*:\s*(?P<said>.*)$)"
)
_TAGGED = re.compile(
    r"^@param\s+(?:\{[^}]*\}\s+|[\w\\|?<>\[\]]+\s+(?=\$))?(?P<name>[$\w.\[\]]+)\s*-?\s*(?P<said>.*)$"
)
_LIST_HEAD = re.compile(r"^(?:Args|Arguments|Parameters|Params|Attributes)\s*:?$")
_LISTED = re.compile(r"^(?P<name>\*{0,2}\w+)\s*(?:\([^()]*\))?\s*:\s+(?P<said>\S.*)$")
_EXAMPLE = re.compile(r"^[\s/*#]*(?:>>>|```|~~~)")
_TRIPLE = re.compile(r"^\s*[rRbBuU]{0,2}(\"{3}|'{3})")


class QuotedCode(NamedTuple):
    """A definition whose code is quoted."""

    path: str
    name: str
    text: Sequence[str]  # all lines of the file
    lines: Sequence[int]  # numbers of the lines to quote, without empty ones and docstrings
    language: str
    said: str = ""  # the first sentence of its documentation


def quoted(evidence: Evidence, path: str, symbol: Symbol) -> QuotedCode:
    """Returns the code of a symbol of an outlined file."""
    text = evidence.texts.get(path, ())
    lines = code_of(text, symbol.name_line, symbol.end_line)
    language = evidence.outlines[path].language
    return QuotedCode(path, symbol.qualified_name, text, lines, language, declarations.said_of(symbol))


def excerpt(one: QuotedCode, shown: Sequence[int] = ()) -> list[str]:
    """Returns lines of a definition as a block, all by default, below its name, place and first sentence.

    An ellipsis marks the lines that are left out.
    """
    shown = shown or one.lines
    code = {number: one.text[number - 1].expandtabs(TAB_COLUMNS) for number in shown}
    indent = min(len(line) - len(line.lstrip()) for line in code.values())
    width = len(str(shown[-1]))
    rows: list[str] = []
    before = shown[0] - 1
    for number in shown:
        if any(one.text[left_out - 1].strip() for left_out in range(before + 1, number)):
            rows.append(f"{'':>{width}}  {markdown.ELLIPSIS}")
        rows.append(f"{number:>{width}}  {code[number][indent:]}")
        before = number
    about = f". {markdown.text(one.said)}" if one.said else ":"
    return [
        f"{markdown.code(one.name)}, {markdown.place(one.path, one.lines[0], one.lines[-1])}{about}",
        "",
        *markdown.block(rows, one.language, lines_max=len(rows)),
        "",
    ]


def code_of(text: Sequence[str], first: int, last: int) -> list[int]:
    """Returns the numbers of the lines of a definition that are neither empty nor its docstring."""
    lines = [number for number in range(first, min(last, len(text)) + 1) if text[number - 1].strip()]
    prose = docstring(text, lines)
    return [number for number in lines if number not in prose]


def docstring(text: Sequence[str], lines: Sequence[int]) -> frozenset[int]:
    """Returns the lines of a docstring in triple quotes that spans several lines."""
    for position, number in enumerate(lines[1:DOCSTRING_WITHIN], start=1):
        opened = _TRIPLE.match(text[number - 1])
        if opened is None:
            continue
        if opened[1] in text[number - 1][opened.end() :]:
            return frozenset()
        for last in lines[position + 1 :]:
            if opened[1] in text[last - 1]:
                return frozenset(range(number, last + 1))
    return frozenset()


def documentation(text: Sequence[str], symbol: Symbol) -> Iterator[str]:
    """Yields the paragraphs of the documentation of a definition: the comment above it, or the docstring inside."""
    room = DOCUMENTATION_CHARS_MAX
    prose = itertools.takewhile(lambda line: not _EXAMPLE.search(line), _documented(text, symbol))
    for paragraph in paragraphs("\n".join(comment_lines("\n".join(prose)))):
        shown = " ".join(paragraph.split())
        if len(shown) > room:
            return
        room -= len(shown)
        yield shown


def parameters(text: Sequence[str], symbol: Symbol) -> Iterator[tuple[str, str]]:
    """Yields the name and description of each parameter that the documentation of a definition lists.

    Reads `:param name: …` of reStructuredText, `@param name …` of Javadoc, JSDoc and PHPDoc, and the indented lists
    below `Args:` of Google's style.
    """
    name, words, margin = "", list[str](), 0
    in_list = False
    for line in [*_documented(text, symbol), ""]:
        indent = len(line) - len(line.lstrip())
        row = _MARKS.sub("", line).strip()
        in_list = _LIST_HEAD.match(row) is not None or (in_list and (not row or indent > margin))
        if _LIST_HEAD.match(row):
            margin = indent
        found = _PARAMETER.match(row) or _TAGGED.match(row) or (_LISTED.match(row) if in_list else None)
        if name and (found or not row or row.startswith((":", "@"))):
            yield name, " ".join(words)
            name = ""
        if found:
            name, words = found["name"].lstrip("*$"), [found["said"]] if found["said"] else []
        elif name:
            words.append(row)


def _documented(text: Sequence[str], symbol: Symbol) -> list[str]:
    """Returns the lines of the comment above a definition, or else of the docstring inside."""
    above = [line for line in text[symbol.start_line - 1 : symbol.name_line - 1] if _COMMENT.match(line)]
    if above:
        return above
    numbers = range(symbol.name_line, min(symbol.end_line, len(text)) + 1)
    inside = docstring(text, [number for number in numbers if text[number - 1].strip()])
    return [*text[min(inside) - 1 : max(inside)]] if inside else []
