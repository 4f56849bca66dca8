"""Finds the tests that are calls with a title, as in `it("weighs", () => { … })`, their groups and their hooks.

They are no symbols of an outline. Only the text of a file is read: a block ends where its indentation does.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_contracts.rpc.common import TEST_BLOCK, TEST_HOOK, EnclosingSymbol
from prism_resolver.languages import ECMASCRIPT

LANGUAGES = ECMASCRIPT | {"ruby", "elixir"}
TITLE_CHARS_MAX = 60
GROUPS = frozenset({"describe", "context", "suite", "feature"})
_CALL = r"describe|context|suite|feature|scenario|it|test|specify"
_BEGIN = re.compile(
    r"^(?P<indent>[ \t]*)(?:await )?(?:(?:RSpec|Deno|t)\.)?(?P<prefix>[xf]?)(?P<call>" + _CALL + r")\b"
    r"(?P<modes>[\w.]*)(?:\([^'\"`()]*\))?(?P<rest>.*)$"
)
_TITLE = re.compile(r"^[ (]*(?P<quote>['\"`])(?P<title>.*?)(?<!\\)(?P=quote)(?P<behind>.*)$")
# In RSpec: `describe Depot, "#weigh" do`, and a test that is named by what it does, `it { … }`.
_SUBJECT = re.compile(r"^[ (]+(?P<title>(?:::)?[A-Z][\w:]*)(?P<behind>.*\bdo)$")
_UNTITLED = re.compile(r"^ (?P<title>)(?P<behind>\{.*|do)$")
# Set-up and tear-down in JavaScript take a function, in Ruby and Elixir a block.
_HOOK = re.compile(
    r"^[ \t]*(?:test\.)?(?P<name>(?:before|after)(?:Each|All)?|setup|teardown|suiteSetup|suiteTeardown)"
    r"(?P<named>\()(?=async\b|function\b|\(|\w+ *=>)"
    r"|^[ \t]*(?P<ruby>(?:let!?(?:\(:?\w*\)| :\w+)|(?:before|after|around|setup|teardown|setup_all|subject!?)"
    r"(?:\(:?\w*\)| :\w+)?)) ?(?=(?:do\b|\{))"
)
_END = re.compile(r"^[ \t]*(?:[})\]]|end\b)")
_FUNCTION = re.compile(r"=>|\bfunction\b|\bdo\b|\{")
_FUNCTION_HEAD = re.compile(r"=>|\bfunction\b|\bdo\b")
_MODES = {"skip": "skip", "todo": "todo", "only": "only", "failing": "fails", "fails": "fails"}
_PREFIXES = {"x": "skip", "f": "only"}
# What decorators, annotations and attributes say, in lower case.
MARK_LINES_MAX = 12
_ABOVE = {
    "skip": "skip",
    "skipif": "skip in some cases",
    "skipunless": "skip in some cases",
    "xfail": "fails",
    "expectedfailure": "fails",
    "disabled": "skip",
    "ignore": "skip",
}
_MARK = re.compile(
    r"(?:@(?:[\w.]+\.)?|#\[|\[)(skip(?:if|If|Unless)?|xfail|expectedFailure|Disabled|Ignore|ignore)\b"
    r"|\[\w+\((?:.*, *)?(Skip) *= *+(?!null)"
)
_OPTION = re.compile(
    r"(?:\b(?P<key>skip|pending|todo|only): *+(?!false|nil)(?P<sure>true\b|['\"`])?|[,(] *:(?P<tag>skip|pending)\b)"
)


class TestBlock(NamedTuple):
    """A test, a group of tests, or what runs before or after each test of a group, with its first and last line."""

    start: int
    end: int
    name: str
    title: str = ""
    is_group: bool = False
    is_hook: bool = False
    marks: tuple[str, ...] = ()  # `skip`, `todo`, `only`, `fails`: what its call says
    outer: "TestBlock | None" = None  # the group around it

    @property
    def is_test(self) -> bool:
        """Whether a runner runs it and reports it."""
        return not (self.is_group or self.is_hook)

    def symbol(self) -> EnclosingSymbol:
        """Returns the block as the symbol around its lines."""
        return EnclosingSymbol(
            name=self.name,
            kind=TEST_HOOK if self.is_hook else TEST_BLOCK,
            start_line=self.start,
            end_line=self.end,
            outer=self.outer.symbol() if self.outer else None,
            marks=self.marks,
        )


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
        begun = _begun(number, line, lines[number] if number < len(lines) else "")
        if begun and _is_closed(line):
            found.append(begun)
        elif begun:
            opened.append((indent, begun))
    found += [block._replace(end=len(lines)) for _, block in opened]
    return list(_nested(sorted(found, key=lambda block: block.start)))


def tests_around(blocks: Sequence[TestBlock], line: int) -> list[TestBlock]:
    """Returns the test around a line, or all tests for which a line outside of them runs, such as of a set-up."""
    inner = innermost_block(blocks, line)
    if inner is not None and inner.is_test:
        return [inner]
    group = inner if inner is None or inner.is_group else inner.outer
    first, last = (group.start, group.end) if group else (1, blocks[-1].end if blocks else 0)
    return [block for block in blocks if block.is_test and first <= block.start <= last]


def innermost_block(blocks: Sequence[TestBlock], line: int) -> TestBlock | None:
    """Returns the smallest block around a line."""
    around = [block for block in blocks if block.start <= line <= block.end]
    return max(around, key=lambda block: block.start, default=None)


def marks_above(lines: Sequence[str], first: int) -> tuple[str, ...]:
    """Returns what decorators and attributes say about running a test that begins with them: `skip`, `fails`."""
    found: dict[str, None] = {}
    depth = 0
    for line in lines[first - 1 : first - 1 + MARK_LINES_MAX]:
        code = line.strip()
        if depth <= 0 and not code.startswith(("@", "#[", "[")):
            break
        if mark := _MARK.match(code):
            found[_ABOVE[(mark[1] or mark[2]).lower()]] = None
        depth += code.count("(") - code.count(")")
    return tuple(found)


def _begun(number: int, line: str, below: str) -> TestBlock | None:
    """Returns the block that begins in a line, without its end. A long title is in the line below."""
    if hook := _HOOK.match(line):
        return TestBlock(number, number, hook["name"] or hook["ruby"], is_hook=True)
    begin = _BEGIN.match(line)
    modes = begin["modes"].split(".") if begin else ()
    if begin is None or "step" in modes:  # a step of a test of Playwright
        return None
    rest = begin["rest"] if begin["rest"] != "(" else f"({below.strip()}"
    head = _TITLE.match(rest) or _SUBJECT.match(rest)
    if head is None and begin["call"] in {"it", "specify"}:
        head = _UNTITLED.match(rest)
    if head is None or (begin["prefix"] and rest == begin["rest"] and not _FUNCTION.search(head["behind"])):
        return None
    title = head["title"]
    call = "describe" if "describe" in modes else begin["call"]  # `test.describe(…)`
    name = f"{call} {_cut(title)!r}" if title else call
    marks = dict.fromkeys(_marks(begin, head["behind"]))
    return TestBlock(number, number, name, title, call in GROUPS, marks=tuple(marks))


def _marks(begin: re.Match[str], behind: str) -> Iterator[str]:
    """Returns what the call of a test says about running it: `it.skip`, `xit`, `it "…", skip: true`."""
    yield from (_MODES[mode] for mode in begin["modes"].split(".") if mode in _MODES)
    if begin["prefix"]:
        yield _PREFIXES[begin["prefix"]]
    if option := _OPTION.search(_FUNCTION_HEAD.split(behind, maxsplit=1)[0]):
        mark = "skip" if option["tag"] or option["key"] == "pending" else option["key"]
        yield mark if option["tag"] or option["sure"] else f"{mark} in some cases"


def _nested(blocks: Sequence[TestBlock]) -> Iterator[TestBlock]:
    """Returns blocks with the groups around them; `blocks` are in the order of their first lines."""
    groups: list[TestBlock] = []
    for block in blocks:
        while groups and groups[-1].end < block.start:
            groups.pop()
        group = groups[-1] if groups else None
        inherited = [mark for mark in group.marks if mark != "only"] if group and not block.is_hook else []
        placed = block._replace(outer=group, marks=tuple(dict.fromkeys((*block.marks, *inherited))))
        if placed.is_group:
            groups.append(placed)
        yield placed


def _is_closed(line: str) -> bool:
    is_balanced = line.count("(") == line.count(")") and line.count("{") == line.count("}")
    return is_balanced and line.rstrip().endswith((")", ");", "}"))


def _cut(title: str) -> str:
    return title if len(title) <= TITLE_CHARS_MAX else f"{title[: TITLE_CHARS_MAX - 1]}…"
