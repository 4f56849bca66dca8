"""Resolves the repository and ref of a request to a target, and writes receipts."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from rapidfuzz import process

from prism_catalog.file_counts import FileCounts
from prism_catalog.layers import Layers, is_commit
from prism_catalog.target import Target, base_target
from prism_contracts.base import short_names
from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import OVERLAY_HANDLE, Indexed, Layer, Repository
from prism_contracts.rpc.common import SEVERAL_REPOSITORIES, WAIT_MAX_S, CallerRequest, Receipt, ScopedRequest
from prism_runtime.records import WatchedRecords
from prism_store.reader import Reader
from prism_store.scope import Scope, View

NAMES_SHOWN_MAX = 20
WAIT_LOOK_S = 0.02
# An import that a client started is known here within this time.
BEGIN_MAX_S = 1.0


class RepositoryCatalog:
    """Resolves names and refs to targets, and writes receipts."""

    def __init__(self, records: WatchedRecords[Repository], layers: Layers, reader: Reader) -> None:
        self._records = records
        self._layers = layers
        self._counts = FileCounts(reader)

    def seen_by(self, request: CallerRequest) -> list[Repository]:
        """Returns the repositories that a caller may see, by name, without those that were only registered."""
        return [known for known in self._of_tenant(request.tenant) if request.sees(known.name)]

    def _of_tenant(self, tenant: str) -> list[Repository]:
        """Returns the repositories of a tenant that may have files in the store."""
        return [known for known in self._registered(tenant) if known.has_begun]

    def _registered(self, tenant: str) -> list[Repository]:
        return sorted((r for r in self._records.values() if r.tenant == tenant), key=lambda r: r.name)

    async def target(self, request: ScopedRequest, *, single: bool = False) -> Target:
        """Resolves a request to a target, once the target serves the commit that the request waits for.

        Raises REPO_NOT_FOUND with the known names; REPO_AMBIGUOUS if `single` or a ref is given and several
        repositories match; REF_NOT_FOUND with near matches; DEADLINE_EXCEEDED if the commit is not served
        after WAIT_MAX_S; COMMIT_NOT_INDEXED if no running import could serve it; INDEX_LOST if the store lost
        files.
        """
        now = time.monotonic()
        deadline, refusal = now + WAIT_MAX_S, now + BEGIN_MAX_S
        is_single = single or bool(request.ref or request.wait_for_commit)
        while True:
            chosen = self._chosen(request, single=is_single)
            if not request.ref and not request.wait_for_commit:
                return await self._present(base_target(request.tenant, chosen, request.visible))
            try:
                layer = self._layer(chosen[0], request.ref)
            except PrismError:
                until = refusal if _cannot_come(chosen[0]) else deadline
                if not request.wait_for_commit or time.monotonic() > until:
                    raise
            else:
                indexed: Indexed = layer or chosen[0]
                if _serves(indexed, request.wait_for_commit):
                    return await self._present(await self._with_view(request, chosen, layer))
                if time.monotonic() > deadline:
                    raise _too_late(request, indexed)
                if time.monotonic() > refusal and _cannot_come(chosen[0], indexed.active_job):
                    raise _no_import_serves(request, indexed)
            await asyncio.sleep(WAIT_LOOK_S)

    async def _present(self, target: Target) -> Target:
        """Returns the target. Raises INDEX_LOST if the store lost files of it."""
        if target.is_quiet and (await self._counts.cached(target)).lost:
            await self._refuse_lost(target)
        return target

    async def _refuse_lost(self, target: Target) -> None:
        # This process may not have received the newest records yet.
        if not await self._records.is_current():
            return
        newest = [self._records.get(known.key) for known in target.repositories]
        if target.layer is None:
            lost = [known.name for known in newest if known and await self.files_lost(known)]
        elif all(known and known.is_quiet for known in newest):
            lost = (
                [f"{target.ref} of {target.repositories[0].name}"]
                if (await self._counts.count(target)).lost
                else []
            )
        else:
            lost = []
        if lost:
            raise _lost(lost)

    async def files_lost(self, repository: Repository, layer: Layer | None = None) -> int:
        """Returns how many indexed files the store lost; 0 while an import of the repository runs."""
        if not repository.is_quiet:
            return 0
        everything = CallerRequest(tenant=repository.tenant)
        return (await self._counts.count(await self._with_view(everything, [repository], layer))).lost

    def repository_of_unindexed_commit(self, request: ScopedRequest) -> Repository | None:
        """Returns the repository, if the ref is a commit that no layer serves but its mirror may hold.

        Raises REPO_NOT_FOUND, REPO_AMBIGUOUS.
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
        """Returns the base of every repository of every tenant, one target each."""
        return [base_target(known.tenant, [known]) for known in self._records.values()]

    async def views(self, repository: Repository) -> list[tuple[Layer, View]]:
        """Returns the layers of a repository that can answer, each with its view."""
        known = self._layers.of_repository(repository.tenant, repository.repo)
        views = [(layer, await self._view_if_any(layer)) for layer in known if layer.files]
        return [(layer, view) for layer, view in views if view]

    async def is_newest(self, request: ScopedRequest, target: Target) -> bool:
        """Whether a request still resolves to this target, by the newest records in NATS.

        Raises if NATS is down.
        """
        if not await self._records.is_current() or (target.layer and not await self._layers.is_current()):
            return False
        return await self.target(request) == target

    def everything(self, target: Target) -> Target:
        """Returns the base of all repositories of the target's tenant, for statistics.

        The caller may not see all of them: see `around`.
        """
        tenant = target.scope.tenant
        return base_target(tenant, self._of_tenant(tenant))

    def around(self, target: Target) -> Target:
        """Returns the base of all repositories that the caller of a target may see."""
        caller = CallerRequest(tenant=target.scope.tenant, visible=target.visible)
        return base_target(caller.tenant, self.seen_by(caller), target.visible)

    def is_whole(self, target: Target) -> bool:
        """Whether a target covers everything that its tenant has in the store.

        That is: every repository, no layer, and no running import, as far as this process knows.
        """
        return (
            self.everything(target).scope == target.scope
            and target.is_quiet
            and not self._layers.has_any(target.scope.tenant)
        )

    async def _view_if_any(self, layer: Layer) -> View | None:
        """Returns the view of a layer; None for an overlay whose branch was deleted."""
        try:
            return await self._layers.view(layer)
        except PrismError as error:
            if error.code is not ErrorCode.REF_NOT_FOUND:
                raise
            return None

    def _chosen(self, request: ScopedRequest, *, single: bool) -> Sequence[Repository]:
        mine = [known for known in self._registered(request.tenant) if request.sees(known.name)]
        if not mine:
            raise PrismError(
                ErrorCode.REPO_NOT_FOUND,
                "No repository is indexed yet.",
                "Index one: `prism index PATH`, or the tool index_repository.",
            )
        wanted = request.repo.lower()
        chosen = [r for r in mine if wanted in {"", r.name.lower(), r.repo}]
        if not chosen:
            # The last part alone is enough, if it is unique.
            chosen = [r for r in mine if wanted == r.name.lower().rpartition("/")[2]]
            single = True
        if not chosen:
            raise _unknown(request.repo, [r.name for r in mine])
        if not any(known.has_begun for known in chosen):
            raise _not_imported(chosen)
        chosen = [known for known in chosen if known.has_begun]
        if all(map(_has_failed, chosen)):
            raise _failed(chosen)
        if single and len(chosen) > 1:
            raise _ambiguous([r.name for r in chosen])
        return chosen

    def _layer(self, repository: Repository, ref: str) -> Layer | None:
        """Returns the layer of a ref; None for the base. Raises REF_NOT_FOUND."""
        served = repository.served
        # The followed ref may have changed since the served commit was imported.
        followed = {"", "HEAD", served.ref if served else repository.ref}
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

    async def _with_view(
        self, request: CallerRequest, chosen: Sequence[Repository], layer: Layer | None
    ) -> Target:
        base = base_target(request.tenant, chosen, request.visible)
        if layer is None:
            return base
        scope = Scope(request.tenant, base.scope.repos, view=await self._layers.view(layer))
        return Target(scope, base.repositories, layer, request.visible)

    async def receipt(
        self,
        target: Target,
        missing_legs: Sequence[str] = (),
        *,
        cached: bool = False,
        corrected: Mapping[str, str] | None = None,
    ) -> Receipt:
        """Returns how fresh and how complete an answer about this target is."""
        _, by_status, by_reason, _ = await self._counts.cached(target)
        repositories = target.repositories
        indexed: Sequence[Indexed] = [target.layer] if target.layer else repositories
        served = [known.served for known in indexed if known.served]
        one = indexed[0] if len(indexed) == 1 else None
        now = datetime.now(UTC)
        indexed_at = min((state.indexed_at for state in served), default=None)
        return Receipt(
            repo=repositories[0].name if one else SEVERAL_REPOSITORIES,
            ref=target.ref,
            indexed_commit=served[0].commit if one and served else "",
            head_commit=one.head_commit if one else "",
            lag_seconds=target.layer.behind_s(repositories[0], now)
            if target.layer
            else max((known.lag_s(now) for known in repositories), default=0.0),
            indexed_at=indexed_at,
            index_age_seconds=round((now - indexed_at).total_seconds(), 1) if indexed_at else None,
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
            corrected=dict(corrected or {}),
        )


