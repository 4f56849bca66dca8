from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from prism_cli import search
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.search import Hit, Intent, SearchReply, ShownLine


def reply(*hits: Hit, **receipt: Any) -> SearchReply:
    facts = {
        "repo": "psf/requests",
        "indexed_commit": "0123456789abcdef",
        "head_commit": "0123456789abcdef",
        "lag_seconds": 0,
        "indexed_at": datetime.now(UTC) - timedelta(minutes=2),
        "corpus_version": 1,
        "files_indexed": 120,
        "files_skipped": 0,
        "files_failed": 0,
    }
    return SearchReply(
        results=hits,
        confidence="high",
        query_intent=Intent.DEFINITION,
        receipt=Receipt(**(facts | receipt)),
        timings_ms={"embed": 2.3, "rank": 10.0},
    )


HIT = Hit(
    repo="psf/requests",
    file_path="src/\x1b[2Jadapters.py",
    start_line=10,
    end_line=12,
    content="def send(self):\n    return '\x1b]0;pwned\x07'\n",
    symbol="HTTPAdapter.send",
    kind="method",
    language="python",
    score=0.91234,
    legs={"vector": 3, "bm25": 1},
)


def test_a_hit_shows_location_score_and_legs():
    header = search.hit_header(1, HIT).plain
    assert ":10-12" in header
    assert "HTTPAdapter.send · method · python · psf/requests" in header
    assert header.endswith("score 0.912 · bm25 #1 · vector #3")


def test_text_of_a_repository_cannot_reach_the_terminal(capsys: pytest.CaptureFixture[str]):
    search.show(reply(HIT))
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown
    assert "\x1b]0" not in shown
    assert "\x07" not in shown
    assert "def send" in shown


def test_receipt_shows_commit_and_completeness():
    line = search.receipt_line(
        reply(dirty=True, files_skipped=3, head_commit="ffff", lag_seconds=90, missing_legs=("vector",))
    )
    assert line.startswith(
        "psf/requests @ 0123456789 with uncommitted changes, indexed 2 min ago, 90 s behind"
    )
    assert "120 files, 3 skipped" in line
    assert "without vector" in line
    assert "confidence high" in line
    assert "12.3 ms" in line


def test_an_empty_result_is_stated(capsys: pytest.CaptureFixture[str]):
    search.show(reply())
    assert "No hits." in capsys.readouterr().out


def test_a_long_hit_is_cut_with_a_note(capsys: pytest.CaptureFixture[str]):
    search.show(reply(HIT.model_copy(update={"content": "x\n" * 100})))
    assert "88 more lines" in capsys.readouterr().out


def test_a_symbol_shows_its_lines_with_gaps_or_its_signature(capsys: pytest.CaptureFixture[str]):
    lines = tuple(
        ShownLine(number=number, text=text) for number, text in ((10, "def send():"), (14, "\x1b[2Jgo()"))
    )
    symbol = HIT.model_copy(update={"content": "", "lines": lines})
    search.show(reply(symbol, HIT.model_copy(update={"content": "", "signature": "def close(self)"})))
    shown = capsys.readouterr().out
    assert [word in shown for word in ("10 def send():", "…", "14 ", "def close(self)")] == [True] * 4
    assert "\x1b[2J" not in shown
