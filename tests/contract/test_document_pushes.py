"""Documents and the team's own git repository: pushes, what others push, conflicts, and failures in between."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from crashing import WRITES_MAX, ended_at, writes_watched
from git_server import LOGIN, git_server
from pydantic import SecretStr
from workspace_stack import DOCUMENTS, TENANT, Desk, desk

from prism_catalog.vault import KEY_CHARS_MIN, Vault, VaultSettings
from prism_contracts.base import repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.document_remote import (
    DOCUMENT_BUNDLE,
    DOCUMENTS_ANNOUNCED,
    GET_DOCUMENT_REMOTE,
    PUSH_DOCUMENTS,
    SET_DOCUMENT_REMOTE,
    DocumentBundleRequest,
    DocumentRemoteReply,
    DocumentsAnnouncedRequest,
    GetDocumentRemoteRequest,
    PushDocumentsRequest,
    SetDocumentRemoteRequest,
)
from prism_workspace.adapters.scratch import Scratch
from prism_workspace.operations import bundles


class Team:
    """The remote, and a clone in which people write."""

    def __init__(self, folder: Path) -> None:
        self.bare, self.clone = folder / "served" / "team.git", folder / "clone"
        self.bare.parent.mkdir()
        git(folder, "init", "-q", "--bare", "-b", "main", str(self.bare))
        git(self.bare, "config", "http.receivepack", "true")
        git(folder, "clone", "-q", str(self.bare), str(self.clone))
        git(self.clone, "checkout", "-q", "-B", "main")

    @property
    def url(self) -> str:
        return f"file://{self.bare}"

    def pull(self) -> None:
        git(self.clone, "fetch", "-q", "origin")
        git(self.clone, "reset", "-q", "--hard", "origin/main")

    def push(self, **files: str | None) -> str:
        """Commits and pushes files by path; None is deleted. A force push needs no pull before."""
        for path, text in files.items():
            place = self.clone / path
            if text is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "-q", "--allow-empty", "-m", "By people")
        git(self.clone, "push", "-q", "origin", "HEAD:main")
        return git(self.clone, "rev-parse", "HEAD")

    def files(self) -> set[str]:
        return set(git(self.bare, "ls-tree", "-r", "-z", "--name-only", "main").split("\0")) - {""}

    def text(self, path: str) -> str:
        return git(self.bare, "show", f"main:{path}")

    def commits(self) -> int:
        return int(git(self.bare, "rev-list", "--count", "main"))

    def check(self) -> None:
        git(self.bare, "fsck", "--strict", "--no-dangling")


def git(folder: Path, *command: str) -> str:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *command], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout.strip()


@pytest.fixture
async def place(nats_server) -> AsyncIterator[Desk]:
    settings = {"clone_schemes": "file,http", "clone_allow_private": True}
    async with desk(nats_server.url, copies=2, **settings) as made:
        yield made
        for copy in made.copies:
            for scratch in copy.scratch:
                scratch.close()


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


async def follow(place: Desk, url: str, **fields: object) -> DocumentRemoteReply:
    request = SetDocumentRemoteRequest(**({"tenant": TENANT, "url": url} | fields))
    return await place.ask(SET_DOCUMENT_REMOTE, request)


async def push(place: Desk) -> DocumentRemoteReply:
    return await place.ask(PUSH_DOCUMENTS, PushDocumentsRequest(tenant=TENANT))


async def status(place: Desk) -> DocumentRemoteReply:
    return await place.ask(GET_DOCUMENT_REMOTE, GetDocumentRemoteRequest(tenant=TENANT))


async def paths(place: Desk) -> set[str]:
    return {one.path for one in (await place.list()).documents}


async def failed(call) -> ErrorCode:
    with pytest.raises(PrismError) as caught:
        await call
    assert caught.value.body.next_action
    return caught.value.code


async def test_a_commit_is_pushed_as_git_that_people_can_clone(place: Desk, team: Team) -> None:
    await follow(place, team.url)
    made = await place.create("Retries", "Three times.\n")
    done = await place.commit(auto_push=True, author="Ada")
    assert (done.pushed, done.pending_push, done.push_error) == (True, False, None)
    assert git(team.bare, "rev-parse", "main") == done.commit_hash
    assert team.text(made.path).endswith("Three times.")
    assert git(team.bare, "log", "-1", "--format=%an") == "Ada"
    team.check()
    assert not (await status(place)).pending_push


async def test_a_commit_without_auto_push_waits_until_a_push_is_asked_for(place: Desk, team: Team) -> None:
    await follow(place, team.url)
    await place.create("Retries")
    done = await place.commit()
    assert (done.pushed, done.pending_push) == (False, True)
    await asyncio.gather(*(copy.sync.sync(TENANT) for copy in place.copies))
    assert (await status(place)).pending_push
    assert not (await push(place)).pending_push
    assert team.commits() == 1


async def test_what_people_push_becomes_documents(place: Desk, team: Team) -> None:
    team.push(
        **{
            "README.md": "# Ours\n",
            "documents/web/page.md": "---\ntitle: A page\ntags: [web]\nurl: https://example.com\n---\n\nText.\n",
            "generated/note.md": "# A note\n\nBy hand.\n",
            "generated/binary.md": "a\0b",
            "images/a.svg": "<svg/>",
        }
    )
    await follow(place, team.url)
    assert not (await push(place)).pending_push
    assert await paths(place) == {"documents/web/page.md", "generated/note.md"}
    by_path = {one.path: one for one in (await place.list()).documents}
    page, note = by_path["documents/web/page.md"], by_path["generated/note.md"]
    assert (page.title, page.tags, page.is_generated, page.is_draft) == ("A page", ("web",), False, False)
    assert (note.title, note.is_generated) == ("A note", True)
    assert (await place.get(page.document_id)).metadata.url == "https://example.com"
    assert await failed(place.update(page.document_id, content="x")) is ErrorCode.DOCUMENT_READ_ONLY
    await place.update(note.document_id, content="Better.\n")
    assert (await place.commit(auto_push=True)).pushed
    assert team.text("generated/note.md").endswith("Better.")
    assert {"README.md", "images/a.svg", "generated/binary.md"} <= team.files()


async def test_changes_of_different_paths_are_merged(place: Desk, team: Team) -> None:
    await follow(place, team.url)
    ours = await place.create("Ours")
    await place.commit(auto_push=True)
    team.pull()
    theirs = team.push(**{"generated/theirs.md": "Theirs.\n", "generated/README.md": "Read this.\n"})
    await place.update(ours.document_id, content="More.\n")
    second = await place.create("Second")
    done = await place.commit(auto_push=True)
    assert (done.pushed, done.conflicts) == (True, ())
    assert {ours.path, second.path, "generated/theirs.md"} <= team.files()
    assert git(team.bare, "log", "-1", "--format=%P") == theirs
    assert await paths(place) == {ours.path, second.path, "generated/theirs.md"}
    team.check()


async def test_a_document_changed_on_both_sides_is_kept_twice(place: Desk, team: Team) -> None:
    await follow(place, team.url)
    made = await place.create("Retries", "Three.\n")
    await place.commit(auto_push=True)
    team.pull()
    team.push(**{made.path: "---\ntitle: Retries\n---\n\nFour, says Ann.\n"})
    await place.update(made.document_id, content="Five, says Prism.\n")
    done = await place.commit(auto_push=True)
    [conflict] = done.conflicts
    assert (done.pushed, conflict.path) == (True, made.path)
    assert team.text(made.path).endswith("Five, says Prism.")
    assert team.text(conflict.kept_path).endswith("Four, says Ann.")
    assert (await place.get(made.document_id)).metadata.conflict == conflict.kept_path
    assert conflict.kept_path in await paths(place)
    assert not any(one.is_draft for one in (await place.list()).documents)
    await place.update(made.document_id, content="Both.\n")
    assert (await status(place)).conflicts == ()


async def test_a_draft_of_a_document_that_others_changed_is_kept_with_theirs(place: Desk, team: Team) -> None:
    await follow(place, team.url)
    made = await place.create("Retries", "Three.\n")
    await place.commit(auto_push=True)
    team.pull()
    await place.update(made.document_id, content="My draft.\n")
    team.push(**{made.path: "Theirs.\n"})
    await push(place)
    found = await place.get(made.document_id)
    assert (found.content, found.metadata.is_draft) == ("My draft.\n", True)
    kept = found.metadata.conflict
    assert kept in await paths(place)
    assert (await place.commit(auto_push=True)).pushed
    assert (team.text(made.path).endswith("My draft."), team.text(kept)) == (True, "Theirs.")


async def test_what_people_delete_is_gone_unless_there_is_a_draft(place: Desk, team: Team) -> None:
    await follow(place, team.url)
    gone, drafted = await place.create("Gone"), await place.create("Drafted")
    await place.commit(auto_push=True)
    team.pull()
    await place.update(drafted.document_id, content="Not yet.\n")
    team.push(**{gone.path: None, drafted.path: None})
    await push(place)
    assert await paths(place) == {drafted.path}
    assert await failed(place.get(gone.document_id)) is ErrorCode.DOCUMENT_NOT_FOUND
    await place.commit(auto_push=True)
    assert drafted.path in team.files()
    team.pull()
    team.push(**{gone.path: "Back.\n"})
    await push(place)
    assert (await place.get(gone.document_id)).content == "Back.\n"


async def test_a_file_in_the_way_of_a_folder_is_kept_beside(place: Desk, team: Team) -> None:
    await follow(place, team.url)
    made = await place.create("Retries")
    team.push(**{made.path.rpartition("/")[0]: "A file where the folder of the document goes.\n"})
    assert (await place.commit(auto_push=True)).pushed
    assert made.path in team.files()
    assert any(".conflict-" in path for path in team.files())
    team.check()


async def test_two_writers_at_the_remote_and_two_copies_lose_nothing(place: Desk, team: Team) -> None:
    await follow(place, team.url)

    async def write(number: int) -> str:
        made = await place.create(f"Note {number}")
        await place.commit(made.path, auto_push=True)
        return made.path

    def people() -> set[str]:
        for number in range(6):
            for _ in range(50):
                git(team.clone, "fetch", "-q", "origin")
                if git(team.clone, "branch", "-r"):
                    git(team.clone, "reset", "-q", "--hard", "origin/main")
                try:
                    team.push(**{f"generated/by-hand-{number}.md": f"{number}\n"})
                except AssertionError:
                    continue
                break
        return {f"generated/by-hand-{number}.md" for number in range(6)}

    written = await asyncio.gather(*(write(number) for number in range(6)), asyncio.to_thread(people))
    await push(place)
    expected = {*written[:6], *written[6]}
    assert expected <= team.files()
    assert await paths(place) == expected
    assert not (await status(place)).pending_push
    team.check()


async def test_a_kill_at_any_step_loses_nothing_and_does_nothing_twice(place: Desk, team: Team) -> None:
    """The process dies right before each of its writes in turn; another copy goes on."""
    await follow(place, team.url)
    both = await place.create("Both", "0\n")
    await place.commit(auto_push=True)
    for write in range(1, WRITES_MAX):
        team.pull()
        before = team.commits()
        await place.update(both.document_id, content=f"ours {write}\n")
        new = await place.create(f"New {write}")
        await place.commit()
        theirs = {both.path: f"theirs {write}\n", f"generated/theirs-{write}.md": "x\n"}
        team.push(**theirs)
        with writes_watched():
            died_at = await ended_at(lambda: ended(place), write)
        if died_at:
            for copy in place.copies:
                await copy.scratch[0].drop(TENANT)
            await push(place)
        assert team.commits() == before + 3, died_at  # theirs, that of the kept version, and ours
        assert {new.path, f"generated/theirs-{write}.md"} <= team.files()
        assert team.text(both.path).endswith(f"ours {write}")
        found = await place.get(both.document_id)
        assert team.text(found.metadata.conflict) == f"theirs {write}"
        assert await paths(place) >= {new.path, f"generated/theirs-{write}.md", found.metadata.conflict}
        assert not any(one.is_draft for one in (await place.list(limit=500)).documents)
        assert not (await status(place)).pending_push
        if not died_at:
            break
    assert write > 8
    team.check()


async def ended(place: Desk) -> None:
    """One try of the first copy, in this task, so that it dies with it."""
    await place.copies[0].sync.want(TENANT)
    await place.copies[0].sync.sync(TENANT)


async def test_while_the_remote_is_away_commits_wait(place: Desk, team: Team, tmp_path: Path) -> None:
    await follow(place, team.url)
    team.bare.rename(tmp_path / "away")
    made = await place.create("Retries")
    done = await place.commit(auto_push=True)
    assert (done.pushed, done.pending_push) == (False, True)
    assert done.push_error.code is ErrorCode.REMOTE_REFUSED
    assert (await status(place)).failures == 1
    assert await failed(push(place)) is ErrorCode.REMOTE_REFUSED
    (tmp_path / "away").rename(team.bare)
    assert not (await push(place)).pending_push
    assert (await status(place)).error is None
    assert made.path in team.files()


async def test_a_server_that_is_down_is_an_error_of_the_remote(place: Desk) -> None:
    await follow(place, "http://127.0.0.1:1/team.git")
    await place.create("Retries")
    assert (await place.commit(auto_push=True)).push_error.code is ErrorCode.GIT_ERROR
    assert await failed(push(place)) is ErrorCode.GIT_ERROR


async def test_a_login_is_sent_to_its_host_alone(nats_server, team: Team) -> None:
    vault = Vault(VaultSettings(secrets_key=SecretStr("k" * KEY_CHARS_MIN)))
    settings = {"clone_schemes": "http", "clone_allow_private": True}
    with git_server(team.bare.parent) as address:
        async with desk(nats_server.url, vault=vault, **settings) as place:
            await follow(place, f"{address}/private/team.git")
            await place.create("Retries")
            refused = (await place.commit(auto_push=True)).push_error
            assert (refused.code, "prism secrets" in refused.next_action) == (ErrorCode.REMOTE_REFUSED, True)
            user, password = LOGIN.split(":")
            login = {"git_username": user, "git_password": password}
            await vault.change(TENANT, repo_id(DOCUMENTS), login | {"git_host": "other.example.com"})
            assert await failed(push(place)) is ErrorCode.REMOTE_REFUSED
            host = address.removeprefix("http://")
            await vault.change(TENANT, repo_id(DOCUMENTS), login | {"git_host": host})
            assert not (await push(place)).pending_push
            assert team.commits() == 1
            assert password not in (await status(place)).model_dump_json()


async def test_a_push_that_a_hook_refuses_says_so_and_is_not_repeated_at_once(
    place: Desk, team: Team
) -> None:
    hook = team.bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    await follow(place, team.url)
    await place.create("Retries")
    refused = (await place.commit(auto_push=True)).push_error
    assert refused.code is ErrorCode.REMOTE_REFUSED
    assert "not today" in refused.message
    hook.unlink()
    assert not (await push(place)).pending_push


async def test_history_that_people_rewrote_does_not_come_back(place: Desk, team: Team) -> None:
    await follow(place, team.url)
    team.push(**{"generated/kept.md": "Kept.\n"})
    team.push(**{"generated/secret.md": "hunter2xyz\n"})
    ours = await place.create("Ours")
    await place.commit(auto_push=True)
    team.pull()
    git(team.clone, "reset", "-q", "--hard", "HEAD~2")
    git(team.clone, "push", "-q", "--force", "origin", "HEAD:main")
    await place.update(ours.document_id, content="Written since.\n")
    await place.commit(auto_push=True)
    assert team.files() == {"generated/kept.md", ours.path}
    assert await paths(place) == {"generated/kept.md", ours.path}


async def test_a_full_disk_is_said_and_nothing_is_lost(place: Desk, team: Team, monkeypatch) -> None:
    await follow(place, team.url)
    await place.create("Retries")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as now:
        now.setattr("prism_workspace.adapters.scratch._add", full)
        done = await place.commit(auto_push=True)
        assert (done.push_error.code, done.pending_push) == (ErrorCode.DISK_FULL, True)
    assert not (await push(place)).pending_push


async def test_the_timer_fetches_and_goes_on_with_pushes(nats_server, team: Team) -> None:
    settings = {"clone_schemes": "file", "clone_allow_private": True, "documents_remote_interval_s": 1}
    async with desk(nats_server.url, **settings) as place:
        await follow(place, team.url)
        team.push(**{"generated/theirs.md": "Theirs.\n"})
        await place.create("Ours")
        await place.commit()
        await place.copies[0].sync.want(TENANT)
        running = asyncio.create_task(place.copies[0].sync.run())
        try:
            async with asyncio.timeout(120):
                while (await status(place)).pending_push or len(await paths(place)) < 2:
                    await asyncio.sleep(0.05)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        shutil.rmtree(team.clone)
        assert team.commits() == 2


async def test_an_announced_push_is_fetched_before_the_next_look_is_due(nats_server, team: Team) -> None:
    settings = {"clone_schemes": "file", "clone_allow_private": True, "documents_remote_interval_s": 3_600}
    async with desk(nats_server.url, **settings) as place:
        await follow(place, team.url)
        await place.copies[0].sync.sync(TENANT)
        team.push(**{"generated/theirs.md": "Theirs.\n"})
        await place.copies[0].sync.round()
        assert await paths(place) == set()
        await place.ask(DOCUMENTS_ANNOUNCED, DocumentsAnnouncedRequest(tenant=TENANT))
        running = asyncio.create_task(place.copies[0].sync.run())
        try:
            async with asyncio.timeout(120):
                while not await paths(place):
                    await asyncio.sleep(0.05)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        assert await failed(place.ask(DOCUMENTS_ANNOUNCED, DocumentsAnnouncedRequest(tenant="none"))) == (
            ErrorCode.REMOTE_NOT_SET
        )


async def test_a_push_that_is_announced_during_a_look_is_not_missed(
    place: Desk, team: Team, monkeypatch
) -> None:
    await follow(place, team.url)
    fetch = Scratch.fetch

    async def fetched(*arguments: object) -> str:
        found = await fetch(*arguments)
        team.push(**{"generated/theirs.md": "Theirs.\n"})
        await place.ask(DOCUMENTS_ANNOUNCED, DocumentsAnnouncedRequest(tenant=TENANT))
        return found

    monkeypatch.setattr(Scratch, "fetch", fetched)
    await place.copies[0].sync.sync(TENANT)
    monkeypatch.undo()
    seen = await status(place)
    assert seen.next_at <= datetime.now(UTC)
    await place.copies[0].sync.sync(TENANT)
    assert await paths(place) == {"generated/theirs.md"}
    assert (await status(place)).next_at > datetime.now(UTC)


async def test_a_bundle_that_is_too_large_is_not_read_and_says_what_to_do(place: Desk, monkeypatch) -> None:
    await place.create("Ours")
    await place.commit()
    monkeypatch.setattr(bundles, "BUNDLE_BYTES_MAX", 10)
    with pytest.raises(PrismError) as refused:
        await place.ask(DOCUMENT_BUNDLE, DocumentBundleRequest(tenant=TENANT))
    assert refused.value.code is ErrorCode.PAYLOAD_TOO_LARGE
    assert refused.value.body.details["size"] > 10
    assert "remote set URL" in refused.value.body.next_action
