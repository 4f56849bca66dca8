"""Mirrors of git repositories, kept between pushes so that a fetch transfers only new objects.

A mirror is only a cache. If it cannot be read or updated, it is deleted and cloned again; beyond the size
limit the least recently used are deleted. Different tenants, repositories and URLs never share a mirror.

Reads do not wait for fetches. A fetch only adds objects, and git rescans the packs after they were merged. A
new mirror is cloned next to its final place. It is moved there, or an old one is deleted, while no one reads.
"""

import asyncio
import contextvars
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar
from weakref import WeakValueDictionary

from prism_catalog.vault import Vault
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_ingest.adapters.metrics import GitMetrics
from prism_ingest.adapters.read_write_lock import ReadWriteLock
from prism_ingest.adapters.slots import SlotLimits, Slots
from prism_ingest.settings import IngestSettings
from prism_source.clone import CloneRules, Mirror, RemoteRefs, merge_packs, mirror, remote_refs
from prism_source.clone_url import CloneUrl, check_url, git_server

# Each fetch adds a pack, and git searches all packs for a blob: beyond this number they are merged.
PACKS_MAX = 64
# Errors whose cause may be the mirror and not the remote. A mirror also grows too large over time.
SUSPICIOUS = frozenset(
    {
        ErrorCode.CLONE_FAILED,
        ErrorCode.SOURCE_UNREADABLE,
        ErrorCode.SOURCE_NOT_FOUND,
        ErrorCode.PAYLOAD_TOO_LARGE,
    }
)
# The suffix of a folder into which a mirror is being cloned.
FRESH = ".fresh"
# In the name of a mirror's folder, between the hash of its repository and that of its URL.
SEPARATOR = "-"

# Per lane.
FETCHES = SlotLimits(total=4, of_tenant=3, of_server=2)
REF_LISTINGS = SlotLimits(total=8, of_tenant=4, of_server=2)
# DNS lookups of the hosts of URLs, which may take half a minute.
CHECKS_AT_ONCE = 8

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class MirrorSource(NamedTuple):
    """A ref of the git repository that a tenant's repository is fetched from."""

    tenant: str
    repo: str
    url: str
    ref: str = ""  # empty for the default branch


