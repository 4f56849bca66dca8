"""Recomputes the diff of every layer after its base has moved. The contents of the layers do not change.

The base changed in the same way for all layers, so one job indexes the old contents that layers now need as
variants. When it ends, the layers are switched one by one. A layer that cannot be rebased like this is
fetched again, as if it had been pushed to: its old or new base is not exactly a commit's tree, or the mirror
lacks the commit. Overlays need nothing: the layer below them is looked up at query time.
"""

import asyncio
import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_contracts.base import BASE_LAYER, Lane, variant_layer
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import (
    UPLOAD,
    Job,
    JobState,
    Layer,
    LayerFiles,
    LayerKind,
    Repository,
    repository_key,
)
from prism_contracts.rpc.imports import SnapshotFile
from prism_ingest.adapters.index import read_manifest
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.mirrors import Mirrors, MirrorSource
from prism_ingest.adapters.variants import Variants
from prism_ingest.core import is_final, new_job
from prism_ingest.core.layers import (
    REBASE,
    Base,
    BaseChange,
    ListName,
    check_served,
    differing_blobs,
    exact_commit,
    layer_version,
    listed,
    present_blobs,
    rebased,
)
from prism_ingest.core.round_backoff import RoundBackoff
from prism_ingest.core.selection import Selection
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.file_events import snapshot_events
from prism_ingest.operations.job_tracker import ENDED_WELL
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.planning import Planner
from prism_ingest.operations.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_source.gittree import Changes, snapshot_changes
from prism_source.limits import SourceLimits

log = logging.getLogger(__name__)

# How often one event is handled again because other jobs changed its layers meanwhile.
ROUNDS_MAX = 5


class _ChangedError(Exception):
    """Layers changed after they were read, so they are not switched."""


class BaseMove(NamedTuple):
    """The diff between the trees of the old and the new base, in both directions."""

    forth: Changes
    back: Changes

    def changes(self, selection: Selection) -> list[BaseChange]:
        """Returns the changes of selected files, sorted by path."""
        new = {file.path: file for file in selection.files(self.forth.snapshot.files)}
        old = {file.path: file for file in selection.files(self.back.snapshot.files)}
        return [BaseChange(path, old.get(path), new.get(path)) for path in sorted(old.keys() | new.keys())]


class RebasedLayer(NamedTuple):
    """A layer and its diff against the new base."""

    layer: Layer
    files: LayerFiles
    missing: int = 0
    size_bytes: int = 0


