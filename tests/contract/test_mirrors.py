"""Mirrors of real repositories, and the poll that compares remotes with the served commits."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from prism_catalog.vault import KEY_CHARS_MIN, Vault, VaultSettings
from prism_contracts import names, topics
from prism_contracts.base import repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import PushReceived
from prism_contracts.records import LayerState, Repository
from prism_ingest.adapters.lease import Lease
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.metrics import GitMetrics, LeaseMetrics
from prism_ingest.adapters.mirrors import PACKS_MAX, Mirrors, MirrorSource
from prism_ingest.core.round_backoff import RoundBackoff
from prism_ingest.main import build
from prism_ingest.operations.poll import Poller
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_source.gittree import commit_files, snapshot_git

DEADLINE_S = 120
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    **{
        f"GIT_{who}_{what}": "test@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    },
}


class Origin:
    """A repository to fetch from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=os.environ | GIT,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(self, text: str = "1\n") -> str:
        (self.folder / "a.py").write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", str(self.folder))  # a hash of its own
        return self.git("rev-parse", "HEAD")

    def remote(self, repo: str = "r") -> MirrorSource:
        return MirrorSource("t", repo, self.url)


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin(tmp_path / "origin" / "app")


@pytest.fixture
async def bus(nats_server) -> AsyncIterator[Bus]:
    bus = Bus("ingest", settings(nats_server, Path()))
    await bus.start()
    yield bus
    await bus.stop()


def settings(nats_server, cache: Path, **more) -> IngestSettings:
    return IngestSettings(nats_url=nats_server.url, clone_schemes="file", cache_dir=str(cache), **more)


@pytest.fixture
async def vault(bus: Bus) -> Vault:
    vault = Vault(VaultSettings())
    await vault.open(bus.js, replicas=1)
    return vault


async def commit_of(mirrors: Mirrors, remote: MirrorSource) -> str:
    async with mirrors.fetched(remote) as made:
        return made.commit


def folders(cache: Path) -> list[Path]:
    return sorted((cache / "mirrors").iterdir())


async def test_a_mirror_follows_its_remote_and_is_kept(nats_server, vault, origin, tmp_path) -> None:
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(CollectorRegistry()))
    for text in ("1\n", "2\n"):
        commit = origin.commit(text)
        refs = await mirrors.refs(origin.remote())
        assert refs.resolve("") == await commit_of(mirrors, origin.remote()) == commit
    assert len(folders(tmp_path)) == 1
    assert await commit_of(mirrors, origin.remote("other")) == commit
    assert len(folders(tmp_path)) == 2


async def test_a_damaged_mirror_is_replaced(nats_server, vault, origin, tmp_path) -> None:
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(CollectorRegistry()))
    origin.commit()
    await commit_of(mirrors, origin.remote())
    [folder] = folders(tmp_path)
    (folder / "config").write_text("[this is no configuration")
    commit = origin.commit("2\n")
    assert await commit_of(mirrors, origin.remote()) == commit
    assert folders(tmp_path) == [folder]


async def test_calls_of_git_are_counted_by_outcome(nats_server, vault, origin, tmp_path) -> None:
    registry = CollectorRegistry()
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(registry))

    def count(operation: str, outcome: str) -> float | None:
        labels = {"operation": operation, "outcome": outcome}
        return registry.get_sample_value("prism_git_operations_total", labels)

    origin.commit()
    await mirrors.refs(origin.remote())
    await commit_of(mirrors, origin.remote())
    origin.commit("2\n")
    await commit_of(mirrors, origin.remote())
    assert [count(operation, "ok") for operation in ("refs", "clone", "fetch")] == [1, 1, 1]
    origin.folder.rename(origin.folder.with_name("gone"))
    with pytest.raises(PrismError) as caught:
        await commit_of(mirrors, origin.remote())
    assert count("clone", caught.value.code.value) == 1
    assert registry.get_sample_value("prism_git_seconds_count", {"operation": "clone"}) == 2


