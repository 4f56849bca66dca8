"""Events become points; once they are durable, `FilesSettled` is published."""

from collections import defaultdict
from collections.abc import Container, Sequence
from functools import partial
from typing import NamedTuple

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import (
    FileEmbedded,
    FileEvent,
    FileFailed,
    FileRemoved,
    FilesDropped,
    FileSkipped,
    FilesSettled,
    Outcome,
    SettledFile,
)
from prism_contracts.records import FAST_MODEL_KEY, ModelVersion, Repository, repository_key
from prism_contracts.rpc.repositories import (
    DropPointsReply,
    DropPointsRequest,
    DropTenantReply,
    DropTenantRequest,
)
from prism_indexer.core import failed_point, indexed_point, removed_point, skipped_point
from prism_runtime.batcher import Batcher
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords
from prism_store.points import FilePoint
from prism_store.writer import Writer

FILES_PER_BATCH = 64
CHUNKS_PER_BATCH = 512
# Between two writes of an import, unless the next one is full: a write's five requests cost as much as its
# points.
BULK_DISTANCE_S = 0.25
SETTLED_PER_MESSAGE = 512


class Work(NamedTuple):
    """A file version to write, and its event."""

    event: FileEvent
    point: FilePoint


class Settled(NamedTuple):
    """A file that is done, and the outcome reported to its job."""

    event: FileEvent
    file: SettledFile


