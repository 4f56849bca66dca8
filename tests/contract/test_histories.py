"""Histories in a real object store."""

from datetime import UTC, datetime

import nats

from prism_catalog.histories import HistoryStore
from prism_contracts.records import History, HistoryCommit, HistoryFile


def history(version: int) -> History:
    commit = HistoryCommit(
        commit="4f7c2b9", at=datetime(2026, 1, 1, tzinfo=UTC), message=f"version {version}"
    )
    file = HistoryFile(path="a.py", last=0, commits_90_days=1, commits_12_months=2)
    return History(version=version, commits=(commit,), files=(file,))


async def test_the_newest_history_wins_in_any_order(nats_server) -> None:
    connection = await nats.connect(nats_server.url)
    store = await HistoryStore.open(connection.jetstream(), 1)
    again = await HistoryStore.open(connection.jetstream(), 1)
    assert await store.get("t", "r") is None
    for version in (2, 3, 1):
        await store.put("t", "r", history(version))
    assert await again.get("t", "r") == history(3)
    assert await again.get("other", "r") is None
    await connection.close()
