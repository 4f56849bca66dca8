"""Histories before they are stored."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from prism_contracts.records import (
    HISTORY_COMMITS_MAX,
    HISTORY_FILES_MAX,
    History,
    HistoryCommit,
    HistoryFile,
)
from prism_ingest.core.histories import keepable
from prism_source.history import MESSAGE_CHARS_MAX

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def commit(message: str) -> HistoryCommit:
    return HistoryCommit(commit="4f7c2b9", at=datetime(2026, 1, 1, tzinfo=UTC), message=message)


def file(path: str, last: int = 0) -> HistoryFile:
    return HistoryFile(path=path, last=last, commits_90_days=1, commits_12_months=1)


def test_secrets_in_messages_are_redacted() -> None:
    kept = keepable(History(commits=(commit(f"Use {TOKEN}"),), files=(file("a"),)), 3)
    assert TOKEN not in kept.commits[0].message
    assert kept.commits[0].message.startswith("Use ")
    assert kept.version == 3


def test_long_messages_are_truncated() -> None:
    kept = keepable(History(commits=(commit("x" * 999),), files=(file("a"),)), 1)
    assert len(kept.commits[0].message) == MESSAGE_CHARS_MAX


@pytest.mark.parametrize(
    "sent",
    [
        {"commits": (commit("x"),) * (HISTORY_COMMITS_MAX + 1)},
        {"files": tuple(file(str(number)) for number in range(HISTORY_FILES_MAX + 1))},
    ],
)
def test_a_longer_history_is_refused(sent) -> None:
    with pytest.raises(ValidationError):
        History(**sent)


def test_files_without_their_last_commit_are_omitted() -> None:
    sent = History(commits=(commit("a"),), files=(file("a"), file("b", last=1)))
    assert [one.path for one in keepable(sent, 1).files] == ["a"]
