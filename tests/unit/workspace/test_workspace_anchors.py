"""When an anchor holds, and what it concerns."""

from datetime import UTC, datetime

import pytest

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.records import UNCOMMITTED, Anchor, AnchorKind, StaleReason
from prism_workspace.core.anchors import (
    IndexedFile,
    LineSpan,
    anchored,
    committed,
    concerns,
    digest,
    judged,
    moved,
    of_lines,
)

FIRST, LATER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
LINES = (
    "class Depot:",
    "    def close(self):",
    "        return self.gates.shut()",
    "",
    "    def open(self):",
    "        pass",
)


def symbol(name: str, start: int, end: int, **fields) -> Symbol:
    return Symbol(
        name=name.rpartition(".")[2], qualified_name=name, kind=SymbolKind.METHOD,
        start_line=start, end_line=end, name_line=start, **fields,
    )  # fmt: skip


def file(lines=LINES, close=(2, 3), **fields) -> IndexedFile:
    symbols = (symbol("Depot.close", *close),) if close else ()
    return IndexedFile(path="depot.py", blob=digest(lines), symbols=symbols, lines=lines, **fields)


def anchor(kind: AnchorKind = AnchorKind.SYMBOL) -> Anchor:
    name = "Depot.close" if kind is AnchorKind.SYMBOL else ""
    empty = Anchor(repo="r", kind=kind, path="depot.py", symbol=name, commit="c1", blob=file().blob)
    return empty if kind is AnchorKind.FILE else anchored(empty, file(), LineSpan(2, 3))


def check(one: Anchor, version: IndexedFile | None, commit: str = "c2", at: datetime = FIRST) -> Anchor:
    return judged(one, version, commit=commit, at=at)


@pytest.mark.parametrize("kind", AnchorKind)
def test_an_anchor_holds_where_nothing_changed(kind):
    assert check(anchor(kind), file()) == anchor(kind)


@pytest.mark.parametrize("kind", [AnchorKind.SYMBOL, AnchorKind.LINES])
def test_an_anchor_follows_its_lines(kind):
    found = check(anchor(kind), file(("import gates", "", *LINES), close=(4, 5)))
    assert (found.stale, found.start_line, found.end_line) == (None, 4, 5)


@pytest.mark.parametrize("kind", [AnchorKind.SYMBOL, AnchorKind.LINES])
def test_white_space_at_the_end_of_lines_does_not_matter(kind):
    assert check(anchor(kind), file(tuple(f"{line}  " for line in LINES))).stale is None


@pytest.mark.parametrize(
    ("kind", "version", "reason"),
    [
        (AnchorKind.SYMBOL, file((*LINES[:2], "        pass", *LINES[3:])), StaleReason.TEXT_CHANGED),
        (AnchorKind.LINES, file((*LINES[:2], "        pass", *LINES[3:])), StaleReason.TEXT_CHANGED),
        (AnchorKind.SYMBOL, file((*LINES[:1], *LINES[3:]), close=None), StaleReason.SYMBOL_GONE),
        (AnchorKind.LINES, file(()), StaleReason.TEXT_CHANGED),
        (AnchorKind.SYMBOL, None, StaleReason.FILE_GONE),
        (AnchorKind.LINES, None, StaleReason.FILE_GONE),
        (AnchorKind.FILE, None, StaleReason.FILE_GONE),
    ],
)
def test_an_anchor_is_stale_when_its_text_is_gone(kind, version, reason):
    found = check(anchor(kind), version)
    assert found.stale is not None
    assert (found.stale.reason, found.stale.commit, found.stale.found_at) == (reason, "c2", FIRST)
    assert found.blob == (version.blob if version else "")


def test_a_file_anchor_holds_whatever_the_file_has():
    assert check(anchor(AnchorKind.FILE), file(("pass",))).stale is None


def test_an_anchor_stays_stale_since_the_first_commit():
    first = check(anchor(), file((*LINES[:2], "        pass", *LINES[3:])))
    later = check(first, None, "c3", LATER)
    assert later.stale is not None
    assert (later.stale.reason, later.stale.commit, later.stale.found_at) == (
        StaleReason.FILE_GONE,
        "c2",
        FIRST,
    )


@pytest.mark.parametrize("kind", AnchorKind)
def test_an_anchor_holds_again_after_a_revert(kind):
    assert check(check(anchor(kind), None), file(), "c3") == anchor(kind)


def test_one_of_several_definitions_is_enough():
    twice = IndexedFile(
        path="depot.py", blob="b", lines=("    def close(self): ...", *LINES),
        symbols=(symbol("Depot.close", 1, 1), symbol("Depot.close", 3, 4)),
    )  # fmt: skip
    assert check(anchor(), twice).start_line == 3


