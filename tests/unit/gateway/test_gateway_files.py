"""Lines of files, and lists of files."""

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.code import FileFlags, SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.files import FileEntry, ListFilesReply, ReadFileReply
from prism_gateway.mcp.answers import files
from prism_gateway.mcp.answers.files import ShownPlace
from prism_gateway.mcp.places import AskedPlace, parse_place


def test_lines_of_a_file_are_numbered_for_readers_only() -> None:
    reply = ReadFileReply(
        repo="acme/app",
        file_path="a.py",
        start_line=9,
        end_line=11,
        line_count=11,
        content="x = 1\n\n    y\n",
        language="python",
        blob="b",
        note="the file ends with line 11",
        receipt=RECEIPT,
    )
    answer = files.read_file(reply, 1_000)
    assert answer.structured["note"] == reply.note
    assert answer.text.endswith("\nnote: the file ends with line 11")
    assert answer.structured["content"] == reply.content
    assert answer.text.startswith("a.py:9-11 of 11 lines\n 9\tx = 1\n10\t\n11\t    y\n\nindex")


def test_files_show_marks_and_reasons() -> None:
    reply = ListFilesReply(
        repo="acme/app",
        files=(
            FileEntry(file_path="a.py", lines=3, flags=FileFlags(test=True)),
            FileEntry(file_path="b.png", skipped=SkipReason.BINARY),
        ),
        total=2,
        receipt=RECEIPT,
    )
    answer = files.list_files(reply, 1_000, cut_off=False)
    assert answer.structured["files"][0]["flags"] == ["test"]
    assert answer.structured["files"][1]["skipped"] == "binary"
    assert "a.py (3 lines, test)\nb.png (0 lines, skipped: binary)" in answer.text


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("a.py", AskedPlace("a.py")),
        ("a.py:7", AskedPlace("a.py", 7, 7)),
        ("a.py:10-40", AskedPlace("a.py", 10, 40)),
        ("odd:name.py", AskedPlace("odd:name.py")),
        ("a.py:x-3", AskedPlace("a.py:x-3")),
        ("a.py:0-3", AskedPlace("a.py", 1, 3)),
        ("Session.get", AskedPlace("Session.get")),
        ("Session::get", AskedPlace("Session::get")),
        ("src/a.py:Session.get", AskedPlace("src/a.py", symbol="Session.get")),
        ("a.cpp:Session::get", AskedPlace("a.cpp", symbol="Session::get")),
    ],
)
def test_a_place_is_a_path_with_lines_or_a_symbol(place, expected) -> None:
    assert parse_place(place) == expected


@pytest.mark.parametrize(
    ("place", "is_name"),
    [
        ("get", True),
        ("Session.get", True),
        ("Makefile", True),
        ("setup.py", False),
        ("src/a.py", False),
        ("a.py:7", False),
    ],
)
def test_a_name_may_be_a_symbol_or_a_file(place, is_name) -> None:
    assert parse_place(place).is_name is is_name


GET = EnclosingSymbol(name="Session.get", kind="method", start_line=8, end_line=11)
PUT = EnclosingSymbol(name="Session.put", kind="method", start_line=30, end_line=50)
SESSION = EnclosingSymbol(name="Session", kind="class", start_line=2, end_line=80)
TOP = EnclosingSymbol(name="")
SHORT = [
    EnclosingSymbol(name=name, kind="function", start_line=line, end_line=line + 2)
    for name, line in (("a", 10), ("b", 13), ("c", 16), ("d", 19), ("e", 22))
]


def read_reply(start: int, end: int, **others: object) -> ReadFileReply:
    content = "".join(f"line {number}\n" for number in range(start, end + 1))
    known = {"repo": "acme/app", "file_path": "a.py", "line_count": 90, "language": "python", "blob": "b"}
    return ReadFileReply.model_validate(
        {**known, "start_line": start, "end_line": end, "content": content, "receipt": RECEIPT, **others}
    )


@pytest.mark.parametrize(
    ("start", "end", "enclosing", "touched", "expected"),
    [
        (9, 11, GET, (), "a.py:9-11 of 90 lines in Session.get (8-11)\n"),
        (8, 11, GET, (), "a.py:8-11 of 90 lines Session.get\n"),
        (9, 11, TOP, (), "a.py:9-11 of 90 lines\n"),
        (9, 11, None, (), "a.py:9-11 of 90 lines\n"),
        (1, 90, TOP, (GET,), "a.py:1-90 of 90 lines\n"),
        (8, 40, TOP, (GET, PUT), "a.py:8-40 of 90 lines with Session.get (8-11), Session.put (30-50)\n"),
        (
            8,
            40,
            SESSION,
            (GET, PUT),
            "a.py:8-40 of 90 lines in Session (2-80) with Session.get (8-11), Session.put (30-50)\n",
        ),
        (
            8,
            40,
            TOP,
            (*SHORT, PUT),
            "a.py:8-40 of 90 lines with a (10-12), b (13-15), c (16-18), Session.put (30-50) and 2 more\n",
        ),
    ],
)
def test_lines_name_the_symbols_that_they_are_in(start, end, enclosing, touched, expected) -> None:
    reply = read_reply(start, end, enclosing=enclosing, touched=touched)
    assert files.read_file(reply, 1_000).text.startswith(expected)
    shown = files.excerpts([files.excerpt(reply, "a")], ["a"], RECEIPT, 1_000)
    assert shown.text.startswith(expected.replace(" of 90 lines", ""))


def test_a_short_place_leaves_its_share_to_a_long_one() -> None:
    found = [files.excerpt(read_reply(1, 60), "a"), files.excerpt(read_reply(80, 81), "b")]
    answer = files.excerpts(found, ["a", "b"], RECEIPT, 140)
    first, second = answer.structured["files"]
    assert (second["start_line"], second["end_line"]) == (80, 81)
    assert 40 < first["end_line"] < 60
    rest = f"a.py:{first['end_line'] + 1}-60"
    assert answer.text.endswith(f'next: read_file(places=["{rest}"]), or raise max_tokens.')
    assert answer.structured["next_actions"][0] in answer.text


def test_a_failed_place_is_shown_with_similar_names() -> None:
    error = PrismError(
        ErrorCode.SYMBOL_NOT_FOUND, "There is no get.", "Try again.", suggestions=["got a.py:1-2"]
    )
    answer = files.excerpts([error], ["get"], None, 1_000)
    assert answer.text == "get: symbol_not_found: There is no get. Near: got a.py:1-2."


def test_matching_lines_are_shown_with_a_frame_and_the_first_line() -> None:
    content = "".join(f"line {number}\n" for number in range(10, 40))
    one = ShownPlace("get", "acme/app", "a.py", 10, content, "get", end_line=39)
    found = files.with_matching_lines(one, lambda line: line in {"line 20", "line 38"})
    answer = files.excerpts([found], ["get"], RECEIPT, 1_000)
    assert answer.structured["files"][0]["lines"] == [10, *range(18, 23), *range(36, 40)]
    assert answer.text.startswith("a.py:10-39 get\n10\tline 10\n…\n18\tline 18\n")
    assert "22\tline 22\n…\n36\tline 36\n" in answer.text
    assert "more lines" not in answer.text
    nothing = files.with_matching_lines(one, lambda line: None)
    assert "10\tline 10\nnote: no line matches" in files.excerpts([nothing], ["get"], RECEIPT, 1_000).text