class IndexerHandlers:
    """One method for each event that the indexer consumes, and for each request."""

    def __init__(
        self,
        bus: Bus,
        writer: Writer,
        model_versions: WatchedRecords[ModelVersion],
        repositories: WatchedRecords[Repository],
        cancelled: CancelledJobs,
    ) -> None:
        self._bus = bus
        self._cancelled = cancelled
        self._writer = writer
        self._model_versions = model_versions
        self._repositories = repositories
        # A lane of their own each: a live file never waits for a bulk batch to fill or to be written.
        self._batchers = {
            Lane.LIVE: self._make_batcher(distance_s=0.0),
            Lane.BULK: self._make_batcher(distance_s=BULK_DISTANCE_S),
        }
        self._settled = {
            lane: Batcher(
                partial(self._publish_settled, lane), items_max=SETTLED_PER_MESSAGE, name="settle files"
            )
            for lane in Lane
        }

    def _make_batcher(self, distance_s: float) -> Batcher[Work, bool]:
        return Batcher(
            self._write,
            items_max=FILES_PER_BATCH,
            weight=lambda work: len(work.point.chunks),
            weight_max=CHUNKS_PER_BATCH,
            distance_s=distance_s,
            name="write files",
        )

    async def on_embedded(self, event: FileEmbedded) -> None:
        """Write a file and its chunks."""
        model = self._model()
        if event.vectors.model != model.version:
            raise PrismError(
                ErrorCode.MODEL_MISMATCH,
                f"Received vectors of model {event.vectors.model}; the index has {model.version}.",
            )
        point = indexed_point(event)
        newest = await self._submit(event, point)
        outcome = Outcome.INDEXED if newest else Outcome.SUPERSEDED
        await self._settle(event, outcome, chunks=len(point.chunks), chunk_ms=event.file.chunk_ms)

    async def on_removed(self, event: FileRemoved) -> None:
        """Remove a file."""
        newest = await self._submit(event, removed_point(event))
        await self._settle(event, Outcome.REMOVED if newest else Outcome.SUPERSEDED)

    async def on_skipped(self, event: FileSkipped) -> None:
        """Record a file that is not searchable."""
        newest = await self._submit(event, skipped_point(event))
        outcome = Outcome.SKIPPED if newest else Outcome.SUPERSEDED
        await self._settle(event, outcome, code=event.reason.value, detail=event.detail)

    async def on_failed(self, event: FileFailed) -> None:
        """Record a file on which a stage failed."""
        newest = await self._submit(event, failed_point(event))
        outcome = Outcome.FAILED if newest else Outcome.SUPERSEDED
        await self._settle(event, outcome, code=event.code, detail=event.detail)

    async def on_dropped(self, event: FilesDropped) -> None:
        """Delete variants that no layer has."""
        await self._writer.drop(event.tenant, event.files, below=event.below)

    async def drop_points(self, request: DropPointsRequest) -> DropPointsReply:
        """Delete points of a removed repository."""
        return DropPointsReply(is_done=await self._writer.drop_repository(request.tenant, request.repo))

    async def drop_tenant(self, request: DropTenantRequest) -> DropTenantReply:
        """Delete the index of a removed tenant."""
        return DropTenantReply(points=await self._writer.drop_tenant(request.tenant))

    async def _submit(self, event: FileEvent, point: FilePoint) -> bool:
        return await self._batchers[event.lane].submit(Work(event, point))

    async def _write(self, batch: Sequence[Work]) -> list[bool | Exception]:
        """Write a batch by tenants; if it has two versions of one file, the second waits for the first."""
        # Checked as late as possible: a message may have waited for long.
        results: dict[int, bool | Exception] = {
            position: False for position, work in enumerate(batch) if self._is_refused(work.event)
        }
        for round_of_work in _rounds(batch, leaving_out=results.keys()):
            tenant = batch[round_of_work[0]].event.tenant
            try:
                model = self._model()
                await self._writer.ensure_collection(tenant, model.version, model.dimension)
                newest = await self._writer.write(
                    tenant, [batch[position].point for position in round_of_work]
                )
            except Exception as error:  # noqa: BLE001 - belongs to the messages of this round alone
                results.update(dict.fromkeys(round_of_work, error))
            else:
                results.update(zip(round_of_work, newest, strict=True))
        return [results[position] for position in range(len(batch))]

    def _is_refused(self, event: FileEvent) -> bool:
        return event.job in self._cancelled or self._is_outlived(event)

    def _is_outlived(self, event: FileEvent) -> bool:
        """Whether a newer import of the base has begun.

        The newer import is planned from the index of that moment; where it changes nothing, a late event
        would persist. A variant is independent of the time at which it arrives.
        """
        if event.layer != BASE_LAYER:
            return False
        repository = self._repositories.get(repository_key(event.tenant, event.repo))
        return repository is not None and event.version < repository.next_version - 1

    def _model(self) -> ModelVersion:
        model = self._model_versions.get(FAST_MODEL_KEY)
        if model is None:
            raise PrismError(ErrorCode.UNAVAILABLE, "The embedder has not announced its model yet.")
        return model

    async def _settle(self, event: FileEvent, outcome: Outcome, **facts: object) -> None:
        if outcome is Outcome.SUPERSEDED and event.job in self._cancelled:
            return  # nothing was written, and no one counts
        file = SettledFile(path=event.path, ordinal=event.ordinal, outcome=outcome, **facts)
        await self._settled[event.lane].submit(Settled(event, file))

    async def _publish_settled(self, lane: Lane, batch: Sequence[Settled]) -> list[None]:
        """Publish the outcomes of a batch in one message per job: single messages cost more than their files'
        points.
        """
        by_job: dict[tuple[str, str], list[SettledFile]] = defaultdict(list)
        for event, file in batch:
            by_job[event.tenant, event.job].append(file)
        for (tenant, job), files in by_job.items():
            settled = FilesSettled(tenant=tenant, job=job, files=tuple(files))
            await self._bus.publish(settled, lane=lane)
        return [None] * len(batch)


def _rounds(batch: Sequence[Work], leaving_out: Container[int]) -> list[list[int]]:
    """Returns positions of the batch in groups of one tenant, in which no file occurs twice."""
    rounds: list[tuple[str, set[str], list[int]]] = []
    for position, work in enumerate(batch):
        if position in leaving_out:
            continue
        for tenant, ids, positions in rounds:
            if tenant == work.event.tenant and work.point.id not in ids:
                ids.add(work.point.id)
                positions.append(position)
                break
        else:
            rounds.append((work.event.tenant, {work.point.id}, [position]))
    return [positions for _, _, positions in rounds]