def test_a_definition_is_followed_to_another_file_if_its_text_is_the_same():
    there = IndexedFile(path="gates.py", blob="b", lines=LINES, symbols=file().symbols)
    found = moved(check(anchor(), None), there)
    assert found is not None
    assert (found.path, found.blob, found.stale) == ("gates.py", "b", None)
    changed = IndexedFile(path="gates.py", blob="b", lines=LINES[1:], symbols=file().symbols)
    assert moved(anchor(), changed) is None


def linked(lines, start: int, end: int = 0) -> Anchor | None:
    empty = Anchor(repo="r", kind=AnchorKind.LINES, path="depot.py", commit="c1", blob="b")
    return of_lines(empty, file(lines), LineSpan(start, end or start))


GATES = ("if a:", "    shut()", "    wait()", "if b:", "    shut()", "    rest()", "}")


def changed(lines, number: int, line: str):
    return (*lines[: number - 1], line, *lines[number:])


@pytest.mark.parametrize("number", range(1, len(GATES) + 1))
def test_a_line_of_few_characters_is_compared_with_those_around_it(number):
    one = linked(GATES, number)
    assert one is not None
    assert check(one, file(GATES)) == one.model_copy(update={"blob": file(GATES).blob})
    assert check(one, file(changed(GATES, number, "    jam()"))).stale is not None
    for edited in (("import gates", *GATES), (*GATES, "import gates")):
        assert check(one, file(edited)).stale is None


def test_an_edit_on_one_side_of_a_line_does_not_matter():
    one = linked(GATES, 5)
    assert one is not None
    for number in (4, 6):
        assert check(one, file(changed(GATES, number, "    jam()"))).stale is None
    around = changed(changed(GATES, 4, "    jam()"), 6, "    jam()")
    assert check(one, file(around)).stale is not None


def test_the_only_line_of_a_file_is_stale_when_it_changes():
    one = linked(("a = 1", ""), 1)
    assert one is not None
    found = check(one, file(("a = 2", "")))
    assert found.stale is not None
    assert found.stale.reason is StaleReason.TEXT_CHANGED


@pytest.mark.parametrize(
    ("lines", "start", "end", "is_linked"),
    [
        (("",) * 3, 2, 0, False),
        (tuple(map(str, range(300))), 1, 200, True),
        (tuple(map(str, range(300))), 1, 201, False),
        (("}",) * 30, 15, 0, False),
        (("    raise GateIsShut",) * 30, 15, 0, True),
    ],
)
def test_lines_that_cannot_be_found_again_are_not_linked(lines, start, end, is_linked):
    assert (linked(lines, start, end) is not None) is is_linked


def test_a_commit_takes_the_place_of_the_edit_that_it_holds():
    edited = file((*LINES[:2], "        pass", *LINES[3:]))
    one = check(anchor(), edited, UNCOMMITTED)
    assert one.stale is not None
    assert one.stale.commit == UNCOMMITTED
    assert committed(one, "c3") == check(one, edited, "c3")
    assert committed(one, "c3").stale == one.stale.model_copy(update={"commit": "c3"})
    for other in (anchor(), check(anchor(), edited, "c2")):
        assert committed(other, "c3") == other


@pytest.mark.parametrize(
    ("kind", "path", "name", "place", "closeness"),
    [
        (AnchorKind.SYMBOL, "depot.py", "Depot.close", None, 3),
        (AnchorKind.SYMBOL, "depot.py", "Depot", None, 2),
        (AnchorKind.SYMBOL, "depot.py", "Depot.close.inner", None, 2),
        (AnchorKind.SYMBOL, "depot.py", "Depot.closed", None, 0),
        (AnchorKind.SYMBOL, "depot.py", "", None, 1),
        (AnchorKind.SYMBOL, "depot.py", "", LineSpan(3, 9), 2),
        (AnchorKind.SYMBOL, "depot.py", "", LineSpan(4, 9), 0),
        (AnchorKind.SYMBOL, "gates.py", "Depot.close", None, 0),
        (AnchorKind.LINES, "depot.py", "", LineSpan(1, 2), 2),
        (AnchorKind.LINES, "depot.py", "Depot.close", None, 0),
        (AnchorKind.FILE, "depot.py", "Depot.close", None, 1),
        (AnchorKind.FILE, "depot.py", "", LineSpan(1, 1), 1),
    ],
)
def test_an_anchor_concerns_its_place(kind, path, name, place, closeness):
    assert concerns(anchor(kind), path, name, place) == closeness
