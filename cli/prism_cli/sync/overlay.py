"""The overlay of a work tree: its difference from the branch that the server serves, or from the base.

Only changes since the last update are sent. When the served commit moves, the server refuses the old
difference, and a new one is computed.
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
from prism_cli.sync.memory import RememberedOverlay
from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode
from prism_contracts.records import FINAL_STATES, Job
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.imports import EDIT_FILES_MAX
from prism_source.checkout import Checkout, Status
from prism_source.edits import Comparison, EditLimits, WorkTreeEdits
from prism_source.limits import MIB

# In base64 and JSON this reaches the gateway's limit of one edit.
EDITS = EditLimits(files_max=EDIT_FILES_MAX, bytes_max=5 * MIB)
# Files that the index lists and whose text is not in the work tree.
NO_FILES = frozenset({SkipReason.SYMLINK, SkipReason.SUBMODULE, SkipReason.SPECIAL, SkipReason.PATH_INVALID})
# The served commit may move while the difference is computed, and the overlay may have expired. More attempts
# than this mean an error.
ATTEMPTS_MAX = 4
# Between two polls of a job: edits of a few files are searchable within some tenths of a second.
FIRST_LOOK_S = 0.02
LOOK_MAX_S = 0.5
SEARCHABLE_SECONDS_MAX = 60.0


class _Below(NamedTuple):
    """The version below the overlay, and the work tree."""

    receipt: Receipt
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Synced:
    """The state of the overlay. `job` is None if nothing had to be sent."""

    handle: str
    repo: str
    branch: str
    base_ref: str
    base_commit: str
    edits: WorkTreeEdits
    expires_at: datetime | None
    job: Job | None

    @property
    def is_searchable(self) -> bool:
        """Whether all of it is searchable."""
        return self.job is None or self.job.state in FINAL_STATES

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(len(content or b"") for content in self.edits.contents.values())


class CheckoutOverlay:
    """The overlay of a checkout on a server. Not safe for concurrent tasks."""

    def __init__(
        self, prism: Prism, checkout: Checkout, repo: str, memory: RememberedOverlay, ttl_s: int
    ) -> None:
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
        """Update the overlay, and wait until it is searchable. Returns the same object if nothing changed.

        Compares with the served commit if `look_below`, or if the server reports that it moved. Raises
        CommandError, PrismError (of the source).
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
        """Close the overlay. False if there was none."""
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

    def _is_as_sent(self, known: Synced, status: Status, receipt: Receipt, edits: WorkTreeEdits) -> bool:
        """Whether the overlay has the wanted contents, and at least half of its lifetime left."""
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
        """Returns the receipt of the branch's layer if it exists, else of the base."""
        if branch:
            try:
                return await self._prism.receipt(self._repo, branch)
            except CommandError as error:
                if error.code != ErrorCode.REF_NOT_FOUND:
                    raise
        return await self._prism.receipt(self._repo)

    async def _served(self, receipt: Receipt) -> dict[str, str]:
        """Returns the served blobs: from git if the served commit is in the clone, else from the server's
        list.
        """
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

    async def _send(self, status: Status, receipt: Receipt, edits: WorkTreeEdits) -> Synced:
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
        """Returns the job at its end, or as it is after a while."""
        pause_s = FIRST_LOOK_S
        ends_at = time.monotonic() + SEARCHABLE_SECONDS_MAX
        while job.state not in FINAL_STATES and time.monotonic() < ends_at:
            await asyncio.sleep(pause_s)
            pause_s = min(1.5 * pause_s, LOOK_MAX_S)
            job = await self._prism.job(job.job, patience_s=0)
        return job

    def _can_recover(self, refusals: Sequence[str]) -> bool:
        """Whether another attempt may succeed: with the served commit of now, and then without the old
        overlay.
        """
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
    """Returns a file in the gateway's form: its text, its bytes if they are not UTF-8, or neither if it is
    deleted.
    """
    if content is None:
        return {"path": path, "content": None}
    try:
        return {"path": path, "content": content.decode()}
    except UnicodeDecodeError:
        return {"path": path, "content_base64": base64.b64encode(content).decode()}
