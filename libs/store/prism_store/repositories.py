"""Which repositories a question is about, and how fresh they are."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from rapidfuzz import process

from prism_contracts.base import short_names
from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import OVERLAY_HANDLE, Indexed, Layer, Repository
from prism_contracts.rpc.common import SEVERAL_REPOSITORIES, WAIT_MAX_S, Receipt, ScopedRequest
from prism_runtime.records import WatchedRecords
from prism_store.layers import Layers, is_commit
from prism_store.reader import Reader, summed, with_status
from prism_store.scope import Scope, View

COUNTS_KEPT_S = 1.0
# Between imports nothing changes, unless the store loses something.
COUNTS_KEPT_AT_REST_S = 10.0
NAMES_SHOWN_MAX = 20
WAIT_LOOK_S = 0.02
# Within this, an import that a client has begun is known here.
BEGIN_MAX_S = 1.0
# Files that the listing of an import counts; a removed one leaves a tombstone.
PRESENT = (FileStatus.INDEXED, FileStatus.SKIPPED, FileStatus.FAILED)
CACHED_SCOPES_MAX = 1_000


class Target(NamedTuple):
    """Where a question goes."""

    scope: Scope
    repositories: tuple[Repository, ...]
    layer: Layer | None = None  # of the one repository; None for the base

    def name_of(self, repo: str) -> str:
        """The name of a repository, by its id."""
        return next((known.name for known in self.repositories if known.repo == repo), repo)

    @property
    def ref(self) -> str:
        """What the layer is called; empty for the base."""
        return self.layer.ref if self.layer else ""

    @property
    def base(self) -> "Target":
        """The same repositories without the layer."""
        return Target(self.scope.base, self.repositories)

    @property
    def is_quiet(self) -> bool:
        """Whether the newest import of every repository has ended well: nothing is being written to what is seen.

        What a layer adds is written before it is seen, and never changes.
        """
        return all(known.is_quiet for known in self.repositories)

    @property
    def state(self) -> tuple[str, ...]:
        """What is seen: of each repository its id and the versions served and begun, and what a layer has in the place of the
        base. Of one state that `is_quiet`, the same question is answered the same again.
        """
        view = self.scope.view
        versions = (
            f"{known.repo}.{known.served.version if known.served else 0}.{known.next_version}"
            for known in self.repositories
        )
        return (*versions, *(view.state if view else ()))

    @property
    def corpus_version(self) -> int:
        """Grows with the beginning and with the end of every import that any of the repositories has seen, and with those of
        the layer.
        """
        indexed: list[Indexed] = [*self.repositories, *([self.layer] if self.layer else [])]
        served = sum(known.served.version for known in indexed if known.served)
        return served + sum(known.next_version for known in indexed)


class Counts(NamedTuple):
    """Files of a target by status and by reason, and when they were counted."""

    at: float
    by_status: dict[str, int]
    by_reason: dict[str, int]
    lost: int  # files that were indexed and that the store no longer has


class Repositories:
    """Resolves names and refs, writes receipts."""

    def __init__(self, records: WatchedRecords[Repository], layers: Layers, reader: Reader) -> None:
        self._records = records
        self._layers = layers
        self._reader = reader
        self._counts: dict[tuple[Scope, int], Counts] = {}
        self._counting: dict[tuple[Scope, int], asyncio.Task[Counts]] = {}

    def of_tenant(self, tenant: str) -> list[Repository]:
        """All repositories of a tenant, by name."""
        return sorted((r for r in self._records.values() if r.tenant == tenant), key=lambda r: r.name)

    async def target(self, request: ScopedRequest, *, single: bool = False) -> Target:
        """What a request is about, once it serves the commit that the request waits for.

        Raises REPO_NOT_FOUND (saying which exist), REPO_AMBIGUOUS if `single` or a ref is given and several could be
        meant, REF_NOT_FOUND (saying what is near), DEADLINE_EXCEEDED if WAIT_MAX_S did not bring the commit,
        COMMIT_NOT_INDEXED if nothing is under way that could bring it.
        """
        now = time.monotonic()
        deadline, refusal = now + WAIT_MAX_S, now + BEGIN_MAX_S
        is_single = single or bool(request.ref or request.wait_for_commit)
        while True:
            chosen = self._chosen(request, single=is_single)
            if not request.ref and not request.wait_for_commit:
                return await self._present(_base(request.tenant, chosen))
            try:
                layer = self._layer(chosen[0], request.ref)
            except PrismError:
                until = refusal if _cannot_come(chosen[0]) else deadline
                if not request.wait_for_commit or time.monotonic() > until:
                    raise
            else:
                indexed: Indexed = layer or chosen[0]
                if _serves(indexed, request.wait_for_commit):
                    return await self._present(await self._with_view(request.tenant, chosen, layer))
                if time.monotonic() > deadline:
                    raise _too_late(request, indexed)
                if time.monotonic() > refusal and _cannot_come(chosen[0], indexed.active_job):
                    raise _nothing_brings(request, indexed)
            await asyncio.sleep(WAIT_LOOK_S)

    async def _present(self, target: Target) -> Target:
        """The same target. Raises INDEX_LOST if the store lost files of it."""
        if target.is_quiet and (await self._counts_of(target)).lost:
            await self._refuse_lost(target)
        return target

    async def _refuse_lost(self, target: Target) -> None:
        # This process may not have seen the newest records yet.
        if not await self._records.is_current():
            return
        newest = [self._records.get(known.key) for known in target.repositories]
        if target.layer is None:
            lost = [known.name for known in newest if known and await self.files_lost(known)]
        elif all(known and known.is_quiet for known in newest):
            lost = (
                [f"{target.ref} of {target.repositories[0].name}"] if (await self._count(target)).lost else []
            )
        else:
            lost = []
        if lost:
            raise _lost(lost)

    async def files_lost(self, repository: Repository, layer: Layer | None = None) -> int:
        """How many files the store lost since they were indexed. 0 while an import of the repository runs."""
        if not repository.is_quiet:
            return 0
        return (await self._count(await self._with_view(repository.tenant, [repository], layer))).lost

    def beyond(self, request: ScopedRequest) -> Repository | None:
        """The repository of a request, if that is about a commit which no layer of it serves, and Prism fetches it: then its mirror
        may hold the commit. Raises REPO_NOT_FOUND, REPO_AMBIGUOUS.
        """
        if not is_commit(request.ref) or request.wait_for_commit:
            return None
        (repository,) = self._chosen(request, single=True)
        if not repository.is_fetched:
            return None
        try:
            self._layer(repository, request.ref)
        except PrismError:
            return repository
        return None

    def each(self) -> list[Target]:
        """The base of every repository of every tenant, each a target of its own."""
        return [_base(known.tenant, [known]) for known in self._records.values()]

    async def views(self, repository: Repository) -> list[tuple[Layer, View]]:
        """The layers of a repository that can be asked, with what they have in the place of the base."""
        known = self._layers.of_repository(repository.tenant, repository.repo)
        views = [(layer, await self._view_if_any(layer)) for layer in known if layer.files]
        return [(layer, view) for layer, view in views if view]

    async def is_newest(self, request: ScopedRequest, target: Target) -> bool:
        """Whether a request's target is still what it was found to be, by all that NATS knows. Raises if NATS is away."""
        if not await self._records.is_current() or (target.layer and not await self._layers.is_current()):
            return False
        return await self.target(request) == target

    def everything(self, target: Target) -> Target:
        """The base of all of the target's tenant."""
        tenant = target.scope.tenant
        return _base(tenant, self.of_tenant(tenant))

    def is_whole(self, target: Target) -> bool:
        """Whether a target is all that its tenant has in the store, by what has been heard: every repository, no layer, and
        no import is under way.
        """
        return (
            self.everything(target).scope == target.scope
            and target.is_quiet
            and not self._layers.has_any(target.scope.tenant)
        )

    async def _view_if_any(self, layer: Layer) -> View | None:
        """None for an overlay whose branch is gone."""
        try:
            return await self._layers.view(layer)
        except PrismError as error:
            if error.code is not ErrorCode.REF_NOT_FOUND:
                raise
            return None

    def _chosen(self, request: ScopedRequest, *, single: bool) -> Sequence[Repository]:
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
        if all(map(_has_failed, chosen)):
            raise _not_indexed(chosen)
        if single and len(chosen) > 1:
            raise PrismError(
                ErrorCode.REPO_AMBIGUOUS,
                f"{len(chosen)} repositories are indexed, and the request does not select one.",
                "Select one with the argument repo or the header X-Prism-Repo.",
                repositories=[r.name for r in chosen[:NAMES_SHOWN_MAX]],
            )
        return chosen

    def _layer(self, repository: Repository, ref: str) -> Layer | None:
        """The layer that a ref means; None for the base. Raises REF_NOT_FOUND."""
        served = repository.served
        followed = {"", "HEAD", repository.ref, served.ref if served else ""}
        if not followed.isdisjoint({ref, *short_names(ref)}):
            return None
        found = self._layers.find(repository.tenant, repository.repo, ref)
        if found is None and is_commit(ref):
            if served and served.commit.startswith(ref):
                return None
            serving = self._layers.with_commit(repository.tenant, repository.repo, ref)
            if len({one.served.commit for one in serving if one.served}) == 1:
                found = serving[0]
        if found is None:
            known = self._layers.shared(repository.tenant, repository.repo)
            raise _unknown_ref(repository, ref, [one.ref for one in known])
        if not found.files:
            raise PrismError(
                ErrorCode.REF_NOT_FOUND,
                f"{found.ref} of {repository.name} is being indexed for the first time.",
                "Retry in a few seconds, or wait with wait_for_commit (over MCP: the header X-Prism-Wait-For-Commit).",
            )
        return found

    async def _with_view(self, tenant: str, chosen: Sequence[Repository], layer: Layer | None) -> Target:
        base = _base(tenant, chosen)
        if layer is None:
            return base
        scope = Scope(tenant, base.scope.repos, view=await self._layers.view(layer))
        return Target(scope, base.repositories, layer)

    async def receipt(
        self, target: Target, missing_legs: Sequence[str] = (), *, cached: bool = False
    ) -> Receipt:
        """How fresh and how complete an answer of this target is."""
        _, by_status, by_reason, _ = await self._counts_of(target)
        repositories = target.repositories
        indexed: Sequence[Indexed] = [target.layer] if target.layer else repositories
        served = [known.served for known in indexed if known.served]
        one = indexed[0] if len(indexed) == 1 else None
        now = datetime.now(UTC)
        return Receipt(
            repo=repositories[0].name if one else SEVERAL_REPOSITORIES,
            ref=target.ref,
            indexed_commit=served[0].commit if one and served else "",
            head_commit=one.head_commit if one else "",
            lag_seconds=target.layer.behind_s(repositories[0], now)
            if target.layer
            else max((known.lag_s(now) for known in repositories), default=0.0),
            indexed_at=min((state.indexed_at for state in served), default=None),
            corpus_version=target.corpus_version,
            files_indexed=by_status.get(FileStatus.INDEXED, 0),
            files_skipped=by_status.get(FileStatus.SKIPPED, 0),
            files_failed=by_status.get(FileStatus.FAILED, 0),
            skipped_reasons=by_reason,
            missing_legs=tuple(missing_legs),
            dirty=any(state.dirty for state in served),
            files_missing=target.layer.files_missing if target.layer else 0,
            cached=cached,
            mixed_with_job=next((_mixed_with(known) for known in repositories if _mixed_with(known)), ""),
        )

    async def _counts_of(self, target: Target) -> Counts:
        """Files by status and reason. Known figures are given at once and counted again behind the answer."""
        key = (target.scope, target.corpus_version)
        known = self._counts.get(key)
        if known is None:
            return await self._count(target)
        kept_s = COUNTS_KEPT_AT_REST_S if target.is_quiet else COUNTS_KEPT_S
        is_old = time.monotonic() - known.at > kept_s
        if is_old and key not in self._counting:
            self._counting[key] = asyncio.create_task(self._count(target))
            self._counting[key].add_done_callback(lambda _: self._counting.pop(key, None))
        return known

    async def _count(self, target: Target) -> Counts:
        skipped = [with_status(FileStatus.SKIPPED, FileStatus.FAILED)]
        if target.layer is None:
            by_status, by_reason = await asyncio.gather(
                self._reader.counts_by(target.scope, "status"),
                self._reader.counts_by(target.scope, "reason", skipped),
            )
            lost = _base_files_lost(by_status, target.repositories)
        else:
            base, statuses, reasons, lost_here = await asyncio.gather(
                self._counts_of(target.base),
                self._reader.added_by(target.scope, "status", [with_status(*FileStatus)]),
                self._reader.added_by(target.scope, "reason", skipped),
                self._layer_files_lost(target.layer, target.scope),
            )
            by_status, by_reason = summed(base.by_status, statuses), summed(base.by_reason, reasons)
            lost = base.lost + lost_here
        if len(self._counts) >= CACHED_SCOPES_MAX:
            self._counts.clear()
        counts = Counts(time.monotonic(), by_status, by_reason, lost)
        self._counts[target.scope, target.corpus_version] = counts
        return counts

    async def _layer_files_lost(self, layer: Layer, scope: Scope) -> int:
        # Without a basis, files may have failed, and those have no point.
        if scope.view is None or layer.served is None or not layer.served.basis:
            return 0
        present = await self._reader.counts_of_keys(scope, scope.view.keys, [with_status(*PRESENT)])
        return max(0, len(scope.view.files) - sum(present.values()))


