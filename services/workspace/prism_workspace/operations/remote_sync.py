"""Keeps the documents of each tenant and its remote together: fetches, puts our commits on top, and pushes.

A push is never forced. What the remote has that the documents lack is fetched first, and ours are replayed on top
of it. Each step leaves what it did where the next one finds it: objects in NATS, then a mark and the branch, then
the records, then the remote, then the record of the remote. A process that dies in between loses nothing and does
nothing twice, because the next look begins by comparing. See docs/decisions/0052-the-remote-of-documents.md.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.records import DocumentRemote
from prism_runtime.tasks import cancelled
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.adapters.git_refs import GitRefs, Head
from prism_workspace.adapters.remotes import Remotes
from prism_workspace.adapters.scratch import Scratch, TeamRemote
from prism_workspace.operations.remote_intake import RemoteIntake
from prism_workspace.operations.remote_settings import is_pending, not_set
from prism_workspace.operations.replay import Replay
from prism_workspace.operations.turns import BranchTurns

ROUND_S = 1.0
# How often a look begins again because the remote, or the branch, moved meanwhile.
RACES_MAX = 20
PAUSE_S_MAX = 0.1
# After a failure, doubled by each further one.
RETRY_S = 5.0
RETRY_S_MAX = 900.0

# Failures that are not about the folder for temporary files, which another try may find damaged or full.
ITS_FAULT = frozenset({ErrorCode.GIT_ERROR, ErrorCode.REMOTE_REFUSED, ErrorCode.CLONE_REFUSED})

Login = Callable[[str, str], Awaitable[str]]

log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class RemoteSync:
    """The documents and their remotes."""

    def __init__(
        self,
        remotes: Remotes,
        objects: GitObjects,
        refs: GitRefs,
        *,
        scratch: Scratch,
        intake: RemoteIntake,
        turns: BranchTurns,
        login: Login,
        interval_s: float,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """`login` returns the credentials of a tenant for a URL; a remote is looked at every `interval_s` seconds."""
        self._remotes = remotes
        self._objects = objects
        self._refs = refs
        self._scratch = scratch
        self._intake = intake
        self._turns = turns
        self._login = login
        self._interval_s = interval_s
        self._now = now
        self._replay = Replay(objects)
        self._running: dict[str, asyncio.Task[PrismError | None]] = {}
        self._asked: set[str] = set()

    async def run(self) -> None:
        """Look at each remote when it is due, until cancelled."""
        try:
            while True:
                try:
                    await self.round()
                except Exception as error:  # noqa: BLE001 - the next round runs in any case
                    log.warning("cannot look at the remotes of documents: %s", reason_of(error))
                await asyncio.sleep(ROUND_S)
        finally:
            await cancelled(*self._running.values())

    async def round(self) -> None:
        """Begin to look at the remotes that are due, and that no other copy is looking at."""
        for remote in self._remotes.known():
            is_due = remote.next_at <= self._now() and remote.tenant not in self._running
            if is_due and await self._claim(remote.tenant):
                self._begin(remote.tenant)

    async def push(self, tenant: str, wait_s: float) -> PrismError | None:
        """Push what is committed, waiting `wait_s` seconds at most. Whatever is not done then goes on by itself.

        Returns why the push failed, if it did by then. Raises REMOTE_NOT_SET.
        """
        await self.want(tenant)
        self._asked.add(tenant)
        task = self._begin(tenant)
        done, _ = await asyncio.wait([task], timeout=wait_s)
        return task.result() if done else None

    async def want(self, tenant: str) -> None:
        """Have what is committed pushed, by a look that is due now. Raises REMOTE_NOT_SET."""
        wanted = {"wants_push": True, "next_at": self._now()}
        if await self._remotes.change(tenant, lambda found: found.model_copy(update=wanted)) is None:
            raise not_set()

    async def _claim(self, tenant: str) -> bool:
        """Returns whether this copy looks at a remote that is due: no other one does until it is due again."""
        now = self._now()
        mine = False

        def change(found: DocumentRemote) -> DocumentRemote:
            nonlocal mine
            mine = found.next_at <= now
            later = {"next_at": now + timedelta(seconds=self._interval_s)}
            return found.model_copy(update=later) if mine else found

        return await self._remotes.change(tenant, change) is not None and mine

    def _begin(self, tenant: str) -> asyncio.Task[PrismError | None]:
        running = self._running.get(tenant)
        if running is None or running.done():
            running = self._running[tenant] = asyncio.create_task(self._look(tenant))
            running.add_done_callback(partial(self._ended, tenant))
        return running

    def _ended(self, tenant: str, task: asyncio.Task[PrismError | None]) -> None:
        if self._running.get(tenant) is task:
            del self._running[tenant]

    async def _look(self, tenant: str) -> PrismError | None:
        """Look at a remote, and again if that was asked for meanwhile. Returns why it failed."""
        while True:
            self._asked.discard(tenant)
            failure = await self._tried(tenant)
            if tenant not in self._asked:
                return failure

    async def _tried(self, tenant: str) -> PrismError | None:
        try:
            await self.sync(tenant)
        except PrismError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - whatever it was, the state says so, and the next look tries again
            log.warning("cannot look at the remote of %s: %s", tenant, reason_of(error))
            failure = PrismError(ErrorCode.UNAVAILABLE, reason_of(error), "Wait: it is tried again.")
        else:
            return None
        log.info("the remote of %s: %s", tenant, failure)
        if failure.code not in ITS_FAULT:
            await self._scratch.drop(tenant)
        await self._remotes.change(tenant, lambda found: _failed(found, failure, self._now()))
        return failure

    async def sync(self, tenant: str) -> None:
        """Take in what the remote has, and push if that is wanted.

        Raises PrismError: REMOTE_REFUSED, GIT_ERROR, CLONE_REFUSED, PAYLOAD_TOO_LARGE, DISK_FULL, UNAVAILABLE,
        STORE_DAMAGED.
        """
        for _ in range(RACES_MAX):
            remote = await self._remotes.get(tenant)
            if remote is None:
                return
            if await self._is_together(remote):
                await self._scratch.trim(tenant)
                return
            await asyncio.sleep(random.random() * PAUSE_S_MAX)  # noqa: S311 - it spreads the copies out
        raise PrismError(
            ErrorCode.GIT_ERROR,
            "Other pushes to the remote were faster each time.",
            "Wait: it is tried again.",
        )

    async def _is_together(self, remote: DocumentRemote) -> bool:
        """Fetch, replay and push once. Returns False if something else moved meanwhile."""
        tenant = remote.tenant
        where = TeamRemote(remote.url, remote.branch, await self._login(tenant, remote.url))
        await self._intake.finish(tenant)
        head = await self._refs.head(tenant)
        theirs = await self._scratch.fetch(tenant, where)
        joined = await self._joined(remote, head.commit, theirs)
        if joined != head.commit and not await self._moved(tenant, head, joined):
            return False
        if theirs:
            await self._note(remote, theirs)
        if joined == theirs or not joined:
            await self._note(remote, theirs, pushed=True)
            return True
        if not remote.wants_push:
            await self._note(remote, theirs)
            return True
        await self._scratch.fill(tenant, self._objects, joined)
        if not await self._scratch.push(tenant, where, joined):
            return False
        await self._note(remote, joined, pushed=True)
        return True

    async def _joined(self, remote: DocumentRemote, head: str, theirs: str) -> str:
        """Returns the commit that has both sides, with everything that leads to it in NATS."""
        tenant, known = remote.tenant, remote.remote_commit
        if not theirs or theirs == head:
            return head
        for ours in (head, known):
            await self._scratch.fill(tenant, self._objects, ours)
        base = await self._scratch.merge_base(tenant, head, theirs) if head else ""
        if known and head and await self._is_rewritten(tenant, known, head, theirs):
            # As `git pull --rebase` does: commits that they have left are not ours, and do not come back.
            log.warning("the remote of %s has left %s; the branch was at %s", tenant, known, head)
            base = known
        elif base == theirs:
            return head
        await self._scratch.keep(tenant, self._objects, theirs, head)
        return theirs if base == head else await self._replay.onto(tenant, base, head, theirs)

    async def _is_rewritten(self, tenant: str, known: str, head: str, theirs: str) -> bool:
        """Whether the remote has left a commit that the documents still follow."""
        return (
            await self._scratch.merge_base(tenant, known, head) == known
            and await self._scratch.merge_base(tenant, known, theirs) != known
        )

    async def _moved(self, tenant: str, head: Head, commit: str) -> bool:
        """Move the branch, and note what that changes. Returns False if the branch has moved since."""
        async with self._turns.of(tenant):
            if await self._refs.head(tenant) != head:
                return False
            await self._refs.begin(tenant, head.commit)
            if not await self._refs.move(tenant, head, commit):
                return False
            await self._intake.finish(tenant)
            return True

    async def _note(self, remote: DocumentRemote, commit: str, *, pushed: bool = False) -> None:
        """Note that the remote answered, and which commit of it the documents have."""
        now = self._now()
        noted = {
            "remote_commit": commit,
            "checked_at": now,
            "next_at": now + timedelta(seconds=self._interval_s),
            "failures": 0,
            "error": None,
        }

        def change(found: DocumentRemote) -> DocumentRemote:
            if (found.url, found.branch) != (remote.url, remote.branch):
                return found
            # What was pushed since this look began may have come after its fetch.
            is_announced = found.announced != remote.announced
            return found.model_copy(update=noted | ({"next_at": now} if is_announced else {}))

        await self._remotes.change(remote.tenant, change)
        if pushed:
            head = (await self._refs.head(remote.tenant)).commit
            await self._remotes.change(remote.tenant, lambda found: _settled(found, head))


def _settled(found: DocumentRemote, head: str) -> DocumentRemote:
    return found if is_pending(found, head) else found.model_copy(update={"wants_push": False})


def _failed(found: DocumentRemote, failure: PrismError, now: datetime) -> DocumentRemote:
    failures = found.failures + 1
    pause_s = min(RETRY_S * 2 ** min(found.failures, 20), RETRY_S_MAX)
    return found.model_copy(
        update={"failures": failures, "error": failure.body, "next_at": now + timedelta(seconds=pause_s)}
    )