def _has_failed(repository: Repository) -> bool:
    """Whether imports were started, none is running, and none completed."""
    return repository.has_begun and not repository.active_job and repository.served is None


def _not_imported(repositories: Sequence[Repository]) -> PrismError:
    return _not_indexed(
        repositories,
        "is registered, and not indexed yet",
        "Index it: `prism repos reindex NAME`, or POST /api/v1/repos/{name}/index.",
    )


def _failed(repositories: Sequence[Repository]) -> PrismError:
    return _not_indexed(
        repositories,
        "is not indexed: its first import failed",
        "index_status shows the reason. Then index it again.",
    )


def _not_indexed(repositories: Sequence[Repository], state: str, next_action: str) -> PrismError:
    names = [repository.name for repository in repositories[:NAMES_SHOWN_MAX]]
    return PrismError(ErrorCode.REPO_NOT_INDEXED, f"{names[0]} {state}.", next_action, repositories=names)


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
    """Whether the commit, given by a prefix of its hash, is served. An empty prefix always is."""
    return not commit or (indexed.served is not None and indexed.served.commit.startswith(commit))


def _cannot_come(repository: Repository, active_job: str = "") -> bool:
    """Whether no other commit can arrive: clients upload them, and no upload is running."""
    return not repository.is_fetched and not active_job and not repository.active_job


def _no_import_serves(request: ScopedRequest, indexed: Indexed) -> PrismError:
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


def _ambiguous(names: Sequence[str]) -> PrismError:
    shown = names[:NAMES_SHOWN_MAX]
    rest = f" and {len(names) - len(shown)} more, see list_repos" if len(names) > len(shown) else ""
    return PrismError(
        ErrorCode.REPO_AMBIGUOUS,
        f"{len(names)} repositories are indexed, and the request does not select one.",
        f"Select one with the argument repo or the header X-Prism-Repo: {', '.join(shown)}{rest}.",
        repositories=list(shown),
    )


def _unknown(name: str, names: list[str]) -> PrismError:
    near = [match for match, _, _ in process.extract(name, names, limit=3, score_cutoff=60)]
    return PrismError(
        ErrorCode.REPO_NOT_FOUND,
        f"There is no repository {shown(name)}.",
        f"Did you mean {near[0]}?" if near else "Use one of the names in details.repositories.",
        repositories=names[:NAMES_SHOWN_MAX],
    )
