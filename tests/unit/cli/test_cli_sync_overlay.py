"""The overlay of a work tree, against a server in memory and the real git."""

from collections.abc import AsyncIterator

import pytest
from git_repos import Repo
from overlay_server import REPO, URL, OverlayServer, Served, away

from prism_cli.exits import CommandError
from prism_cli.stack.layout import data_dir
from prism_cli.sync.memory import RememberedOverlay
from prism_cli.sync.overlay import CheckoutOverlay
from prism_contracts.errors import ErrorCode
from prism_contracts.rpc.imports import EDIT_FILES_MAX
from prism_source.checkout import Checkout

TTL_S = 3600
LOOK = f"GET /repos/{REPO}/receipt"
LIST = f"GET /repos/{REPO}/files"
SEND = "POST /overlays"
FOLLOW = "GET /jobs/j1"


@pytest.fixture
async def overlay(repo: Repo, overlays: OverlayServer) -> AsyncIterator[CheckoutOverlay]:
    with Checkout(repo.folder) as checkout:
        async with overlays.prism() as prism:
            yield CheckoutOverlay(
                prism, checkout, REPO, RememberedOverlay(data_dir(), URL, checkout.root), TTL_S
            )


async def test_uncommitted_changes_become_an_overlay_of_the_base(repo, overlays, overlay):
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n", "b.py": "1\n"}))
    repo.write("a.py", "2\n")
    (repo.folder / "b.py").unlink()
    repo.write("latin.txt", "\xe9\n".encode("latin-1"))
    synced = await overlay.sync()
    assert (synced.handle, synced.base_ref, synced.branch) == ("ov-1", "", "main")
    assert synced.is_searchable
    assert overlays.overlays["ov-1"] == {
        "repo": REPO,
        "base_ref": "",
        "base_commit": synced.base_commit,
        "handle": "",
        "files": [
            {"path": "a.py", "content": "2\n"},
            {"path": "b.py", "content": None},
            {"path": "latin.txt", "content_base64": "6Qo="},
        ],
        "ttl_s": TTL_S,
    }


async def test_layer_of_the_branch_is_preferred_to_the_base(repo, overlays, overlay):
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n"}))
    repo.git("checkout", "--quiet", "-b", "topic")
    overlays.served["topic"] = Served(repo.commit(**{"b.py": "1\n"}))
    repo.commit(**{"c.py": "not pushed\n"})
    synced = await overlay.sync()
    assert synced.base_ref == "topic"
    assert overlays.contents(synced.handle) == {"c.py": "not pushed\n"}


async def test_each_save_is_sent_once_and_no_save_sends_nothing(repo, overlays, overlay):
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n"}))
    first = await overlay.sync()
    overlays.take_asked()
    repo.write("a.py", "2\n")
    second = await overlay.sync()
    assert overlays.take_asked() == [SEND, FOLLOW]
    assert (second.handle, overlays.contents("ov-1")) == (first.handle, {"a.py": "2\n"})
    assert await overlay.sync() is second
    assert overlays.take_asked() == []
    assert await overlay.sync(look_below=True) is second
    assert overlays.take_asked() == [LOOK, LOOK]


async def test_served_commit_missing_in_the_clone_is_listed(repo, overlays, overlay):
    repo.commit(**{"a.py": "1\n", "b.py": "1\n"})
    overlays.served[""] = Served("f" * 40, {"a.py": "other\n", "b.py": "1\n", "c.py": "pushed\n"})
    synced = await overlay.sync()
    assert overlays.contents(synced.handle) == {"a.py": "1\n", "c.py": None}
    assert overlays.asked.count(LIST) == 3


@pytest.mark.parametrize("receipt", [{"dirty": True}, {"files_missing": 1}])
async def test_served_dirty_commit_is_listed(repo, overlays, overlay, receipt):
    commit = repo.commit(**{"a.py": "1\n"})
    overlays.served[""] = Served(commit, {"a.py": "edited\n"}, **receipt)
    synced = await overlay.sync()
    assert overlays.contents(synced.handle) == {"a.py": "1\n"}