def _base(tenant: str, repositories: Sequence[Repository]) -> Target:
    return Target(Scope(tenant, tuple(known.repo for known in repositories)), tuple(repositories))


def _has_failed(repository: Repository) -> bool:
    """Whether imports have begun, none is under way, and none has ended well."""
    return repository.next_version > 1 and not repository.active_job and repository.served is None


def _not_indexed(repositories: Sequence[Repository]) -> PrismError:
    names = [repository.name for repository in repositories[:NAMES_SHOWN_MAX]]
    return PrismError(
        ErrorCode.REPO_NOT_INDEXED,
        f"{names[0]} is not indexed: its first import failed.",
        "index_status shows the reason. Then index it again.",
        repositories=names,
    )


def _base_files_lost(by_status: Mapping[str, int], repositories: Sequence[Repository]) -> int:
    served = [known.served.files for known in repositories if known.served]
    if served and all(files != 0 for files in served) and not by_status:
        return max(1, sum(files for files in served if files > 0))  # not even a tombstone is left
    present = sum(by_status.get(status, 0) for status in PRESENT)
    return max(0, sum(files for files in served if files > 0) - present)


def _lost(names: list[str]) -> PrismError:
    return PrismError(
        ErrorCode.INDEX_LOST,
        f"The store lost files of {', '.join(names[:NAMES_SHOWN_MAX])}: an answer would be incomplete.",
        "Index them again with `prism index PATH`, or run `prism repair` for all. Repositories with a git URL are "
        "imported again automatically within minutes.",
        repositories=names[:NAMES_SHOWN_MAX],
    )


