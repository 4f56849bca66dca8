"""The reader of HTML, Vue, Svelte and Astro: script blocks are parsed in their own language, at their offset.

The rest of the file is cut at blank or least indented rows. References, bindings and symbols come from
scripts only.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import msgspec

from prism_chunker.core import syntax
from prism_chunker.core.languages.table import LANGUAGES, Language
from prism_chunker.core.lines import TextRows
from prism_chunker.core.model import Budget, Cut, ParsedFile
from prism_contracts.code import Binding, Reference

Placed = TypeVar("Placed", Reference, Binding)

SCRIPTS_MAX = 20

_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_FRONT_MATTER = re.compile(r"\A()---\n(.*?)\n---$", re.DOTALL | re.MULTILINE)
_NOT_CODE = re.compile(r"\btype\s*=\s*[\"']?(?:application/(?:ld\+)?json|text/(?!javascript)|importmap)")
_TYPESCRIPT = re.compile(r"\blang\s*=\s*[\"']?tsx?\b")


def read(language: Language, lines: TextRows, budget: Budget) -> ParsedFile:
    """The outlines of a document's scripts, combined."""
    whole = ParsedFile("ok")
    pattern = _FRONT_MATTER if language.id == "astro" else _SCRIPT
    for found in list(pattern.finditer(lines.text))[:SCRIPTS_MAX]:
        if not _NOT_CODE.search(found.group(1)):
            inner = _script_language(language, found.group(1))
            part = syntax.read(inner, TextRows(found.group(2)), budget)
            whole = _joined(whole, part, bisect_right(lines.offsets, found.start(2)) - 1)
    return whole


def _script_language(language: Language, attributes: str) -> Language:
    is_typescript = language.id == "astro" or _TYPESCRIPT.search(attributes)
    return LANGUAGES["typescript" if is_typescript else "javascript"]


def _joined(whole: ParsedFile, part: ParsedFile, row: int) -> ParsedFile:
    """Merge the outline of a script that begins in `row` into the document's."""
    count = len(whole.symbols)
    symbols = [
        symbol.model_copy(
            update={
                "start_line": symbol.start_line + row,
                "end_line": symbol.end_line + row,
                "name_line": symbol.name_line + row,
                "parent": symbol.parent + count if symbol.parent >= 0 else -1,
            }
        )
        for symbol in part.symbols
    ]
    return replace(
        whole,
        parse="partial" if part.parse == "partial" else whole.parse,
        cuts=[*whole.cuts, Cut(row, 0), *(Cut(cut.row + row, cut.depth) for cut in part.cuts if cut.row > 0)],
        symbols=(*whole.symbols, *symbols),
        references=(*whole.references, *_moved(part.references, row, count)),
        bindings=(*whole.bindings, *_moved(part.bindings, row, count)),
    )


def _moved(items: Iterable[Placed], row: int, symbols: int) -> list[Placed]:
    """Returns the facts of a script with their lines in the document and their symbol among all of them."""
    return [
        msgspec.structs.replace(
            item, line=item.line + row, symbol=item.symbol + symbols if item.symbol >= 0 else -1
        )
        for item in items
    ]
