"""Bare git repositories on the disk, in which git fetches, pushes and makes bundles.

They are caches: what is missing is written from NATS or fetched again, and a copy that starts has none. A pack is
added whole or not at all, so a commit that is there has everything that it leads to.
"""

import asyncio
import contextvars
import errno
import shutil
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from dulwich.objects import Blob, ObjectID, ShaFile
from dulwich.repo import Repo

from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_source.clone_url import CloneRules
from prism_source.git import READ_LIMITS, GitFailed, isolated_environment, run_git
from prism_source.remote import NO_SPACE, disk_full, fetch_branch, push_branch
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.core.commits import FOLDER_MODE

# Transfers at once, each with git processes of its own.
TRANSFERS_MAX = 4
SECONDS_MAX = 60.0
OBJECTS_MAX = 500_000
# Objects that are read from the disk, or written to NATS, at once.
BATCH = 500
SUBMODULE_MODE = 0o160000

Result = TypeVar("Result")


@dataclass(frozen=True)
class TeamRemote:
    """Where a branch is, and the login."""

    url: str
    branch: str
    credentials: str = ""  # `user:password`; for ssh, the password is a private key


class Scratch:
    """The repositories of this process. One task at a time may use that of a tenant."""

    def __init__(self, rules: CloneRules) -> None:
        self._rules = rules
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        # Slow servers must not occupy the threads that the rest of this process uses.
        self._threads = ThreadPoolExecutor(TRANSFERS_MAX, thread_name_prefix="remote")

    def close(self) -> None:
        """Delete them."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._temporary:
            self._temporary.cleanup()

    @property
    def _root(self) -> Path:
        """Their folder, which a process without a remote never makes."""
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(
                prefix="prism-documents-", ignore_cleanup_errors=True
            )
        return Path(self._temporary.name)

    async def drop(self, tenant: str) -> None:
        """Delete the repository of a tenant: it may be damaged."""
        await self._run(partial(shutil.rmtree, self._root / tenant, ignore_errors=True))

    async def trim(self, tenant: str) -> None:
        """Delete the repository of a tenant if all of them together take more space than one may."""
        if await self._run(partial(_bytes, self._root)) > self._rules.bytes_max:
            await self.drop(tenant)

    async def fetch(self, tenant: str, remote: TeamRemote) -> str:
        """Fetch a branch. Returns its newest commit, empty if the remote has no such branch.

        Raises PrismError as prism_source.remote.fetch_branch.
        """
        folder = await self._folder(tenant)
        fetch = partial(fetch_branch, remote.url, folder, self._rules, remote.branch)
        return await self._run(partial(fetch, credentials=remote.credentials))

    async def push(self, tenant: str, remote: TeamRemote, commit: str) -> bool:
        """Push a commit that is here. Returns False if the remote has commits that it does not follow.

        Raises PrismError as prism_source.remote.push_branch.
        """
        folder = await self._folder(tenant)
        push = partial(push_branch, remote.url, folder, self._rules, remote.branch, commit)
        return await self._run(partial(push, credentials=remote.credentials))

    async def fill(self, tenant: str, objects: GitObjects, commit: str) -> None:
        """Bring a commit and everything that it leads to from NATS. Raises STORE_DAMAGED, DISK_FULL."""
        folder = await self._folder(tenant)
        if not commit or await self._run(partial(_has, folder, commit)):
            return
        missing: dict[str, ShaFile] = {}
        commits = [commit]
        while commits:
            sha = commits.pop()
            if sha in missing or await self._run(partial(_has, folder, sha)):
                continue
            found = await objects.commit(tenant, sha)
            missing[sha] = found
            commits += [parent.decode() for parent in found.parents]
            await self._fill_tree(tenant, objects, folder, found.tree.decode(), missing)
        await self._run(partial(_add, folder, list(missing.values())))

    async def _fill_tree(
        self, tenant: str, objects: GitObjects, folder: Path, sha: str, missing: dict[str, ShaFile]
    ) -> None:
        if sha in missing or await self._run(partial(_has, folder, sha)):
            return
        tree = await objects.tree(tenant, sha)
        missing[sha] = tree
        entries = [entry for entry in tree.items() if entry.mode != SUBMODULE_MODE]
        for entry in entries:
            if entry.mode == FOLDER_MODE:
                await self._fill_tree(tenant, objects, folder, entry.sha.decode(), missing)
        blobs = {entry.sha.decode() for entry in entries if entry.mode != FOLDER_MODE} - missing.keys()
        wanted = await self._run(lambda: [one for one in blobs if not _has(folder, one)])
        for start in range(0, len(wanted), BATCH):
            batch = wanted[start : start + BATCH]
            found = await asyncio.gather(*(objects.blob(tenant, one) for one in batch))
            missing |= {one: Blob.from_string(body) for one, body in zip(batch, found, strict=True)}

    async def keep(self, tenant: str, objects: GitObjects, commit: str, known: str) -> None:
        """Write to NATS what leads to a commit here, and not to `known`, which NATS has already."""
        folder = await self._folder(tenant)
        shas = await self._run(partial(_reachable, folder, commit, known))
        for start in range(0, len(shas), BATCH):
            batch = await self._run(partial(_read, folder, shas[start : start + BATCH]))
            await objects.write(tenant, batch)

    async def merge_base(self, tenant: str, first: str, second: str) -> str:
        """Returns the newest commit that leads to both, empty if there is none."""
        folder = await self._folder(tenant)
        return await self._run(partial(_merge_base, folder, first, second))

    async def bundle(
        self, tenant: str, commit: str, branch: str, path: Path, bytes_max: int
    ) -> tuple[bytes | None, int]:
        """Write a bundle of a commit that is here, as a branch and as HEAD.

        Returns it and its size in bytes; one that is larger than `bytes_max` is not read.
        """
        folder = await self._folder(tenant)
        await self._run(partial(_bundle, folder, commit, branch, path))
        size = (await self._run(path.stat)).st_size
        return (await self._run(path.read_bytes) if size <= bytes_max else None), size

    async def _folder(self, tenant: str) -> Path:
        return await self._run(partial(_made, self._root / tenant))

    async def _run(self, work: Callable[[], Result]) -> Result:
        try:
            # Threads of a pool have no context of their own accord.
            in_context = partial(contextvars.copy_context().run, work)
            return await asyncio.get_running_loop().run_in_executor(self._threads, in_context)
        except (OSError, GitFailed) as error:
            raise _explained(error) from error


def _explained(error: OSError | GitFailed) -> PrismError:
    reason = reason_of(error)
    if getattr(error, "errno", 0) in {errno.ENOSPC, errno.EDQUOT} or NO_SPACE in reason:
        return disk_full()
    return PrismError(
        ErrorCode.UNAVAILABLE,
        f"git cannot use its folder for temporary files: {reason}",
        "Wait: it is made again. Nothing is lost.",
    )


def _bytes(root: Path) -> int:
    return sum(path.lstat().st_size for path in root.rglob("*") if path.is_file())


def _made(folder: Path) -> Path:
    if not (folder / "HEAD").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _git(folder, "init", "--bare", "--quiet", "--template=")
    return folder


def _has(folder: Path, sha: str) -> bool:
    with Repo(str(folder)) as repo:
        return ObjectID(sha.encode()) in repo.object_store


def _add(folder: Path, objects: list[ShaFile]) -> None:
    with Repo(str(folder)) as repo:
        repo.object_store.add_objects([(one, None) for one in objects])


def _read(folder: Path, shas: Iterable[str]) -> list[ShaFile]:
    with Repo(str(folder)) as repo:
        return [repo.object_store[ObjectID(sha.encode())] for sha in shas]


def _reachable(folder: Path, commit: str, known: str) -> list[str]:
    """Returns what leads to a commit and not to `known`: blobs and trees before the commits that need them."""
    without = [f"^{known}"] if known else []
    listed = _git(
        folder, "rev-list", "--objects", "--reverse", f"--max-count={OBJECTS_MAX + 1}", commit, *without
    )
    shas = [line.partition(b" ")[0].decode() for line in listed.splitlines()]
    if len(shas) > OBJECTS_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The branch of the remote has more than {OBJECTS_MAX:,} objects.",
            "Use a repository for documents alone.",
        )
    return shas


def _merge_base(folder: Path, first: str, second: str) -> str:
    try:
        return _git(folder, "merge-base", first, second).decode().strip()
    except GitFailed as error:
        if error.stderr:
            raise
        return ""


def _bundle(folder: Path, commit: str, branch: str, path: Path) -> None:
    _git(folder, "update-ref", f"refs/heads/{branch}", commit)
    _git(folder, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
    _git(folder, "bundle", "create", "--quiet", str(path), "HEAD", f"refs/heads/{branch}")


def _git(folder: Path, *arguments: str) -> bytes:
    return run_git(
        folder,
        *arguments,
        environment={**isolated_environment(), "GIT_DIR": str(folder)},
        seconds_max=SECONDS_MAX,
        limits=READ_LIMITS,
    )
