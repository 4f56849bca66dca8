"""Lines of files as text: grouped by file and by the symbol around them, each line once."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from prism_contracts.rpc.common import TEST_BLOCK, TEST_HOOK, EnclosingSymbol
from prism_contracts.rpc.symbols import TextLine

TOP_LEVEL = "top level"
# Between a function and a symbol that is local to it.
LOCAL = " \u203a "
# The kinds of what stands in a group of tests: `describe("depot", …)`.
IN_GROUPS = frozenset({TEST_BLOCK, TEST_HOOK})


class PlaceLine(NamedTuple):
    """A line to show: its place, its text, and the neighboring lines."""

    file: str  # see `file_label`
    line: int
    text: str
    enclosing: EnclosingSymbol | None = None
    before: Sequence[str] = ()
    after: Sequence[str] = ()


def place_lines(places: Iterable[PlaceLine]) -> Iterator[str]:
    """Returns the lines by file, then by enclosing symbol with its range. `:` marks a match, `-` a neighbor.

    Tests that are calls with a title stand below the group around them.
    """
    for number, (file, found) in enumerate(groupby(places, key=lambda one: one.file)):
        if number:
            yield ""
        yield file
        for group, of_group in groupby(
            _each_line_once(list(found)), key=lambda one: test_group(one.enclosing)
        ):
            if group:
                yield f"  {group}:"
            for symbol, lines in groupby(of_group, key=lambda one: one.enclosing):
                yield from _symbol_lines(symbol, list(lines), "    " if group else "  ")


def file_label(path: str, repo: str = "") -> str:
    """Returns how a file is shown. `repo` is given where an answer covers several repositories."""
    return f"{repo} {path}" if repo else path


def with_form(line: TextLine) -> str:
    """Returns the text of a line, with what the name is there if that shows that it means something else."""
    return f"{line.text} ({line.form})" if line.form else line.text


def several(count: int, what: str) -> str:
    """Returns `1 match`, `2 matches`."""
    ending = "es" if what.endswith(("ch", "ss")) else "s"
    if what.endswith("y") and count != 1 and what[-2:-1] not in "aeiou":
        return f"{count:,} {what[:-1]}ies"
    return f"{count:,} {what}{'' if count == 1 else ending}"


def symbol_name(symbol: EnclosingSymbol) -> str:
    """Returns the name of a symbol with its range and marks, if they are known, or `top level`.

    A symbol that is local to a function follows it, after LOCAL. A test stands without its group.
    """
    if not symbol.name:
        return TOP_LEVEL
    if symbol.outer and symbol.kind not in IN_GROUPS:
        local = symbol.name.removeprefix(f"{symbol.outer.name}.")
        return f"{symbol_name(symbol.outer)}{LOCAL}{local} ({symbol.start_line}-{symbol.end_line})"
    marks = "".join(f", {mark}" for mark in symbol.marks)
    last = f"-{symbol.end_line}" if symbol.end_line > symbol.start_line else ""
    return f"{symbol.name} ({symbol.start_line}{last}{marks})" if symbol.end_line else symbol.name


def test_group(symbol: EnclosingSymbol | None) -> str:
    """Returns the innermost group around a test, with its range; empty if there is none, or it is no such test."""
    if symbol is None or symbol.outer is None or symbol.kind not in IN_GROUPS:
        return ""
    return symbol_name(symbol.outer)


def _each_line_once(places: Sequence[PlaceLine]) -> Iterator[PlaceLine]:
    """Returns the places of a file without neighbors that are places themselves or neighbors of an earlier one."""
    taken = {place.line for place in places}
    for place in places:
        before, first = list(place.before), place.line - len(place.before)
        while before and first in taken:
            before, first = before[1:], first + 1
        after = list(place.after)
        while after and any(line in taken for line in range(place.line + 1, place.line + len(after) + 1)):
            after.pop()
        taken.update(range(first, place.line + len(after) + 1))
        yield place._replace(before=before, after=after)


def _symbol_lines(symbol: EnclosingSymbol | None, places: Sequence[PlaceLine], indent: str) -> Iterator[str]:
    lines = list(_numbered(places))
    if symbol is None:
        yield from (f"{indent}{line}" for line in lines)
    elif len(lines) == 1:
        yield f"{indent}{symbol_name(symbol)} {lines[0]}"
    else:
        yield f"{indent}{symbol_name(symbol)}"
        yield from (f"{indent}  {line}" for line in lines)


def _numbered(places: Sequence[PlaceLine]) -> Iterator[str]:
    matching = {place.line for place in places}
    texts: dict[int, str] = {}
    for place in places:
        texts |= dict(enumerate(place.before, place.line - len(place.before)))
        texts |= dict(enumerate(place.after, place.line + 1))
    texts |= {place.line: place.text for place in places}
    for line in sorted(texts):
        yield f"{line}{':' if line in matching else '-'} {texts[line]}"