def _mixed_with(repository: Repository) -> str:
    """The job that may have replaced some of the served files; empty if there is none."""
    return (repository.active_job or repository.unfinished) if repository.served else ""


def _serves(indexed: Indexed, commit: str) -> bool:
    """Whether a commit, or one whose hash begins so, is served; true of none."""
    return not commit or (indexed.served is not None and indexed.served.commit.startswith(commit))


def _cannot_come(repository: Repository, active_job: str = "") -> bool:
    """Whether nothing brings another commit: clients upload it, and no upload is under way."""
    return not repository.is_fetched and not active_job and not repository.active_job


def _nothing_brings(request: ScopedRequest, indexed: Indexed) -> PrismError:
    return PrismError(
        ErrorCode.COMMIT_NOT_INDEXED,
        f"{request.wait_for_commit} is not served, and no import is running.",
        "Index it with `prism index PATH`, or retry without wait_for_commit.",
        indexed_commit=indexed.served.commit if indexed.served else "",
    )


def _too_late(request: ScopedRequest, indexed: Indexed) -> PrismError:
    served = indexed.served.commit if indexed.served else ""
    return PrismError(
        ErrorCode.DEADLINE_EXCEEDED,
        f"{request.wait_for_commit} is not served after {WAIT_MAX_S:g} s.",
        "Check index_status. Without wait_for_commit, the served commit answers.",
        indexed_commit=served,
        head_commit=indexed.head_commit,
        lag_seconds=indexed.lag_s(datetime.now(UTC)),
    )