class Mirrors:
    """The mirrors of this process. No other process may use their folder."""

    def __init__(self, settings: IngestSettings, vault: Vault, metrics: GitMetrics) -> None:
        self._vault = vault
        self._metrics = metrics
        self._bytes_max = settings.cache_bytes_max
        self._temporary = None if settings.cache_dir else tempfile.TemporaryDirectory(prefix="prism-cache-")
        cache = Path(self._temporary.name if self._temporary else settings.cache_dir)
        self._root = cache / "mirrors"
        self._rules = settings.clone_rules(cache, depth=settings.clone_depth)
        self._fetches = {lane: Slots(FETCHES) for lane in Lane}
        self._listing_slots = Slots(REF_LISTINGS)
        self._listings: set[asyncio.Task[RemoteRefs]] = set()
        # Own threads: slow servers must not occupy the pool that the rest of this process uses.
        self._threads = ThreadPoolExecutor(
            len(Lane) * FETCHES.total + REF_LISTINGS.total + CHECKS_AT_ONCE, thread_name_prefix="remote"
        )
        self._uses: WeakValueDictionary[str, ReadWriteLock] = WeakValueDictionary()
        self._sizes: dict[Path, int] | None = None  # in bytes, of every mirror; None before the first fetch

    @property
    def rules(self) -> CloneRules:
        """The rules for what may be cloned."""
        return self._rules

    async def check(self, url: str) -> CloneUrl:
        """Parse and check a URL. Raises PrismError as prism_source.clone_url.check_url does."""
        return await self._remotely(partial(check_url, url, self._rules))

    async def refs(self, remote: MirrorSource, extra_refs: Iterable[str] = ()) -> RemoteRefs:
        """Returns the current branches and tags of the remote, and existing full names in `extra_refs`.

        If the caller is cancelled, its slot remains occupied until git ends. Raises PrismError as
        prism_source.clone.mirror does.
        """
        listing = asyncio.create_task(self._refs(remote, tuple(extra_refs)))
        self._listings.add(listing)
        listing.add_done_callback(self._on_listed)
        return await asyncio.shield(listing)

    async def _refs(self, remote: MirrorSource, extra_refs: tuple[str, ...]) -> RemoteRefs:
        credentials = await self._credentials(remote)

        def read() -> RemoteRefs:
            with self._metrics.measure("refs"):
                return remote_refs(remote.url, self._rules, extra_refs=extra_refs, credentials=credentials)

        async with self._listing_slots.held(remote.tenant, git_server(remote.url)):
            return await self._remotely(read)

    def _on_listed(self, listing: asyncio.Task[RemoteRefs]) -> None:
        self._listings.discard(listing)
        if not listing.cancelled():
            listing.exception()  # the caller has it; this keeps asyncio from logging it

    async def _remotely(self, work: Callable[[], Result]) -> Result:
        # Threads of a pool have no context of their own accord.
        in_context = partial(contextvars.copy_context().run, work)
        return await asyncio.get_running_loop().run_in_executor(self._threads, in_context)

    @asynccontextmanager
    async def held(self, remote: MirrorSource) -> AsyncIterator[Path]:
        """Yields the mirror's folder without contacting the remote.

        Meanwhile the mirror is not deleted, but a fetch may add objects. Raises REF_NOT_FOUND if none exists.
        """
        folder = self._folder(remote)
        async with self._use(folder).reading():
            if not folder.exists():
                raise PrismError(
                    ErrorCode.REF_NOT_FOUND,
                    "This copy of ingest has not fetched the repository yet.",
                    "Create a layer of the ref with create_branch_index.",
                )
            yield folder

    @asynccontextmanager
    async def fetched(self, remote: MirrorSource, lane: Lane = Lane.LIVE) -> AsyncIterator[Mirror]:
        """Fetch the ref and yield the mirror, which no one else updates or deletes meanwhile.

        The fetch waits for a slot of the tenant in the lane, and releases it before this yields. Raises
        PrismError as prism_source.clone.mirror does.
        """
        folder = self._folder(remote)
        use = self._use(folder)
        async with use.adding:
            async with self._fetches[lane].held(remote.tenant, git_server(remote.url)):
                mirrored = await self._fetch(remote, folder, use)
            yield mirrored
        await self._trim(folder)

    async def forget(self, remote: MirrorSource) -> None:
        """Delete a mirror whose contents cannot be read, once no one uses it."""
        log.warning("deleting the mirror of %s", remote.url)
        folder = self._folder(remote)
        use = self._use(folder)
        async with use.adding, use.alone():
            await asyncio.to_thread(_remove, folder)

    async def drop_unknown(self, places: Callable[[], Awaitable[Collection[tuple[str, str]]]]) -> None:
        """Delete the mirrors of repositories that `places` does not return, except those in use.

        `places` returns tenant and id of every repository. A mirror is made after the record of its
        repository, so it is called after the folders were listed.
        """
        folders = list(self._root.iterdir()) if self._root.exists() else []
        known = {_beginning(*place) for place in await places()} if folders else set()
        for folder in folders:
            use = self._use(folder)
            if folder.name.partition(SEPARATOR)[0] not in known and not use.is_used:
                async with use.adding, use.alone():
                    await asyncio.to_thread(_remove, folder)
                    if self._sizes is not None:
                        self._sizes.pop(folder, None)

    def close(self) -> None:
        """Remove a temporary folder."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._temporary:
            self._temporary.cleanup()

    def _folder(self, remote: MirrorSource) -> Path:
        beginning = _beginning(remote.tenant, remote.repo)
        return self._root / f"{beginning}{SEPARATOR}{_hashed(remote.url)}"

    def _use(self, folder: Path) -> ReadWriteLock:
        """Returns the lock of a mirror, or of the folder that becomes one."""
        return self._uses.setdefault(folder.stem, ReadWriteLock())

    async def _credentials(self, remote: MirrorSource) -> str:
        """Returns `user:password`, or "" if none is stored for this server.

        Otherwise a caller that may set the URL could send the password to its own server.
        """
        kept = await self._vault.get(remote.tenant, remote.repo)
        if not kept.git_password or git_server(remote.url) != kept.git_host.lower():
            return ""
        return f"{kept.git_username}:{kept.git_password}"

    async def _fetch(self, remote: MirrorSource, folder: Path, use: ReadWriteLock) -> Mirror:
        credentials = await self._credentials(remote)
        made = await self._remotely(partial(self._update, remote, credentials, folder))
        if made is not None:
            return made
        # If the remote is down, this raises, and the mirror that could not be updated is kept.
        fresh = folder.with_suffix(FRESH)
        made = await self._remotely(partial(self._clone, remote, credentials, fresh))
        async with use.alone():
            await asyncio.to_thread(_replace, folder, fresh)
        return made._replace(git_dir=folder)

    def _update(self, remote: MirrorSource, credentials: str, folder: Path) -> Mirror | None:
        """Returns None if there is no mirror, or if it is damaged."""
        if not folder.exists():
            return None
        try:
            if _packs(folder) > PACKS_MAX:
                merge_packs(folder, self._rules.seconds_max)
            made = self._mirror("fetch", remote, credentials, folder)
        except PrismError as error:
            if error.code not in SUSPICIOUS:
                raise
            log.warning("cannot update the mirror of %s: %s", remote.url, error)
            return None
        os.utime(folder)
        return made

    def _clone(self, remote: MirrorSource, credentials: str, fresh: Path) -> Mirror:
        _remove(fresh)
        return self._mirror("clone", remote, credentials, fresh)

    def _mirror(self, operation: str, remote: MirrorSource, credentials: str, folder: Path) -> Mirror:
        with self._metrics.measure(operation):
            return mirror(remote.url, folder, self._rules, ref=remote.ref, credentials=credentials)

    async def _trim(self, fetched: Path) -> None:
        """Delete the least recently used mirrors until the rest fits, except those in use."""
        if self._sizes is None:
            self._sizes = await asyncio.to_thread(_sizes, self._root)
        self._sizes[fetched] = await asyncio.to_thread(_bytes, fetched)
        if sum(self._sizes.values()) <= self._bytes_max:
            return
        for folder in sorted(self._sizes, key=_used_at):
            if sum(self._sizes.values()) <= self._bytes_max:
                return
            use = self._use(folder)
            if not use.is_used:
                async with use.adding, use.alone():
                    await asyncio.to_thread(_remove, folder)
                    self._sizes.pop(folder, None)


def _beginning(tenant: str, repo: str) -> str:
    """Returns how the names of all mirrors of a repository begin."""
    return _hashed(f"{tenant}\0{repo}")


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _replace(folder: Path, fresh: Path) -> None:
    _remove(folder)
    fresh.rename(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _packs(folder: Path) -> int:
    return sum(1 for _ in folder.glob("objects/pack/*.pack"))


def _sizes(root: Path) -> dict[Path, int]:
    return {folder: _bytes(folder) for folder in root.iterdir()} if root.exists() else {}


def _used_at(folder: Path) -> float:
    """Returns the time of the last use in seconds since the epoch; 0 if the folder does not exist."""
    return folder.stat().st_mtime if folder.exists() else 0.0


def _bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
