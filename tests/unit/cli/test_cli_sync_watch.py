"""A watch from start to end, against a server in memory, the real file system and the real git."""

import asyncio
import io
from collections.abc import AsyncIterator

import pytest
from git_repos import Repo
from overlay_server import AWAY, REPO, URL, OverlayServer, Served, away
from rich.console import Console

from prism_cli.exits import CommandError
from prism_cli.stack.layout import data_dir
from prism_cli.sync.display import StatusLine
from prism_cli.sync.memory import RememberedOverlay
from prism_cli.sync.overlay import CheckoutOverlay
from prism_cli.sync.saves import Saves
from prism_cli.sync.watch import TTL_S, Watch
from prism_contracts.errors import ErrorCode, PrismError
from prism_source.checkout import Checkout

SECONDS_MAX = 20.0


class Watched:
    """A running watch, and its output."""

    def __init__(self, watch: Watch, output: io.StringIO, server: OverlayServer) -> None:
        self.task = asyncio.create_task(watch.run())
        self._output = output
        self._server = server

    @property
    def output(self) -> list[str]:
        return self._output.getvalue().splitlines()

    async def news(self) -> str:
        """Returns the next event of the server."""
        return await asyncio.wait_for(self._server.news.get(), SECONDS_MAX)


@pytest.fixture
async def watched(repo: Repo, overlays: OverlayServer) -> AsyncIterator[Watched]:
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n", ".gitignore": "*.log\n"}))
    output = io.StringIO()
    with (
        Checkout(repo.folder) as checkout,
        Saves(checkout) as saves,
        StatusLine(Console(file=output, width=500)) as line,
    ):
        async with overlays.prism() as prism:
            overlay = CheckoutOverlay(
                prism, checkout, REPO, RememberedOverlay(data_dir(), URL, checkout.root), TTL_S
            )
            watching = Watched(Watch(overlay, saves, line, checkout.root), output, overlays)
            try:
                yield watching
            finally:
                saves.end()
                watching.task.cancel()
                await asyncio.wait([watching.task])


async def test_each_save_is_in_the_overlay(repo: Repo, overlays: OverlayServer, watched: Watched):
    assert await watched.news() == "ov-1"
    assert overlays.contents("ov-1") == {}
    repo.write("a.py", "2\n")
    assert await watched.news() == "ov-1"
    assert overlays.contents("ov-1") == {"a.py": "2\n"}
    (repo.folder / "a.py").rename(repo.folder / "b.py")
    while overlays.contents("ov-1") != {"a.py": None, "b.py": "2\n"}:
        await watched.news()


async def test_a_checkout_moves_the_overlay_to_the_other_branch(
    repo: Repo, overlays: OverlayServer, watched: Watched
):
    overlays.served["topic"] = overlays.served[""]
    await watched.news()
    repo.git("checkout", "--quiet", "-b", "topic")
    await watched.news()
    assert overlays.overlays["ov-1"]["base_ref"] == "topic"


async def test_unavailable_server_is_retried_until_it_is_back(
    repo: Repo, overlays: OverlayServer, watched: Watched
):
    await watched.news()
    with away(overlays):
        repo.write("a.py", "2\n")
        for _ in range(3):
            assert await watched.news() == AWAY
    while await watched.news() == AWAY:
        pass
    assert overlays.contents("ov-1") == {"a.py": "2\n"}
    assert any("Not in sync" in line for line in watched.output)


async def test_failed_sync_is_reported_and_retried(
    repo: Repo, overlays: OverlayServer, watched: Watched, monkeypatch: pytest.MonkeyPatch
):
    await watched.news()
    overlays.served[""] = Served("f" * 40)
    monkeypatch.setattr(overlays, "_files", lambda *_: refuse())
    repo.write("a.py", "2\n")
    while not any("unavailable" in line for line in watched.output):
        await asyncio.sleep(0)
    monkeypatch.undo()
    while overlays.overlays["ov-1"]["base_commit"] != "f" * 40:
        await watched.news()
    assert overlays.contents("ov-1") == {".gitignore": "*.log\n", "a.py": "2\n"}


async def test_a_watch_that_cannot_start_reports_the_reason(overlays: OverlayServer, watched: Watched):
    overlays.served.clear()
    with pytest.raises(CommandError) as caught:
        await asyncio.wait_for(watched.task, SECONDS_MAX)
    assert caught.value.code == ErrorCode.REF_NOT_FOUND


def refuse() -> None:
    raise PrismError(ErrorCode.UNAVAILABLE, "not now")