async def test_a_mirror_outlives_an_outage_of_its_remote(nats_server, vault, origin, tmp_path) -> None:
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(CollectorRegistry()))
    origin.commit()
    await commit_of(mirrors, origin.remote())
    [folder] = folders(tmp_path)
    (folder / "kept").touch()
    away = origin.folder.rename(tmp_path / "away")
    with pytest.raises(PrismError) as caught:
        await commit_of(mirrors, origin.remote())
    assert caught.value.code is ErrorCode.CLONE_FAILED
    away.rename(origin.folder)
    commit = origin.commit("2\n")
    assert await commit_of(mirrors, origin.remote()) == commit
    assert (folder / "kept").exists()


async def test_mirrors_of_removed_repositories_are_deleted_unless_in_use(
    nats_server, origin: Origin, vault: Vault, tmp_path: Path
) -> None:
    """All URLs that a repository ever had count, and so does a clone that was interrupted."""
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(CollectorRegistry()))
    origin.commit()
    moved = origin.remote("removed")._replace(url=f"{origin.url}/.git")
    for remote in (origin.remote("kept"), origin.remote("removed"), moved):
        await commit_of(mirrors, remote)
    kept, *_ = [folder for folder in folders(tmp_path) if folder == mirrors._folder(origin.remote("kept"))]
    (tmp_path / "mirrors" / f"{mirrors._folder(moved).name}.fresh").mkdir()

    async def places() -> set[tuple[str, str]]:
        return {("t", "kept")}

    async with mirrors.held(origin.remote("removed")) as held:
        await mirrors.drop_unknown(places)
        assert folders(tmp_path) == sorted((kept, held))
    await mirrors.drop_unknown(places)
    assert folders(tmp_path) == [kept]
    mirrors.close()


async def test_least_recently_used_mirrors_are_evicted_unless_in_use(
    nats_server, vault, origin, tmp_path
) -> None:
    mirrors = Mirrors(
        settings(nats_server, tmp_path, cache_bytes_max=0), vault, GitMetrics(CollectorRegistry())
    )
    origin.commit()
    async with mirrors.fetched(origin.remote("held")) as held:
        await commit_of(mirrors, origin.remote("passing"))
        assert folders(tmp_path) == [held.git_dir]
    assert not folders(tmp_path)


async def test_two_users_of_one_mirror_take_turns(nats_server, vault, origin, tmp_path) -> None:
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(CollectorRegistry()))
    origin.commit()
    async with mirrors.fetched(origin.remote()):
        waiting = asyncio.create_task(commit_of(mirrors, origin.remote()))
        await commit_of(mirrors, origin.remote("another"))
        assert not waiting.done()
    assert await waiting


async def test_reads_do_not_wait_for_a_fetch(nats_server, vault, origin, tmp_path) -> None:
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(CollectorRegistry()))
    commit = origin.commit()
    async with (
        mirrors.fetched(origin.remote()),
        asyncio.timeout(DEADLINE_S),
        mirrors.held(origin.remote()) as folder,
    ):
        assert commit_files(folder, commit)[0] == commit


async def test_a_first_fetch_is_readable_only_when_complete(nats_server, vault, origin, tmp_path) -> None:
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(CollectorRegistry()))
    commit = origin.commit()

    async def is_there() -> bool:
        try:
            async with mirrors.held(origin.remote()) as folder:
                return commit_files(folder, commit)[0] == commit
        except PrismError as error:
            if "has not fetched" not in error.body.message:
                raise
            return False

    fetching = asyncio.create_task(commit_of(mirrors, origin.remote()))
    while not fetching.done():
        await is_there()
        await asyncio.sleep(0)
    assert await is_there()


async def delays_readers(mirrors: Mirrors, remote: MirrorSource) -> bool:
    """Whether someone waits for exclusive access to the mirror."""

    async def read() -> None:
        async with mirrors.held(remote):
            pass

    reading = asyncio.create_task(read())
    _, waiting = await asyncio.wait({reading}, timeout=0.05)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    return bool(waiting)


