"""Finds the tests that are calls with a title, as in `it("weighs", () => { … })`. They are no symbols of an outline."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.rpc.common import EnclosingSymbol
from prism_resolver.languages import ECMASCRIPT

LANGUAGES = ECMASCRIPT | {"ruby", "elixir"}
KIND = "test"
TITLE_CHARS_MAX = 60
GROUPS = frozenset({"describe", "context", "suite", "feature"})
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
    title: str = ""
    is_group: bool = False

    def symbol(self) -> EnclosingSymbol:
        """Returns the block as the symbol around its lines."""
        return EnclosingSymbol(name=self.name, kind=KIND, start_line=self.start, end_line=self.end)


def blocks_of(lines: Sequence[str]) -> list[TestBlock]:
    """Returns the blocks of a file, in the order of their first lines; their ends by indentation."""
    found: list[TestBlock] = []
    opened: list[tuple[int, TestBlock]] = []  # indentation, and the block without its end
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        indent, is_end = len(line) - len(line.lstrip()), _END.match(line) is not None
        while opened and indent <= opened[-1][0]:
            outer, block = opened.pop()
            # The closing bracket has the indentation of the call; another line is the next statement.
            found.append(block._replace(end=number if is_end and indent == outer else number - 1))
        if begin := _BEGIN.match(line):
            name = f"{begin['call']} {_cut(begin['title'])!r}"
            block = TestBlock(number, number, name, begin["title"], begin["call"] in GROUPS)
            if _is_closed(line):
                found.append(block)
            else:
                opened.append((indent, block))
    found += [block._replace(end=len(lines)) for _, block in opened]
    return sorted(found)


def tests_around(blocks: Sequence[TestBlock], line: int) -> list[TestBlock]:
    """Returns the test around a line, or all tests for which a line outside of them runs, such as of a set-up."""
    inner = innermost_block(blocks, line)
    if inner is not None and not inner.is_group:
        return [inner]
    first, last = (inner.start, inner.end) if inner is not None else (1, blocks[-1].end if blocks else 0)
    return [block for block in blocks if not block.is_group and first <= block.start <= last]


def innermost_block(blocks: Sequence[TestBlock], line: int) -> TestBlock | None:
    """Returns the smallest block around a line."""
    around = [block for block in blocks if block.start <= line <= block.end]
    return max(around, key=lambda block: block.start, default=None)


def _is_closed(line: str) -> bool:
    return line.count("(") == line.count(")") and line.rstrip().endswith((")", ");"))


def _cut(title: str) -> str:
    return title if len(title) <= TITLE_CHARS_MAX else f"{title[: TITLE_CHARS_MAX - 1]}…"