def _unknown_ref(repository: Repository, ref: str, known: Sequence[str]) -> PrismError:
    if ref.startswith(OVERLAY_HANDLE):
        raise PrismError(
            ErrorCode.REF_NOT_FOUND,
            f"{repository.name} has no overlay {shown(ref)}: it was closed, or has expired.",
            "Open a new one with open_overlay.",
        )
    near = [match for match, _, _ in process.extract(ref, known, limit=3, score_cutoff=60)]
    create = "create_branch_index" if repository.is_fetched else "`prism index PATH --ref BRANCH`"
    return PrismError(
        ErrorCode.REF_NOT_FOUND,
        f"{repository.name} has no index of {shown(ref)}.",
        f"{f'Did you mean {near[0]}? ' if near else ''}If it is a branch, {create} indexes it.",
        refs=list(known[:NAMES_SHOWN_MAX]),
        near=near,
    )


def _unknown(name: str, names: list[str]) -> PrismError:
    near = [match for match, _, _ in process.extract(name, names, limit=3, score_cutoff=60)]
    return PrismError(
        ErrorCode.REPO_NOT_FOUND,
        f"There is no repository {shown(name)}.",
        f"Did you mean {near[0]}?" if near else "Use one of the names in details.repositories.",
        repositories=names[:NAMES_SHOWN_MAX],
    )