async def test_an_oversized_mirror_is_replaced_when_unused(nats_server, vault, origin, tmp_path) -> None:
    mirrors = Mirrors(
        settings(nats_server, tmp_path, clone_bytes_max=100_000), vault, GitMetrics(CollectorRegistry())
    )
    old = origin.commit()
    await commit_of(mirrors, origin.remote())
    async with mirrors.held(origin.remote()) as folder, asyncio.timeout(DEADLINE_S):
        (folder / "objects/pack/old.pack").write_bytes(b"x" * 200_000)
        new = origin.commit("2\n")
        fetching = asyncio.create_task(commit_of(mirrors, origin.remote()))
        while not await delays_readers(mirrors, origin.remote()):
            await asyncio.sleep(0.01)
        assert commit_files(folder, old)[0] == old
    assert await fetching == new
    assert not (folder / "objects/pack/old.pack").exists()


async def test_merging_packs_of_many_fetches_loses_no_commit(nats_server, vault, origin, tmp_path) -> None:
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(CollectorRegistry()))
    first = origin.commit()
    await commit_of(mirrors, origin.remote())
    [folder] = folders(tmp_path)
    for number in range(PACKS_MAX):
        origin.commit(f"{number}\n")
        await commit_of(mirrors, origin.remote())
    assert len(list(folder.glob("objects/pack/*.pack"))) == PACKS_MAX + 1
    with snapshot_git(folder, first) as read:
        origin.commit("2\n")
        await commit_of(mirrors, origin.remote())
        assert len(list(folder.glob("objects/pack/*.pack"))) < PACKS_MAX // 2
        assert read.read(0) == b"1\n"
    assert commit_files(folder, first)[0] == first


async def run_out(bus: Bus) -> None:
    """Ends the lease, as happens by itself when its holder dies."""
    await (await bus.js.key_value(names.KV_LEASES)).purge("poll")


@pytest.mark.parametrize(
    ("url", "is_shown"),
    [
        ("https://git.example.org/acme/app", True),
        ("https://GIT.example.org/other/app.git", True),
        ("https://git.example.org:8443/acme/app", False),
        ("https://evil.example.org/acme/app", False),
        ("https://git.example.org.evil.example.org/acme/app", False),
    ],
)
async def test_a_login_is_sent_to_its_own_server_only(nats_server, bus, tmp_path, url, is_shown) -> None:
    vault = Vault(VaultSettings(secrets_key=SecretStr("k" * KEY_CHARS_MIN)))
    await vault.open(bus.js, replicas=1)
    login = {"git_host": "git.example.org", "git_username": "ada", "git_password": "hunter2xyz"}
    await vault.change("login", "r", login)
    mirrors = Mirrors(settings(nats_server, tmp_path), vault, GitMetrics(CollectorRegistry()))
    assert await mirrors._credentials(MirrorSource("login", "r", url)) == (
        "ada:hunter2xyz" if is_shown else ""
    )


class Round:
    """A poller over one repository, and the events that it published."""

    def __init__(self, bus: Bus, ledger: Ledger, poller: Poller, origin: Origin) -> None:
        self.bus, self.ledger, self.poller, self.origin = bus, ledger, poller, origin

    async def serves(self, commit: str, **changes) -> None:
        now = datetime.now(UTC)
        state = LayerState(commit=commit, version=1, job="j", indexed_at=now)
        repository = Repository(
            tenant="t",
            repo=repo_id("acme/polled"),
            name="acme/polled",
            source=self.origin.url,
            created_at=now,
            served=state,
            **changes,
        )
        await self.ledger.repositories.put(repository.key, repository)

    async def round_events(self) -> list[PushReceived]:
        """Runs a round; returns its events."""
        stream = topics.PUSH_RECEIVED.stream.name
        before = (await self.bus.js.stream_info(stream)).state.last_seq
        await self.poller.round()
        after = (await self.bus.js.stream_info(stream)).state.last_seq
        found = [await self.bus.js.get_msg(stream, number) for number in range(before + 1, after + 1)]
        return [PushReceived.model_validate_json(message.data) for message in found]


