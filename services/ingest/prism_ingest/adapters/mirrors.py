"""Repositories as they were last fetched, kept from one push to the next: a push then brings only what is new.

A mirror is a cache and nothing else. One that cannot be read or brought up to date is thrown away and cloned again; past
the limit the least recently used go. Mirrors of different tenants or credentials are never shared.

Reads wait for no fetch. A fetch only adds objects, and git looks again where its packs are when they were merged; a mirror
is cloned beside its place, and put there, or taken away, when nobody reads it.
"""

import asyncio
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar
from weakref import WeakValueDictionary

from prism_catalog.vault import Vault
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_ingest.adapters.read_write_lock import ReadWriteLock
from prism_ingest.adapters.slots import SlotLimits, Slots
from prism_ingest.settings import IngestSettings
from prism_source.clone import CloneRules, Mirror, RemoteRefs, merge_packs, mirror, remote_refs
from prism_source.clone_url import CloneUrl, check_url, git_server

# Each fetch leaves a pack, and git looks a blob up in each: past so many they are merged.
PACKS_MAX = 64
# What may be wrong with the mirror rather than with the remote. What it has gathered over time may be what is too large.
SUSPICIOUS = frozenset(
    {
        ErrorCode.CLONE_FAILED,
        ErrorCode.SOURCE_UNREADABLE,
        ErrorCode.SOURCE_NOT_FOUND,
        ErrorCode.PAYLOAD_TOO_LARGE,
    }
)
# How the name of a folder ends in which a mirror is cloned.
FRESH = ".fresh"

# Of one lane.
FETCHES = SlotLimits(total=4, of_tenant=3, of_server=2)
LOOKS = SlotLimits(total=8, of_tenant=4, of_server=2)
# Looking up the hosts of URLs, which may take half a minute.
CHECKS_AT_ONCE = 8

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class Remote(NamedTuple):
    """A ref of a git repository that a tenant's repository is fetched from."""

    tenant: str
    repo: str
    url: str
    ref: str = ""  # empty for the default branch