class Rebaser:
    """Rebases layers."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        mirrors: Mirrors,
        *,
        variants: Variants,
        layers: LayerRegistry,
        planner: Planner,
        fetch_jobs: FetchJobs,
        cancelled: CancelledJobs,
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._mirrors = mirrors
        self._variants = variants
        self._layers = layers
        self._planner = planner
        self._fetch_jobs = fetch_jobs
        self._cancelled = cancelled
        self._job_idle_s = settings.job_idle_s
        self._limits = settings.limits
        self._backoff = RoundBackoff()

    async def follow(self, tenant: str, repo: str, only: str, cause: str) -> None:
        """Rebase all layers of a repository that are behind its base.

        `only` is the layer of the job that ended. After a job of the base or of a rebase, all layers are
        rebased, else only this one. `cause` is the id of that job: the same cause begins the same jobs.
        """
        for _ in range(ROUNDS_MAX):
            try:
                await self._follow(tenant, repo, only, cause)
            except _ChangedError:
                continue
            return
        log.warning("the layers of %s change too often; the next round updates them", repo)

    async def _follow(self, tenant: str, repo: str, only: str, cause: str) -> None:
        repository = await self._ledger.repositories.get(repository_key(tenant, repo))
        if repository is None or repository.served is None:
            return
        behind = await self._behind(repository, only)
        idle = [layer for layer in behind if not layer.active_job]
        await self._update(repository, idle, cause)
        # A process that died may have begun the jobs of this event without publishing their commands.
        begun = [layer for layer in behind if self._is_begun(repository, layer, cause)]
        await self._fetch_again(repository, begun, cause)

    async def catch_up(self) -> None:
        """Rebase layers that an import left behind because their job failed or their client disappeared."""
        layers: dict[str, list[Layer]] = defaultdict(list)
        for layer in await self._ledger.layers.all():
            layers[repository_key(layer.tenant, layer.repo)].append(layer)
        for repository in await self._ledger.repositories.all():
            if repository.served is not None and self._backoff.is_due(repository.key):
                try:
                    await self._catch_up(repository, layers[repository.key])
                except _ChangedError:
                    log.info("layers of %s changed; the next round updates them", repository.name)
                except PrismError as error:
                    log.warning("cannot update the layers of %s: %s", repository.name, error)

    async def _catch_up(self, repository: Repository, layers: Iterable[Layer]) -> None:
        behind = _behind(repository, layers)
        if not behind:
            self._backoff.succeeded(repository.key)
            return
        self._backoff.failed(repository.key)
        for layer in behind:
            # A job that fetches ends by itself, but a client that disappeared may not return.
            if layer.active_job and layer.source == UPLOAD:
                await self._ledger.give_up_idle(layer, self._job_idle_s)
        freed = await self._read(repository, (layer.layer for layer in behind))
        idle = [layer for layer in freed if not layer.active_job]
        # Each round begins new jobs, because those of the last one have failed.
        await self._update(repository, idle, f"round:{datetime.now(UTC).isoformat()}")

    async def _update(self, repository: Repository, behind: Sequence[Layer], cause: str) -> None:
        sent = [layer for layer in behind if layer.source == UPLOAD]
        if sent:
            await self._relist(repository, sent)
        if not behind:
            return
        for commit, layers in _by_base(behind, await self._basis(repository)).items():
            if not commit or not await self._rebase(repository, commit, layers):
                await self._fetch_again(repository, layers, cause)

    async def _behind(self, repository: Repository, only: str) -> list[Layer]:
        if only not in (BASE_LAYER, REBASE):
            return _behind(repository, await self._read(repository, [only]))
        # The local copy may be a moment old. A layer never moves to an older base, so the copy lists at least
        # those that are behind.
        candidates = _behind(repository, self._layers.of(repository))
        return _behind(repository, await self._read(repository, (layer.layer for layer in candidates)))

    async def _read(self, repository: Repository, layers: Iterable[str]) -> list[Layer]:
        """Returns layers by id, from their records. Leaves out deleted ones."""
        found = [await self._layers.find(repository, layer) for layer in layers]
        return [layer for layer in found if layer is not None]

    def _is_begun(self, repository: Repository, layer: Layer, cause: str) -> bool:
        return self._fetch_jobs.is_updating(repository, layer, Lane.BULK, _delivery(layer, cause))

    async def _fetch_again(self, repository: Repository, layers: Iterable[Layer], cause: str) -> None:
        """Have each layer fetched as if it had been pushed to. The same cause begins the same job."""
        for layer in layers:
            await self._fetch_jobs.update(repository, layer, Lane.BULK, _delivery(layer, cause))

    async def _rebase(self, repository: Repository, commit: str, layers: Sequence[Layer]) -> bool:
        """Rebase fetched layers from a commit of the base to the served one. Returns False if impossible."""
        served = exact_commit(repository, await self._basis(repository))
        if not served:
            return False
        remote = MirrorSource(repository.tenant, repository.repo, repository.source)
        try:
            async with self._mirrors.held(remote) as git_dir:
                return await self._rebase_by_trees(repository, git_dir, (commit, served), layers)
        except PrismError as error:
            if error.code is not ErrorCode.REF_NOT_FOUND:
                raise
            return False

    async def _rebase_by_trees(
        self, repository: Repository, git_dir: Path, commits: tuple[str, str], layers: Sequence[Layer]
    ) -> bool:
        with ExitStack() as open_until_done:
            move = await asyncio.to_thread(_read_move, git_dir, commits, self._limits, open_until_done)
            if move is None:
                return False
            changes = move.changes(Selection.of(repository))
            rebased_layers = await self._rebased(layers, changes, await self._basis(repository))
            job = await self._index_variants(repository, move, rebased_layers)
            if job is not None and not is_final(job):
                return True  # its end publishes an event that updates the layers
            if job is not None and job.state not in ENDED_WELL:
                return False
        await self._switch(Base(check_served(repository).version, commits[1]), rebased_layers)
        return True

    async def _rebased(
        self, layers: Iterable[Layer], changes: Sequence[BaseChange], basis: str
    ) -> list[RebasedLayer]:
        found = []
        for layer in layers:
            files = await self._variants.lists.get(layer.files)
            if files is not None:  # else the layer has a newer list
                made = rebased(files, changes, basis)
                size = layer.size_bytes + _growth(files, made, changes)
                found.append(RebasedLayer(layer, made, size_bytes=size))
        return found

    async def _index_variants(
        self, repository: Repository, move: BaseMove, rebased_layers: Sequence[RebasedLayer]
    ) -> Job | None:
        """Begin a job that indexes the old contents that layers now need. Returns None if all are stored."""
        basis = await self._basis(repository)
        files = move.back.snapshot.files
        needed = {variant for made in rebased_layers for variant in made.files.variants.values()}
        own = {file.path: variant_layer(file.path, file.blob, basis) for file in files}
        wanted = {path: variant for path, variant in own.items() if variant in needed}
        stored = await self._pin(repository, wanted)
        missing = [
            number
            for number, file in enumerate(files)
            if file.path in wanted and wanted[file.path] not in stored
        ]
        if not missing:
            return None
        job = new_job(
            key=self._ledger.job_key,
            tenant=repository.tenant,
            repo=repository.repo,
            repo_name=repository.name,
            layer=REBASE,
            lane=Lane.BULK,
            # A new job for each move of the base, because older variants may have been swept. The id derives
            # from the wanted variants and not from the missing ones: a process that died may have published
            # some of them.
            snapshot=f"{check_served(repository).version}\0{_digest(wanted.values())}",
            state=JobState.INDEXING,
            now=datetime.now(UTC),
        )
        opened = await self._planner.open_variants(job, files, missing, basis)
        events = snapshot_events(opened, move.back.snapshot, self._limits)
        await publish_file_events(self._bus, events, self._cancelled)
        return opened.job

    async def _relist(self, repository: Repository, layers: Sequence[Layer]) -> None:
        """Diff uploaded layers against the base by their stored blob hashes.

        Only contents that an earlier diff needed were uploaded, so files may be missing.
        """
        basis, selection = await self._basis(repository), Selection.of(repository)
        commit = exact_commit(repository, basis) if repository.is_quiet else ""
        entries = await read_manifest(self._bus, repository.tenant, repository.repo, BASE_LAYER)
        blobs = present_blobs(entries)
        lists = [(layer, await self._variants.lists.get(layer.files)) for layer in layers]
        known = [(layer, files.listing) for layer, files in lists if files is not None]
        for layer, sent in known:
            listing = {path: sent[path] for path in selection.paths(sent)}
            wanted = differing_blobs(listing, blobs, basis)
            stored = await self._pin(repository, wanted)
            files, missing = listed(listing, blobs, basis, stored)
            # All of it: the selection may change.
            files = files.model_copy(update={"listing": dict(sent)})
            made = RebasedLayer(layer, files, missing, layer.size_bytes)
            await self._switch(Base(check_served(repository).version, commit), [made])

    async def _basis(self, repository: Repository) -> str:
        return await self._planner.basis(Selection.of(repository))

    async def _pin(self, repository: Repository, variants: dict[str, str]) -> set[str]:
        """Pin variants (by path) under a list of their own. Returns those that are stored."""
        name = ListName(
            repository.tenant,
            repository.repo,
            f"{REBASE}-{_digest(variants.values())}",
            layer_version(0, datetime.now(UTC)),
        )
        return await self._variants.pin(
            repository.tenant, repository.repo, str(name), LayerFiles(variants=variants)
        )

    async def _switch(self, base: Base, rebased_layers: Iterable[RebasedLayer]) -> None:
        """Write the new diffs to the layers' records. Raises _ChangedError if some changed meanwhile."""
        are_switched = []
        for layer, files, missing, size_bytes in rebased_layers:
            version = layer_version(layer.next_version, datetime.now(UTC))
            name = ListName(layer.tenant, layer.repo, layer.layer, version)
            await self._variants.lists.put(str(name), files)
            made = {
                "files": str(name),
                "files_changed": len(files.variants),
                "files_hidden": len(files.hidden),
                "files_missing": missing,
                "size_bytes": size_bytes,
                "base_version": base.version,
                "base_commit": base.commit,
                "next_version": version + 1,
            }
            are_switched.append(await self._ledger.switch(layer, version, made))
        if not all(are_switched):
            raise _ChangedError


