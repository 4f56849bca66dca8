"""The overlay of a work tree: what it has otherwise than what the server serves of its branch, or else of the base.

Sent is what the server then lacks. When what is served moves, the server refuses the old difference, and a new one is made.
"""

import asyncio
import base64
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from prism_cli.client import Prism
from prism_cli.exits import CommandError
from prism_cli.sync.memory import Memory
from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode
from prism_contracts.records import FINAL_STATES, Job
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.imports import EDIT_FILES_MAX
from prism_source.checkout import Checkout, Status
from prism_source.edits import Comparison, EditLimits, Edits
from prism_source.limits import MIB

# In base64 and JSON it is as much as the gateway takes of an edit.
EDITS = EditLimits(files_max=EDIT_FILES_MAX, bytes_max=5 * MIB)
# What the index lists and a work tree has no text for.
NO_FILES = frozenset({SkipReason.SYMLINK, SkipReason.SUBMODULE, SkipReason.SPECIAL, SkipReason.PATH_INVALID})
# What is served may move while the difference is made, and the overlay may have expired: more often is no accident.
ATTEMPTS_MAX = 4
# Between two looks at a job: edits of a few files are searchable after some tenths of a second.
FIRST_LOOK_S = 0.02
LOOK_MAX_S = 0.5
SEARCHABLE_SECONDS_MAX = 60.0


class _Below(NamedTuple):
    """What the overlay lies on, and the work tree beside it."""

    receipt: Receipt
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Synced:
    """How the overlay stands. `job` is None if nothing had to be sent."""

    handle: str
    repo: str
    branch: str
    base_ref: str
    base_commit: str
    edits: Edits
    expires_at: datetime | None
    job: Job | None

    @property
    def is_searchable(self) -> bool:
        """Whether questions see all of it."""
        return self.job is None or self.job.state in FINAL_STATES

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(len(content or b"") for content in self.edits.contents.values())