class Mirrors:
    """The mirrors of this process, which has their folder for itself."""

    def __init__(self, settings: IngestSettings, vault: Vault) -> None:
        self._vault = vault
        self._bytes_max = settings.cache_bytes_max
        self._temporary = None if settings.cache_dir else tempfile.TemporaryDirectory(prefix="prism-cache-")
        cache = Path(self._temporary.name if self._temporary else settings.cache_dir)
        self._root = cache / "mirrors"
        self._rules = CloneRules(
            schemes=frozenset(settings.clone_schemes.split(",")),
            allow_private=settings.clone_allow_private,
            bytes_max=settings.clone_bytes_max,
            seconds_max=settings.clone_seconds_max,
            silence_s_max=settings.clone_silence_s_max,
            memory_bytes_max=settings.git_memory_bytes_max,
            depth=settings.clone_depth,
            known_hosts=str(cache.absolute() / "known_hosts"),
        )
        self._fetches = {lane: Slots(FETCHES) for lane in Lane}
        self._looks = Slots(LOOKS)
        self._looking: set[asyncio.Task[RemoteRefs]] = set()
        # Threads of their own: slow servers must not use up those that everything else in this process shares.
        self._threads = ThreadPoolExecutor(
            len(Lane) * FETCHES.total + LOOKS.total + CHECKS_AT_ONCE, thread_name_prefix="remote"
        )
        self._uses: WeakValueDictionary[str, ReadWriteLock] = WeakValueDictionary()
        self._sizes: dict[Path, int] | None = None  # in bytes, of every mirror; None before the first fetch

    @property
    def rules(self) -> CloneRules:
        """What may be cloned."""
        return self._rules

    async def check(self, url: str) -> CloneUrl:
        """Take a URL apart. Raises PrismError as prism_source.clone_url.check_url."""
        return await self._remotely(partial(check_url, url, self._rules))

    async def refs(self, remote: Remote, beside: Iterable[str] = ()) -> RemoteRefs:
        """The branches and tags as they are at the remote now, and those of the full names `beside` that it has.

        A caller that no longer waits leaves its slot held until git has ended. Raises PrismError as prism_source.clone.mirror.
        """
        look = asyncio.create_task(self._refs(remote, tuple(beside)))
        self._looking.add(look)
        look.add_done_callback(self._on_looked)
        return await asyncio.shield(look)

    async def _refs(self, remote: Remote, beside: tuple[str, ...]) -> RemoteRefs:
        credentials = await self._credentials(remote)
        look = partial(remote_refs, remote.url, self._rules, extra_refs=beside, credentials=credentials)
        async with self._looks.held(remote.tenant, git_server(remote.url)):
            return await self._remotely(look)

    def _on_looked(self, look: asyncio.Task[RemoteRefs]) -> None:
        self._looking.discard(look)
        if not look.cancelled():
            look.exception()  # known to whoever waited

    async def _remotely(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    @asynccontextmanager
    async def held(self, remote: Remote) -> AsyncIterator[Path]:
        """The mirror as it is, without a look at the remote. Nobody removes it meanwhile; more may be fetched into it.

        Raises REF_NOT_FOUND if there is none.
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
    async def fetched(self, remote: Remote, lane: Lane = Lane.LIVE) -> AsyncIterator[Mirror]:
        """The ref as it is at the remote now. Nobody else fetches into the mirror or removes it meanwhile.

        Fetching waits for a slot of the tenant in the lane; the slot is free again when this yields.

        Raises PrismError as prism_source.clone.mirror.
        """
        folder = self._folder(remote)
        use = self._use(folder)
        async with use.adding:
            async with self._fetches[lane].held(remote.tenant, git_server(remote.url)):
                mirrored = await self._fetch(remote, folder, use)
            yield mirrored
        await self._trim(folder)

    async def forget(self, mirrored: Mirror) -> None:
        """Throw a mirror away whose contents cannot be read. Whoever has fetched it calls this."""
        log.warning("deleting the mirror of %s", mirrored.source.url)
        async with self._use(mirrored.git_dir).alone():
            await asyncio.to_thread(_remove, mirrored.git_dir)

    def close(self) -> None:
        """Remove a temporary folder."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._temporary:
            self._temporary.cleanup()

    def _folder(self, remote: Remote) -> Path:
        key = f"{remote.tenant}\0{remote.repo}\0{remote.url}"
        return self._root / hashlib.sha256(key.encode()).hexdigest()[:32]

    def _use(self, folder: Path) -> ReadWriteLock:
        """Of a mirror, or of what is to be it."""
        return self._uses.setdefault(folder.stem, ReadWriteLock())

    async def _credentials(self, remote: Remote) -> str:
        """`user:password`, empty if none are kept for this server: who may set the URL must not learn the password by it."""
        kept = await self._vault.get(remote.tenant, remote.repo)
        if not kept.git_password or git_server(remote.url) != kept.git_host.lower():
            return ""
        return f"{kept.git_username}:{kept.git_password}"

    async def _fetch(self, remote: Remote, folder: Path, use: ReadWriteLock) -> Mirror:
        credentials = await self._credentials(remote)
        made = await self._remotely(partial(self._update, remote, credentials, folder))
        if made is not None:
            return made
        # If the remote is away, a mirror that could not be brought up to date stays.
        fresh = folder.with_suffix(FRESH)
        made = await self._remotely(partial(self._clone, remote, credentials, fresh))
        async with use.alone():
            await asyncio.to_thread(_replace, folder, fresh)
        return made._replace(git_dir=folder)

    def _update(self, remote: Remote, credentials: str, folder: Path) -> Mirror | None:
        """None if there is no mirror, or something is wrong with it."""
        if not folder.exists():
            return None
        try:
            if _packs(folder) > PACKS_MAX:
                merge_packs(folder, self._rules.seconds_max)
            made = self._bring(remote, credentials, folder)
        except PrismError as error:
            if error.code not in SUSPICIOUS:
                raise
            log.warning("cannot update the mirror of %s: %s", remote.url, error)
            return None
        os.utime(folder)
        return made

    def _clone(self, remote: Remote, credentials: str, fresh: Path) -> Mirror:
        _remove(fresh)
        return self._bring(remote, credentials, fresh)

    def _bring(self, remote: Remote, credentials: str, folder: Path) -> Mirror:
        return mirror(remote.url, folder, self._rules, ref=remote.ref, credentials=credentials)

    async def _trim(self, fetched: Path) -> None:
        """Remove the least recently used mirrors until the rest fits; one in use stays."""
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
    """Seconds of the clock; 0 if it is gone."""
    return folder.stat().st_mtime if folder.exists() else 0.0


def _bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
