"""Lines of files, and lists of files."""

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.code import FileFlags, SkipReason
from prism_contracts.rpc.files import FileEntry, ListFilesReply, ReadFileReply
from prism_gateway.mcp.answers import files
from prism_gateway.mcp.tools.code import parse_place


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
        ("a.py", ("a.py", 1, 0)),
        ("a.py:7", ("a.py", 7, 7)),
        ("a.py:10-40", ("a.py", 10, 40)),
        ("odd:name.py", ("odd:name.py", 1, 0)),
        ("a.py:x-3", ("a.py:x-3", 1, 0)),
        ("a.py:0-3", ("a.py", 1, 3)),
    ],
)
def test_a_place_is_a_path_with_lines(place, expected) -> None:
    assert parse_place(place) == expected
