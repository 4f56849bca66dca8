import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import COUNT_MAX
from prism_runtime.cursors import CURSOR_CHARS_MAX, _digest, read_cursor, write_cursor
from prism_search.core.grep_pages import LinePage
from prism_search.core.lines import LINE_CHARS_SHOWN, LINE_WORK_MAX, SLICE_WORK, matching_lines, shown
from prism_search.core.patterns import PATTERN_SIZE_MAX, Pattern, compile_pattern
from prism_source.limits import LINE_BYTES_MAX

# Lines

# A slice for a pattern of the largest size. `LARGE` fills up the size of a pattern and matches the empty
# text.
SLICE_CHARS = SLICE_WORK // PATTERN_SIZE_MAX
LARGE = f"(?:y{{{PATTERN_SIZE_MAX - 20}}})?"


class OtherProcess:
    """Matches the lines that are too long for one process, and records their lengths."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def __call__(self, pattern: Pattern, line: str) -> bool:
        self.lengths.append(len(line))
        return pattern.matches(line)


def found(
    text: str,
    pattern: str = "x",
    *,
    after_line: int = 0,
    context: int = 0,
    regex: bool = False,
    limit: int = 10_000,
):
    """Returns the matches on a page of at most `limit` lines."""
    compiled = compile_pattern(pattern, regex=regex, case_sensitive=True, word=False)
    page = LinePage(limit, context, pattern=compiled)
    slices = matching_lines(text, compiled, OtherProcess(), after_line=after_line, lines_max=limit)
    last_lines = []
    for part in slices:
        page.take("r", "p", text, part)
        last_lines.append(part.last_line)
    end = page.matches[-1].line if page.is_full else text.removesuffix("\n").count("\n") + 1
    assert last_lines == [] or last_lines[-1] == end
    return page.matches


def test_lines_are_counted_from_one():
    assert [(m.line, m.text) for m in found("a\nx1\nb\nx2\n")] == [(2, "x1"), (4, "x2")]


@pytest.mark.parametrize("text", ["x", "x\n", "x\r\n", "x\r"])
def test_lines_are_shown_without_line_ends(text):
    assert [(m.line, m.text) for m in found(text)] == [(1, "x")]


@pytest.mark.parametrize("char", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029", "\r"])
def test_only_a_line_feed_ends_a_line(char):
    assert [(m.line, m.text) for m in found(f"a{char}x\nb\nx")] == [(1, f"a{char}x"), (3, "x")]


def test_no_line_begins_after_the_last_line_feed():
    assert [m.line for m in found("a\n\n", "^$", regex=True)] == [2]
    assert found("", "^$", regex=True) == []
    assert [m.line for m in found("\n", "^$", regex=True)] == [1]


@given(
    st.lists(st.sampled_from(["x", "", "a", "xa\r", " x"]), max_size=30),
    st.lists(st.sampled_from([1, 50, SLICE_CHARS - 1, SLICE_CHARS, SLICE_CHARS + 1]), max_size=6),
    st.sampled_from(["x", "^x", "x$", "^$", r"\Ax", r"x\z", r"^\s*x\s*$", r"a\s*x", "[^a]", "(?-m)^x"]),
    st.booleans(),
    st.integers(0, 3),
)
def test_slices_give_the_same_lines_as_the_whole_text(lines, fillers, pattern, ended, context):
    # No lines with a line end are one empty line.
    lines = lines + [part for size in fillers for part in ("a" * size, "x")] or [""]
    pattern = LARGE + pattern
    compiled = compile_pattern(pattern, regex=True, case_sensitive=True, word=False)
    text = "\n".join(lines) + "\n" * ended
    if text == "" or (not ended and lines[-1] == ""):
        return  # an empty last line is not a line
    shown = [(line.removesuffix("\r")[:LINE_CHARS_SHOWN]) for line in lines]
    got = found(text, pattern, regex=True, context=context)
    assert [match.line for match in got] == [n for n, line in enumerate(lines, 1) if compiled.matches(line)]
    for match in got:
        before = shown[max(0, match.line - 1 - context) : match.line - 1]
        assert [line.rstrip("…") for line in match.before] == before
        assert [line.rstrip("…") for line in match.after] == shown[match.line : match.line + context]


def test_very_long_line_is_matched_in_another_process():
    pattern = f"[ab]{{{PATTERN_SIZE_MAX - 1}}}c"
    compiled = compile_pattern(pattern, regex=True, case_sensitive=True, word=False)
    line = "ab" * ((LINE_BYTES_MAX - 2) // 2) + "c"
    for long_line, expected in ((line, [2]), (line[:-1], [])):
        other_process = OtherProcess()
        slices = list(matching_lines(f"a\n{long_line}\nb\n", compiled, other_process, lines_max=9))
        assert [number for part in slices for number, _ in part.found] == expected
        assert other_process.lengths == [len(long_line)]


@pytest.mark.parametrize("more", [0, 1])
def test_line_is_matched_in_this_process_up_to_a_limit(more):
    compiled = compile_pattern("[ab]{999}[cd]", regex=True, case_sensitive=True, word=False)
    other_process = OtherProcess()
    line = "e" * (LINE_WORK_MAX // compiled.size + more)
    list(matching_lines(f"a\n{line}\n{line}\nb", compiled, other_process, lines_max=9))
    assert other_process.lengths == [len(line)] * 2 * more


def test_long_plain_text_is_matched_in_this_process():
    compiled = compile_pattern("a" * 999 + "b", regex=False, case_sensitive=True, word=False)
    assert list(matching_lines("a" * LINE_BYTES_MAX, compiled, OtherProcess(), lines_max=9)) == []


def test_search_stops_at_the_limit_of_lines():
    compiled = compile_pattern("x", regex=False, case_sensitive=True, word=False)
    parts = list(matching_lines("x\nx\nx\n", compiled, OtherProcess(), lines_max=2))
    assert [(part.last_line, [line.number for line in part.found]) for part in parts] == [(2, [1, 2])]


def test_context_ends_at_the_ends_of_the_file():
    (match,) = found("a\r\nb\r\nx\r\nc", context=5)
    assert (match.before, match.after) == (("a", "b"), ("c",))
    (match,) = found("a\nb\nx\nc\nd", context=1)
    assert (match.line, match.before, match.after) == (3, ("b",), ("c",))


def test_page_continues_after_the_last_line():
    assert [m.line for m in found("x\nx\nx", after_line=1)] == [2, 3]
    assert found("x\nx\nx", after_line=3) == []
    assert found("x", after_line=10) == []


@pytest.mark.parametrize("pattern", ["needle", "NEE+DLE", "n[^x]+e", "edleb+$"])
def test_a_long_line_is_cut_around_its_first_match(pattern):
    line = "a" * 5_000 + "needle" + "b" * 5_000
    cut = shown(line, compile_pattern(pattern, regex=True, case_sensitive=False, word=False))
    assert "needle" in cut
    assert cut.startswith("…a")
    assert cut.endswith("b…")
    assert len(cut) == LINE_CHARS_SHOWN + 2


def test_long_lines_are_cut_and_still_searched():
    (match,) = found("y" * LINE_CHARS_SHOWN + "x")
    assert match.text == "…" + "y" * (LINE_CHARS_SHOWN - 1) + "x"
    assert found("y" * (LINE_CHARS_SHOWN - 1) + "x")[0].text.endswith("x")


@given(st.text("xa\n\r\f\u2028", max_size=30), st.sampled_from([("x", False), ("x", True), ("^x", True)]))
def test_pages_of_one_line_join_to_the_whole(text, asked):
    pattern, regex = asked
    whole, pages, after = found(text, pattern, regex=regex), [], 0
    while page := found(text, pattern, regex=regex, after_line=after, limit=1):
        pages += page
        after = page[-1].line
    assert pages == whole
    assert [m.line for m in whole] == [n for n, line in enumerate(text.split("\n"), 1) if m_of(line, pattern)]


def m_of(line: str, pattern: str) -> bool:
    return line.startswith("x") if pattern == "^x" else "x" in line


# Cursors

KINDS = (str, str, int)


def forged(body: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")


@given(
    st.text(),
    st.text(st.characters(codec="utf-8")),
    st.text(st.characters(codec="utf-8")),
    st.integers(0, COUNT_MAX),
)
def test_cursor_round_trips(question, path, scope, line):
    question = question.encode(errors="replace").decode()
    cursor = write_cursor(question, path, scope, line)
    assert read_cursor(question, cursor, KINDS) == (path, scope, line)


@pytest.mark.parametrize(
    "cursor",
    [
        "", "x", "!!", "é", "ab==", "A" * (CURSOR_CHARS_MAX + 1),
        write_cursor("another", "a", "b", 1),
        write_cursor("question", "a", 1),
        write_cursor("question", "a", "b", "1"),
        write_cursor("question", "a", "b", 1, 2),
        write_cursor("question", "a", "b", -1),
        forged([_digest("question"), "a", "b", True]),
        forged([_digest("question"), "a", "b", 1.0]),
        forged([_digest("question"), ["a"], "b", 1]),
        forged({"a": 1}), forged([]), forged(None), forged("text"),
        base64.urlsafe_b64encode(b"[" * 5_000).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    ],
)  # fmt: skip
def test_foreign_cursor_is_refused(cursor):
    with pytest.raises(PrismError) as caught:
        read_cursor("question", cursor, KINDS)
    assert caught.value.code is ErrorCode.INVALID_CURSOR


@given(st.text(max_size=200))
def test_any_text_is_a_cursor_or_refused(cursor):
    with pytest.raises(PrismError, match="cursor"):
        read_cursor("question", cursor, KINDS)