class Overlay:
    """The overlay of a checkout on a server. Not for two tasks."""

    def __init__(self, prism: Prism, checkout: Checkout, repo: str, memory: Memory, ttl_s: int) -> None:
        self._prism = prism
        self._checkout = checkout
        self._repo = repo
        self._memory = memory
        self._ttl_s = ttl_s
        self._handle = memory.handle(repo)
        self._branch = ""
        self._below: _Below | None = None
        self._synced: Synced | None = None
        self._renewed_at = 0.0

    async def sync(self, *, look_below: bool = False) -> Synced:
        """Bring it up to date, and wait until it is searchable; the same object as before if nothing was to be done.

        What is served is looked at if `look_below`, or if the server says that it is not what it was.
        Raises CommandError, PrismError (of the source).
        """
        refusals: list[str] = []
        while True:
            try:
                return await self._sync(look_below=look_below)
            except CommandError as error:
                refusals.append(error.code)
                if not self._can_recover(refusals):
                    raise

    async def close(self) -> bool:
        """Have it forgotten; False if there was none."""
        handle, self._handle = self._handle, ""
        if not handle:
            return False
        try:
            await self._prism.close_overlay(self._repo, handle)
        except CommandError as error:
            if error.code != ErrorCode.REF_NOT_FOUND:
                raise
        self._memory.forget()
        return True

    async def _sync(self, *, look_below: bool) -> Synced:
        status = await asyncio.to_thread(self._checkout.status)
        below = await self._look_below(status, again=look_below)
        edits = await asyncio.to_thread(below.comparison.edits, status)
        known = self._synced
        if known and self._is_as_sent(known, status, below.receipt, edits):
            return known
        return await self._send(status, below.receipt, edits)

    def _is_as_sent(self, known: Synced, status: Status, receipt: Receipt, edits: Edits) -> bool:
        """Whether the overlay is what is wanted, and lives for half of its time yet."""
        is_young = time.monotonic() < self._renewed_at + self._ttl_s / 2
        wanted = (status.branch, receipt.ref, receipt.indexed_commit, edits)
        return is_young and (known.branch, known.base_ref, known.base_commit, known.edits) == wanted

    async def _look_below(self, status: Status, *, again: bool) -> _Below:
        if self._below and not again and self._branch == status.branch:
            return self._below
        receipt = await self._receipt(status.branch)
        if self._below is None or _state(receipt) != _state(self._below.receipt):
            served = await self._served(receipt)
            self._below = _Below(receipt, Comparison(self._checkout, served, EDITS))
        self._branch = status.branch
        return self._below

    async def _receipt(self, branch: str) -> Receipt:
        """Of the branch's layer, if there is one, else of the base."""
        if branch:
            try:
                return await self._prism.receipt(self._repo, branch)
            except CommandError as error:
                if error.code != ErrorCode.REF_NOT_FOUND:
                    raise
        return await self._prism.receipt(self._repo)

    async def _served(self, receipt: Receipt) -> dict[str, str]:
        """The blobs of what is served: by git if that is a commit that is here, else as the server lists them."""
        if not receipt.indexed_commit:
            raise CommandError(
                f"{self._repo} is not indexed yet.",
                "Wait for its first import to end; `prism status` shows it.",
                code=ErrorCode.REF_NOT_FOUND.value,
            )
        is_whole = not receipt.dirty and not receipt.files_missing
        if is_whole and await asyncio.to_thread(self._checkout.has, receipt.indexed_commit):
            return await asyncio.to_thread(self._checkout.tree, receipt.indexed_commit)
        files = await self._prism.files(self._repo, receipt.ref)
        return {file.file_path: file.blob for file in files if file.skipped not in NO_FILES}

    async def _send(self, status: Status, receipt: Receipt, edits: Edits) -> Synced:
        opened = await self._prism.open_overlay(
            {
                "repo": self._repo,
                "base_ref": receipt.ref,
                "base_commit": receipt.indexed_commit,
                "handle": self._handle,
                "files": [_file(path, content) for path, content in edits.contents.items()],
                "ttl_s": self._ttl_s,
            }
        )
        self._handle, self._renewed_at = opened.handle, time.monotonic()
        self._memory.keep(self._repo, opened.handle)
        self._synced = Synced(
            handle=opened.handle,
            repo=self._repo,
            branch=status.branch,
            base_ref=receipt.ref,
            base_commit=receipt.indexed_commit,
            edits=edits,
            expires_at=opened.expires_at,
            job=await self._settled(opened.job) if opened.job else None,
        )
        return self._synced

    async def _settled(self, job: Job) -> Job:
        """The job at its end, or after a while."""
        pause_s = FIRST_LOOK_S
        ends_at = time.monotonic() + SEARCHABLE_SECONDS_MAX
        while job.state not in FINAL_STATES and time.monotonic() < ends_at:
            await asyncio.sleep(pause_s)
            pause_s = min(1.5 * pause_s, LOOK_MAX_S)
            job = await self._prism.job(job.job, patience_s=0)
        return job

    def _can_recover(self, refusals: Sequence[str]) -> bool:
        """Whether another attempt may do better: from what is served now on, and then without the overlay that there was."""
        self._below = None
        if refusals[-1] == ErrorCode.REF_NOT_FOUND:
            if not self._handle:
                return False
            if refusals.count(ErrorCode.REF_NOT_FOUND) > 1:
                self._handle = ""
        elif refusals[-1] != ErrorCode.BASE_MISMATCH:
            return False
        return len(refusals) < ATTEMPTS_MAX


def _state(receipt: Receipt) -> tuple[object, ...]:
    return receipt.ref, receipt.indexed_commit, receipt.dirty, receipt.files_missing, receipt.corpus_version


def _file(path: str, content: bytes | None) -> dict[str, Any]:
    """A file as the gateway takes it: its text, or its bytes if they are not UTF-8; neither if it is gone."""
    if content is None:
        return {"path": path, "content": None}
    try:
        return {"path": path, "content": content.decode()}
    except UnicodeDecodeError:
        return {"path": path, "content_base64": base64.b64encode(content).decode()}
