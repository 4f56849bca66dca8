"""The base of a repository has moved: all its layers are told apart from it again, in one pass, and stay what they are.

What the base changed is the same for all of them, so the old contents that they now need by themselves become variants once, by
one job; when it has ended the layers are switched one by one. A layer that the pass cannot do so (what the base held or
holds is no commit's tree, or not here any more) is looked at again as if it had been pushed to. Overlays need nothing: what is
below them is looked up when a question comes.
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
from prism_ingest.adapters.mirrors import Mirrors, Remote
from prism_ingest.adapters.variants import Variants
from prism_ingest.core import is_final, new_job
from prism_ingest.core.backoff import Backoff
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


class Move(NamedTuple):
    """How the tree of the base changed: what the new one has otherwise, and the same the other way round."""

    forth: Changes
    back: Changes

    @property
    def changes(self) -> list[BaseChange]:
        """By path."""
        new = {file.path: file for file in self.forth.snapshot.files}
        old = {file.path: file for file in self.back.snapshot.files}
        return [BaseChange(path, old.get(path), new.get(path)) for path in sorted(old.keys() | new.keys())]


class Next(NamedTuple):
    """What a layer is to have over the new base."""

    layer: Layer
    files: LayerFiles
    missing: int = 0
    size_bytes: int = 0


class Rebaser:
    """Hears of imports that have ended."""

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
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._mirrors = mirrors
        self._variants = variants
        self._layers = layers
        self._planner = planner
        self._fetch_jobs = fetch_jobs
        self._job_idle_s = settings.job_idle_s
        self._limits = settings.limits
        self._backoff = Backoff()

    async def follow(self, tenant: str, repo: str, only: str, cause: str) -> None:
        """Bring all layers that are told apart from an older base to the one that is served; of a layer, that one."""
        repository = await self._ledger.repositories.get(repository_key(tenant, repo))
        if repository is None or repository.served is None:
            return
        behind = await self._behind(repository, only)
        idle = [layer for layer in behind if not layer.active_job]
        await self._bring_along(repository, idle, cause)
        # A process that died may have begun the jobs of this event, and told nobody.
        begun = [layer for layer in behind if self._is_begun(repository, layer, cause)]
        await self._look_again(repository, begun, cause)

    async def catch_up(self) -> None:
        """Bring along what an import left behind, as the job of a layer failed then, or its client went away."""
        layers: dict[str, list[Layer]] = defaultdict(list)
        for layer in await self._ledger.layers.all():
            layers[repository_key(layer.tenant, layer.repo)].append(layer)
        for repository in await self._ledger.repositories.all():
            if repository.served is not None and self._backoff.is_due(repository.key):
                try:
                    await self._catch_up(repository, layers[repository.key])
                except PrismError as error:
                    log.warning("cannot update the layers of %s: %s", repository.name, error)

    async def _catch_up(self, repository: Repository, layers: Iterable[Layer]) -> None:
        behind = _behind(repository, layers)
        if not behind:
            self._backoff.succeeded(repository.key)
            return
        self._backoff.failed(repository.key)
        for layer in behind:
            # What is fetched ends by itself; a client that has gone does not come back.
            if layer.active_job and layer.source == UPLOAD:
                await self._ledger.give_up_idle(layer, self._job_idle_s)
        freed = [await self._layers.find(repository, layer.layer) for layer in behind]
        idle = [layer for layer in freed if layer is not None and not layer.active_job]
        # Each round begins other jobs: those of the last one have failed.
        await self._bring_along(repository, idle, f"round:{datetime.now(UTC).isoformat()}")

    async def _bring_along(self, repository: Repository, behind: Sequence[Layer], cause: str) -> None:
        sent = [layer for layer in behind if layer.source == UPLOAD]
        if sent:
            await self._relist(repository, sent)
        if not behind:
            return
        for commit, layers in _by_base(behind, await self._planner.basis()).items():
            if not commit or not await self._rebase(repository, commit, layers):
                await self._look_again(repository, layers, cause)

    async def _behind(self, repository: Repository, only: str) -> list[Layer]:
        found = (
            [await self._layers.find(repository, only)]
            if only not in (BASE_LAYER, REBASE)
            else self._layers.of(repository)
        )
        return _behind(repository, (layer for layer in found if layer is not None))

    def _is_begun(self, repository: Repository, layer: Layer, cause: str) -> bool:
        return self._fetch_jobs.is_updating(repository, layer, Lane.BULK, _delivery(layer, cause))

    async def _look_again(self, repository: Repository, layers: Iterable[Layer], cause: str) -> None:
        """Have each compared with the base by itself, as if it had been pushed to. The same cause begins the same job."""
        for layer in layers:
            await self._fetch_jobs.update(repository, layer, Lane.BULK, _delivery(layer, cause))

    async def _rebase(self, repository: Repository, commit: str, layers: Sequence[Layer]) -> bool:
        """Bring fetched layers from one commit of the base to that which is served; False if that cannot be done."""
        basis = await self._planner.basis()
        served = exact_commit(repository, basis)
        if not served:
            return False
        remote = Remote(repository.tenant, repository.repo, repository.source)
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
            nexts = await self._nexts(layers, move.changes)
            job = await self._bring(repository, move, nexts)
            if job is not None and not is_final(job):
                return True  # its end publishes an event that brings the layers along
            if job is not None and job.state not in ENDED_WELL:
                return False
        await self._switch(Base(check_served(repository).version, commits[1]), nexts)
        return True

    async def _nexts(self, layers: Iterable[Layer], changes: Sequence[BaseChange]) -> list[Next]:
        basis = await self._planner.basis()
        nexts = []
        for layer in layers:
            files = await self._variants.lists.get(layer.files)
            if files is not None:  # else it has another one by now
                made = rebased(files, changes, basis)
                size = layer.size_bytes + _growth(files, made, changes)
                nexts.append(Next(layer, made, size_bytes=size))
        return nexts

    async def _bring(self, repository: Repository, move: Move, nexts: Sequence[Next]) -> Job | None:
        """Have the old contents indexed that layers need now and that are not in the store; None if all are there."""
        basis = await self._planner.basis()
        files = move.back.snapshot.files
        needed = {variant for made in nexts for variant in made.files.variants.values()}
        own = {file.path: variant_layer(file.path, file.blob, basis) for file in files}
        wanted = {path: variant for path, variant in own.items() if variant in needed}
        stored = await self._pin(repository, wanted)
        lacking = [
            number
            for number, file in enumerate(files)
            if file.path in wanted and wanted[file.path] not in stored
        ]
        if not lacking:
            return None
        job = new_job(
            key=self._ledger.job_key,
            tenant=repository.tenant,
            repo_name=repository.name,
            layer=REBASE,
            lane=Lane.BULK,
            # Another job for each move of the base, as what an older one brought may have been swept since. Named by all that is
            # wanted and not by what is lacking: a process that died may have published some of it.
            snapshot=f"{check_served(repository).version}\0{_digest(wanted.values())}",
            state=JobState.INDEXING,
            now=datetime.now(UTC),
        )
        opened = await self._planner.open_variants(job, files, lacking)
        await publish_file_events(self._bus, snapshot_events(opened, move.back.snapshot, self._limits))
        return opened.job

    async def _relist(self, repository: Repository, layers: Sequence[Layer]) -> None:
        """Tell layers that clients have sent apart from the base by the blobs that they had; of their contents only those are
        there that were wanted before.
        """
        basis = await self._planner.basis()
        commit = exact_commit(repository, basis) if repository.is_quiet else ""
        entries = await read_manifest(self._bus, repository.tenant, repository.repo, BASE_LAYER)
        blobs = present_blobs(entries)
        lists = [(layer, await self._variants.lists.get(layer.files)) for layer in layers]
        known = [(layer, files.listing) for layer, files in lists if files is not None]
        for layer, listing in known:
            wanted = differing_blobs(listing, blobs, basis)
            stored = await self._pin(repository, wanted)
            files, missing = listed(listing, blobs, basis, stored)
            made = Next(layer, files, missing, layer.size_bytes)
            await self._switch(Base(check_served(repository).version, commit), [made])

    async def _pin(self, repository: Repository, variants: dict[str, str]) -> set[str]:
        """Those of the variants, by path, that are in the store and stay there for now."""
        name = ListName(
            repository.tenant,
            repository.repo,
            f"{REBASE}-{_digest(variants.values())}",
            layer_version(0, datetime.now(UTC)),
        )
        return await self._variants.pin(
            repository.tenant, repository.repo, str(name), LayerFiles(variants=variants)
        )

    async def _switch(self, base: Base, nexts: Iterable[Next]) -> None:
        """Let layers serve the same over the new base. One that has changed meanwhile is left to who changed it."""
        for layer, files, missing, size_bytes in nexts:
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
            await self._ledger.switch(layer, version, made)


def _behind(repository: Repository, layers: Iterable[Layer]) -> list[Layer]:
    """Layers that were told apart from an older base than the one that is served, of those that can be from this one."""
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
    """Fetched layers by the commit that they were told apart from; empty if it was none, or if they lack files."""
    groups: dict[str, list[Layer]] = defaultdict(list)
    for layer in layers:
        if layer.source != UPLOAD:
            is_sound = layer.served is not None and layer.served.basis == basis
            groups[layer.base_commit if is_sound else ""].append(layer)
    return groups


def _read_move(
    git_dir: Path, commits: tuple[str, str], limits: SourceLimits, open_until_done: ExitStack
) -> Move | None:
    found = []
    for old, new in (commits, commits[::-1]):
        changes = snapshot_changes(git_dir, old, new, limits)
        if changes is None:
            return None
        open_until_done.callback(changes.snapshot.close)
        found.append(changes)
    return Move(*found)


def _growth(before: LayerFiles, after: LayerFiles, changes: Iterable[BaseChange]) -> int:
    """By how many bytes a layer has become larger: with old contents of the base, and without those that it has as well now."""
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
