"""Repositories as they were last fetched, kept from one push to the next: a push then brings only what is new.

A mirror is a cache and nothing else. One that cannot be read or brought up to date is thrown away and cloned again; past
the limit the least recently used go. Mirrors of different tenants or credentials are never shared.
"""

import asyncio
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from prism_contracts.errors import ErrorCode, PrismError
from prism_ingest.settings import IngestSettings
from prism_runtime.vault import Vault
from prism_source.clone import CloneRules, Mirror, RemoteRefs, merge_packs, mirror, remote_refs

# Each fetch leaves a pack, and git looks a blob up in each: past so many they are merged.
PACKS_MAX = 64
# What may be wrong with the mirror rather than with the remote.
SUSPICIOUS = frozenset({ErrorCode.CLONE_FAILED, ErrorCode.SOURCE_UNREADABLE, ErrorCode.SOURCE_NOT_FOUND})

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
        self._rules = CloneRules(
            schemes=frozenset(settings.clone_schemes.split(",")),
            allow_private=settings.clone_allow_private,
            bytes_max=settings.clone_bytes_max,
            seconds_max=settings.clone_seconds_max,
        )
        self._bytes_max = settings.cache_bytes_max
        self._temporary = None if settings.cache_dir else tempfile.TemporaryDirectory(prefix="prism-cache-")
        self._root = Path(self._temporary.name if self._temporary else settings.cache_dir) / "mirrors"
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def rules(self) -> CloneRules:
        """What may be cloned."""
        return self._rules

    async def refs(self, remote: Remote, beside: Iterable[str] = ()) -> RemoteRefs:
        """The branches and tags as they are at the remote now, and those of the full names `beside` that it has.

        Raises PrismError as prism_source.clone.mirror.
        """
        credentials = await self._credentials(remote)
        return await asyncio.to_thread(
            remote_refs, remote.url, self._rules, beside=beside, credentials=credentials
        )

    @asynccontextmanager
    async def held(self, remote: Remote) -> AsyncIterator[Path]:
        """The mirror as it is, without a look at the remote. Nobody else uses or removes it meanwhile.

        Raises REF_NOT_FOUND if there is none.
        """
        folder = self._folder(remote)
        async with self._locks.setdefault(folder.name, asyncio.Lock()):
            if not folder.exists():
                raise PrismError(
                    ErrorCode.REF_NOT_FOUND,
                    "Prism has not fetched this repository here yet.",
                    "Make a layer of the ref with create_branch_index.",
                )
            yield folder

    @asynccontextmanager
    async def fetched(self, remote: Remote) -> AsyncIterator[Mirror]:
        """The ref as it is at the remote now. Nobody else uses or removes the mirror meanwhile.

        Raises PrismError as prism_source.clone.mirror.
        """
        folder = self._folder(remote)
        lock = self._locks.setdefault(folder.name, asyncio.Lock())
        async with lock:
            yield await asyncio.to_thread(self._fetch, remote, await self._credentials(remote), folder)
        await asyncio.to_thread(self._trim)

    def forget(self, mirrored: Mirror) -> None:
        """Throw a mirror away whose contents cannot be read. Whoever uses it calls this."""
        log.warning("the mirror of %s is thrown away", mirrored.source.url)
        shutil.rmtree(mirrored.git_dir, ignore_errors=True)

    def close(self) -> None:
        """Remove a temporary folder."""
        if self._temporary:
            self._temporary.cleanup()

    def _folder(self, remote: Remote) -> Path:
        key = f"{remote.tenant}\0{remote.repo}\0{remote.url}"
        return self._root / hashlib.sha256(key.encode()).hexdigest()[:32]

    async def _credentials(self, remote: Remote) -> str:
        """`user:password`, empty if none are kept for this server: who may set the URL must not learn the password by it."""
        kept = await self._vault.get(remote.tenant, remote.repo)
        if not kept.git_password or urlsplit(remote.url).netloc.lower() != kept.git_host.lower():
            return ""
        return f"{kept.git_username}:{kept.git_password}"

    def _fetch(self, remote: Remote, credentials: str, folder: Path) -> Mirror:
        is_old = folder.exists()
        try:
            if _packs(folder) > PACKS_MAX:
                merge_packs(folder, self._rules.seconds_max)
            made = self._bring(remote, credentials, folder)
        except PrismError as error:
            if not is_old or error.code not in SUSPICIOUS:
                raise
            log.warning("the mirror of %s cannot be brought up to date: %s", remote.url, error)
            made = self._replace(remote, credentials, folder)
        os.utime(folder)
        return made

    def _replace(self, remote: Remote, credentials: str, folder: Path) -> Mirror:
        """Clone afresh beside a mirror that could not be brought up to date: if the remote is away, it stays."""
        fresh = folder.with_suffix(".fresh")
        shutil.rmtree(fresh, ignore_errors=True)
        made = self._bring(remote, credentials, fresh)
        shutil.rmtree(folder)
        fresh.rename(folder)
        return made._replace(git_dir=folder)

    def _bring(self, remote: Remote, credentials: str, folder: Path) -> Mirror:
        return mirror(remote.url, folder, self._rules, ref=remote.ref, credentials=credentials)

    def _trim(self) -> None:
        """Remove mirrors until the rest fits; one in use stays."""
        if not self._root.exists():
            return
        oldest_first = sorted(self._root.iterdir(), key=lambda folder: folder.stat().st_mtime)
        sizes = {folder: _bytes(folder) for folder in oldest_first}
        total = sum(sizes.values())
        for folder in oldest_first:
            lock = self._locks.get(folder.stem)
            if total <= self._bytes_max:
                return
            if lock is None or not lock.locked():
                shutil.rmtree(folder, ignore_errors=True)
                total -= sizes[folder]


def _packs(folder: Path) -> int:
    return sum(1 for _ in folder.glob("objects/pack/*.pack"))


def _bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