def _behind(repository: Repository, layers: Iterable[Layer]) -> list[Layer]:
    """Returns the layers that were diffed against an older base and can be rebased to the served one."""
    version = check_served(repository).version
    return [
        layer
        for layer in layers
        if layer.kind is not LayerKind.OVERLAY
        and layer.base_version < version
        and (layer.served is not None or layer.source != UPLOAD)
    ]


def _delivery(layer: Layer, cause: str) -> str:
    return f"base:{layer.layer}:{cause}"


def _by_base(layers: Iterable[Layer], basis: str) -> dict[str, list[Layer]]:
    """Groups fetched layers by the commit of their base.

    The commit is empty if it is unknown, or if the layer's import was incomplete or had another basis.
    """
    groups: dict[str, list[Layer]] = defaultdict(list)
    for layer in layers:
        if layer.source != UPLOAD:
            is_sound = layer.served is not None and layer.served.basis == basis
            groups[layer.base_commit if is_sound else ""].append(layer)
    return groups


def _read_move(
    git_dir: Path, commits: tuple[str, str], limits: SourceLimits, open_until_done: ExitStack
) -> BaseMove | None:
    found = []
    for old, new in (commits, commits[::-1]):
        changes = snapshot_changes(git_dir, old, new, limits)
        if changes is None:
            return None
        open_until_done.callback(changes.snapshot.close)
        found.append(changes)
    return BaseMove(*found)


def _growth(before: LayerFiles, after: LayerFiles, changes: Iterable[BaseChange]) -> int:
    """Returns by how many bytes a layer grows.

    It gains old contents of the base, and loses those that the new base has as well.
    """
    grown = 0
    for path, old, new in changes:
        if path in after.variants and path not in before.variants:
            grown += _size(old)
        elif path in before.variants and path not in after.variants:
            grown -= _size(new)
    return grown


def _size(file: SnapshotFile | None) -> int:
    return file.size_bytes if file else 0


def _digest(variants: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(variants)).encode()).hexdigest()[:16]
