"""Which repositories a question is about, and how fresh they are."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from rapidfuzz import process

from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository
from prism_contracts.rpc import SEVERAL_REPOSITORIES, Receipt, Scope, ScopedRequest
from prism_runtime.records import WatchedRecords
from prism_store.reader import Reader, with_status

COUNTS_KEPT_S = 1.0
NAMES_SHOWN_MAX = 20
CACHED_SCOPES_MAX = 1_000


class Target(NamedTuple):
    """Where a question goes."""

    scope: Scope
    repositories: tuple[Repository, ...]
    ref: str = ""  # the layer, as the caller says it

    def name_of(self, scope_value: str) -> str:
        """The name of the repository that a point's field `scope` names."""
        repo = scope_value.partition("/")[0]
        return next((known.name for known in self.repositories if known.repo == repo), repo)

    @property
    def is_quiet(self) -> bool:
        """Whether the newest import of every repository has ended well: nothing is being written."""
        return all(known.is_quiet for known in self.repositories)

    @property
    def versions(self) -> tuple[int, ...]:
        """Of each repository the version that the next import will get."""
        return tuple(known.next_version for known in self.repositories)

    @property
    def corpus_version(self) -> int:
        """Grows with the beginning and with the end of every import that any of the repositories has seen."""
        served = sum(known.served.version for known in self.repositories if known.served)
        return served + sum(known.next_version for known in self.repositories)


class Counts(NamedTuple):
    """Files of a target by status and by reason, and when they were counted."""

    at: float
    by_status: dict[str, int]
    by_reason: dict[str, int]


class Repositories:
    """Resolves names, writes receipts."""

    def __init__(self, records: WatchedRecords[Repository], reader: Reader) -> None:
        self._records = records
        self._reader = reader
        self._counts: dict[tuple[Scope, int], Counts] = {}
        self._counting: dict[tuple[Scope, int], asyncio.Task[Counts]] = {}

    def of_tenant(self, tenant: str) -> list[Repository]:
        """All repositories of a tenant, by name."""
        return sorted((r for r in self._records.values() if r.tenant == tenant), key=lambda r: r.name)

    def target(self, request: ScopedRequest, *, single: bool = False) -> Target:
        """Raises REPO_NOT_FOUND (saying which exist), REPO_AMBIGUOUS if `single` and several could be meant."""
        mine = self.of_tenant(request.tenant)
        if not mine:
            raise PrismError(
                ErrorCode.REPO_NOT_FOUND,
                "No repository is indexed yet.",
                "Index one: `prism index PATH`, or the tool index_repository.",
            )
        chosen = [r for r in mine if request.repo.lower() in {"", r.name.lower(), r.repo}]
        if not chosen:
            raise _unknown(request.repo, [r.name for r in mine])
        if single and len(chosen) > 1:
            raise PrismError(
                ErrorCode.REPO_AMBIGUOUS,
                f"{len(chosen)} repositories are indexed; which one is meant?",
                "Name it with the argument repo or the header X-Prism-Repo.",
                repositories=[r.name for r in chosen[:NAMES_SHOWN_MAX]],
            )
        scope = Scope(tenant=request.tenant, repos=tuple(r.repo for r in chosen))
        return Target(scope, tuple(chosen), request.ref)

    def each(self) -> list[Target]:
        """Every repository of every tenant, each a target of its own."""
        return [
            Target(Scope(tenant=known.tenant, repos=(known.repo,)), (known,))
            for known in self._records.values()
        ]

    async def is_newest(self, request: ScopedRequest, target: Target) -> bool:
        """Whether a request's target is still what it was found to be, by all that NATS knows. Raises if NATS is away."""
        return await self._records.is_current() and self.target(request) == target

    def everything(self, target: Target) -> Target:
        """All of the target's tenant, in the same layer."""
        mine = self.of_tenant(target.scope.tenant)
        return Target(target.scope.model_copy(update={"repos": tuple(r.repo for r in mine)}), tuple(mine))

    def is_whole(self, target: Target) -> bool:
        """Whether a target is all that its tenant has in the store, by what has been heard: every repository, and no import
        is under way.
        """
        return self.everything(target).scope == target.scope and target.is_quiet

    async def receipt(
        self, target: Target, missing_legs: Sequence[str] = (), *, cached: bool = False
    ) -> Receipt:
        """How fresh and how complete an answer of this target is."""
        _, by_status, by_reason = await self._counts_of(target)
        repositories = target.repositories
        served = [known.served for known in repositories if known.served]
        one = repositories[0] if len(repositories) == 1 else None
        now = datetime.now(UTC)
        return Receipt(
            repo=one.name if one else SEVERAL_REPOSITORIES,
            indexed_commit=served[0].commit if one and served else "",
            head_commit=one.head_commit if one else "",
            lag_seconds=max((r.lag_s(now) for r in repositories), default=0.0),
            indexed_at=min((state.indexed_at for state in served), default=None),
            corpus_version=target.corpus_version,
            files_indexed=by_status.get(FileStatus.INDEXED, 0),
            files_skipped=by_status.get(FileStatus.SKIPPED, 0),
            files_failed=by_status.get(FileStatus.FAILED, 0),
            skipped_reasons=by_reason,
            missing_legs=tuple(missing_legs),
            dirty=any(state.dirty for state in served),
            cached=cached,
        )

    async def _counts_of(self, target: Target) -> Counts:
        """Files by status and reason. Known figures are given at once and counted again behind the answer."""
        key = (target.scope, target.corpus_version)
        known = self._counts.get(key)
        if known is None:
            return await self._count(target)
        is_old = not target.is_quiet and time.monotonic() - known.at > COUNTS_KEPT_S
        if is_old and key not in self._counting:
            self._counting[key] = asyncio.create_task(self._count(target))
            self._counting[key].add_done_callback(lambda _: self._counting.pop(key, None))
        return known

    async def _count(self, target: Target) -> Counts:
        skipped = [with_status(FileStatus.SKIPPED, FileStatus.FAILED)]
        by_status, by_reason = await asyncio.gather(
            self._reader.counts_by(target.scope, "status"),
            self._reader.counts_by(target.scope, "reason", skipped),
        )
        if len(self._counts) >= CACHED_SCOPES_MAX:
            self._counts.clear()
        counts = Counts(time.monotonic(), by_status, by_reason)
        self._counts[target.scope, target.corpus_version] = counts
        return counts


def _unknown(name: str, names: list[str]) -> PrismError:
    near = [match for match, _, _ in process.extract(name, names, limit=3, score_cutoff=60)]
    return PrismError(
        ErrorCode.REPO_NOT_FOUND,
        f"There is no repository {name}.",
        f"Did you mean {near[0]}?" if near else "Use one of the names in details.repositories.",
        repositories=names[:NAMES_SHOWN_MAX],
    )
