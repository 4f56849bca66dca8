"""Finds the tests that are calls with a title, as in `it("weighs", () => { … })`. They are no symbols of an outline."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.rpc.common import EnclosingSymbol
from prism_resolver.languages import ECMASCRIPT

LANGUAGES = ECMASCRIPT | {"ruby"}
KIND = "test"
TITLE_CHARS_MAX = 60
_BEGIN = re.compile(
    r"^(?P<indent>[ \t]*)(?P<call>describe|context|suite|feature|scenario|it|test|specify)\b[\w.]*"
    r"(?:\([^'\"`()]*\))?[ (]*(?P<quote>['\"`])(?P<title>.*?)(?<!\\)(?P=quote)"
)
_END = re.compile(r"^[ \t]*(?:[})\]]|end\b)")


class TestBlock(NamedTuple):
    """A test or a group of tests, with its first and last line."""

    start: int
    end: int
    name: str

    def symbol(self) -> EnclosingSymbol:
        """Returns the block as the symbol around its lines."""
        return EnclosingSymbol(name=self.name, kind=KIND, start_line=self.start, end_line=self.end)


def blocks_of(lines: Sequence[str]) -> list[TestBlock]:
    """Returns the blocks of a file, in the order of their first lines; their ends by indentation."""
    found: list[TestBlock] = []
    opened: list[tuple[int, int, str]] = []  # indentation, first line, name
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        indent, is_end = len(line) - len(line.lstrip()), _END.match(line) is not None
        while opened and indent <= opened[-1][0]:
            outer, start, name = opened.pop()
            # The closing bracket has the indentation of the call; another line is the next statement.
            found.append(TestBlock(start, number if is_end and indent == outer else number - 1, name))
        if begin := _BEGIN.match(line):
            name = f"{begin['call']} {_cut(begin['title'])!r}"
            if _is_closed(line):
                found.append(TestBlock(number, number, name))
            else:
                opened.append((indent, number, name))
    found += [TestBlock(start, len(lines), name) for _, start, name in opened]
    return sorted(found)


def innermost_block(blocks: Sequence[TestBlock], line: int) -> TestBlock | None:
    """Returns the smallest block around a line."""
    around = [block for block in blocks if block.start <= line <= block.end]
    return max(around, key=lambda block: block.start, default=None)


def _is_closed(line: str) -> bool:
    return line.count("(") == line.count(")") and line.rstrip().endswith((")", ");"))


def _cut(title: str) -> str:
    return title if len(title) <= TITLE_CHARS_MAX else f"{title[: TITLE_CHARS_MAX - 1]}…"