async def test_moved_served_commit_recomputes_the_difference(repo, overlays, overlay):
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n"}))
    repo.write("b.py", "1\n")
    await overlay.sync()
    overlays.served[""] = Served("f" * 40, {"a.py": "pushed by others\n"})
    repo.write("b.py", "2\n")
    overlays.take_asked()
    await overlay.sync()
    assert overlays.contents("ov-1") == {"a.py": "1\n", "b.py": "2\n"}
    assert overlays.take_asked().count(SEND) == 2
    overlays.served[""] = Served(repo.git("rev-parse", "HEAD"))
    await overlay.sync(look_below=True)
    assert overlays.contents("ov-1") == {"b.py": "2\n"}


async def test_a_newly_indexed_branch_becomes_the_base_of_the_overlay(repo, overlays, overlay):
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n"}))
    commit = repo.commit(**{"b.py": "1\n"})
    await overlay.sync()
    overlays.served["main"] = Served(commit)
    synced = await overlay.sync(look_below=True)
    assert (synced.base_ref, overlays.contents("ov-1")) == ("main", {})


async def test_another_branch_moves_the_same_overlay(repo, overlays, overlay):
    overlays.served[""] = overlays.served["main"] = Served(repo.commit(**{"a.py": "1\n"}))
    await overlay.sync()
    repo.git("checkout", "--quiet", "-b", "topic")
    overlays.served["topic"] = Served(repo.commit(**{"b.py": "1\n"}))
    synced = await overlay.sync()
    assert (synced.handle, synced.base_ref, overlays.contents("ov-1")) == ("ov-1", "topic", {})
    repo.git("branch", "--quiet", "--move", "renamed")
    synced = await overlay.sync()
    assert (synced.branch, synced.base_ref, overlays.contents("ov-1")) == ("renamed", "", {"b.py": "1\n"})


async def test_the_next_run_uses_the_same_overlay(repo, overlays, overlay):
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n"}))
    await overlay.sync()
    with Checkout(repo.folder) as checkout:
        async with overlays.prism() as prism:
            memory = RememberedOverlay(data_dir(), URL, checkout.root)
            next_run = CheckoutOverlay(prism, checkout, REPO, memory, TTL_S)
            assert (await next_run.sync()).handle == "ov-1"
            assert await next_run.close()
            assert overlays.overlays == {}
            assert memory.handle(REPO) == ""
            assert not await next_run.close()
    assert await overlay.close()


async def test_expired_overlay_is_opened_again(repo, overlays, overlay):
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n"}))
    await overlay.sync()
    overlays.overlays.clear()
    repo.write("a.py", "2\n")
    assert overlays.contents((await overlay.sync()).handle) == {"a.py": "2\n"}


async def test_an_overlay_is_renewed_in_the_middle_of_its_life(repo, overlays, overlay, monkeypatch):
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n"}))
    first = await overlay.sync()
    monkeypatch.setattr(overlay, "_renewed_at", overlay._renewed_at - TTL_S / 2)
    assert await overlay.sync() is not first


async def test_errors_are_reported_and_lose_nothing(repo, overlays, overlay):
    overlays.served[""] = Served("")
    repo.commit(**{"a.py": "1\n"})
    with pytest.raises(CommandError) as caught:
        await overlay.sync()
    assert caught.value.code == ErrorCode.REF_NOT_FOUND
    overlays.served[""] = Served(repo.git("rev-parse", "HEAD"))
    await overlay.sync()
    repo.write("a.py", "2\n")
    with away(overlays), pytest.raises(CommandError) as caught:
        await overlay.sync()
    assert caught.value.code == ErrorCode.UNAVAILABLE
    await overlay.sync()
    assert overlays.contents("ov-1") == {"a.py": "2\n"}


async def test_too_many_files_are_refused_before_anything_is_sent(repo, overlays, overlay):
    overlays.served[""] = Served(repo.commit(**{"a.py": "1\n"}))
    for number in range(EDIT_FILES_MAX + 1):
        repo.write(f"new/{number}.py")
    with pytest.raises(Exception, match="More than 1,000 files"):
        await overlay.sync()
    assert SEND not in overlays.asked