@pytest.fixture
async def polled(nats_server, bus, origin, tmp_path) -> Round:
    app = await build(bus, settings(nats_server, tmp_path), Vault(VaultSettings()), CollectorRegistry())
    await run_out(bus)
    return Round(bus, app.ledger, app.poller, origin)


async def test_a_poll_finds_an_unannounced_push(polled) -> None:
    old = polled.origin.commit()
    new = polled.origin.commit("2\n")
    await polled.serves(old)
    [event] = await polled.round_events()
    assert (event.tenant, event.repo, event.commit) == ("t", repo_id("acme/polled"), new)


async def test_a_poll_skips_a_push_with_a_job(polled) -> None:
    old = polled.origin.commit()
    new = polled.origin.commit("2\n")
    await polled.serves(old, head_commit=new, active_job="j")
    assert await polled.round_events() == []
    await polled.serves(old, head_commit=old, active_job="j")
    assert [event.commit for event in await polled.round_events()] == [new]


async def test_a_poll_without_changes_publishes_nothing(polled) -> None:
    commit = polled.origin.commit()
    await polled.serves(commit, head_commit="f" * 40, head_seen_at=datetime.now(UTC))
    assert await polled.round_events() == []
    known = await polled.ledger.repositories.get(f"t.{repo_id('acme/polled')}")
    assert known.head_commit == commit


async def test_an_uploaded_repository_is_not_polled(polled) -> None:
    await polled.serves("a" * 40)
    await polled.ledger.repositories.modify(
        f"t.{repo_id('acme/polled')}", lambda found: found.model_copy(update={"source": "upload"})
    )
    assert await polled.round_events() == []


@pytest.mark.parametrize("changes", [{"is_active": False}, {"served": None}], ids=["inactive", "registered"])
async def test_an_inactive_or_registered_repository_is_not_polled(polled, changes) -> None:
    polled.origin.commit()
    await polled.serves("a" * 40)
    await polled.ledger.repositories.modify(
        f"t.{repo_id('acme/polled')}", lambda found: found.model_copy(update=changes)
    )
    assert await polled.round_events() == []


async def test_only_one_of_two_copies_polls(polled, bus) -> None:
    polled.origin.commit()
    await polled.serves("a" * 40)
    registry = CollectorRegistry()
    other = await Lease.open(bus.js, "poll", LeaseMetrics(registry), replicas=1)
    assert await other.hold()
    assert await other.hold()
    assert registry.get_sample_value("prism_leases_held", {"name": "poll"}) == 1
    assert await polled.round_events() == []
    await run_out(bus)
    assert len(await polled.round_events()) == 1
    assert not await other.hold()
    assert registry.get_sample_value("prism_leases_held", {"name": "poll"}) == 0


async def test_a_poller_keeps_its_lease_during_parallel_polls(polled, bus) -> None:
    lease = await Lease.open(bus.js, "poll", LeaseMetrics(CollectorRegistry()), replicas=1)
    for _ in range(3):
        assert all(await asyncio.gather(*(lease.hold() for _ in range(8))))


async def test_failing_remotes_are_polled_less_often(polled) -> None:
    polled.origin.commit()
    await polled.serves("a" * 40)
    polled.origin.folder.rename(polled.origin.folder.with_name("gone"))
    assert await polled.round_events() == []
    polled.origin.folder.with_name("gone").rename(polled.origin.folder)
    assert await polled.round_events() == []  # skipped once
    assert len(await polled.round_events()) == 1


def test_skipped_rounds_double_until_a_poll_succeeds() -> None:
    backoff, looks = RoundBackoff(), []
    for number in range(16):
        if backoff.is_due("r"):
            looks.append(number)
            backoff.failed("r")
    assert looks == [0, 2, 6, 14]
    backoff.succeeded("r")
    assert backoff.is_due("r")
