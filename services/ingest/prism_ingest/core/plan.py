"""Compares a snapshot with what the index holds: what must be sent, noted or taken away."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from prism_contracts.base import Lane, generation
from prism_contracts.code import FileStatus, SkipReason
from prism_contracts.records import Job, LayerState
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import SnapshotFile


class Plan(NamedTuple):
    """What a job does. Positions are those of the snapshot's files; removals follow behind them."""

    needed: tuple[int, ...]  # contents wanted
    skipped: tuple[int, ...]  # to be noted as not searchable
    removed: tuple[str, ...]  # paths to take away
    unchanged: int  # indexed files that stay as they are
    still_skipped: int  # skipped files that stay as they are

    @property
    def expected(self) -> int:
        """How many files must settle."""
        return len(self.needed) + len(self.skipped) + len(self.removed)


# More files than these are no edit that somebody waits for.
LIVE_FILES_MAX = 1_000


def make_plan(
    files: Sequence[SnapshotFile],
    index: Iterable[ManifestEntry],
    chunker: str,
    model: str,
    *,
    withholds: bool = True,
) -> Plan:
    """The difference between a snapshot and the index, given the versions that make content addresses.

    If secret files are no longer withheld, those that were skipped for that are wanted.
    """
    entries = {
        entry.path: entry for entry in index if withholds or entry.reason != SkipReason.SECRET_FILE.value
    }
    needed, skipped, unchanged, still_skipped = [], [], 0, 0
    for position, file in enumerate(files):
        entry = entries.get(file.path)
        if file.skipped is not None:
            if _is_skipped_alike(entry, file):
                still_skipped += 1
            else:
                skipped.append(position)
        elif entry and _is_current(entry, file, chunker, model):
            unchanged += entry.status == FileStatus.INDEXED
            still_skipped += entry.status == FileStatus.SKIPPED
        else:
            needed.append(position)
    return Plan(tuple(needed), tuple(skipped), _removed(files, entries), unchanged, still_skipped)


def plan_changes(files: Sequence[SnapshotFile], removed: Sequence[str]) -> Plan:
    """The plan for the files that are known to differ from what the index holds."""
    needed = tuple(position for position, file in enumerate(files) if file.skipped is None)
    skipped = tuple(position for position, file in enumerate(files) if file.skipped is not None)
    return Plan(needed, skipped, tuple(removed), unchanged=0, still_skipped=0)


def plan_variants(files: Sequence[SnapshotFile], lacking: Collection[int]) -> Plan:
    """The plan of a layer: of its files, those that the base has not so and whose variant is not in the store."""
    needed = tuple(position for position in lacking if files[position].skipped is None)
    skipped = tuple(position for position in lacking if files[position].skipped is not None)
    skipped_files = sum(file.skipped is not None for file in files)
    unchanged = len(files) - skipped_files - len(needed)
    return Plan(needed, skipped, (), unchanged, skipped_files - len(skipped))


def basis_of(chunker: str, model: str, file_bytes_max: int) -> str:
    """What an index of a commit depends on beside the commit."""
    return f"{chunker} {model} {file_bytes_max}"


def known_commit(served: LayerState | None, job: Job, basis: str) -> str:
    """The commit that the index holds exactly, so that only what changed since is to be looked at. Empty if none is sure.

    It is sure if the last import ended without a failed file, was made with the same basis, and none has begun since.
    """
    if served is None or served.basis != basis or served.version != job.version - 1:
        return ""
    return served.commit


def lane_of(lane: Lane, plan: Plan) -> Lane:
    """The lane that the files of a job go in: a large one would hold the edits of others up."""
    return Lane.BULK if plan.expected > LIVE_FILES_MAX else lane


def _is_skipped_alike(entry: ManifestEntry | None, file: SnapshotFile) -> bool:
    return entry is not None and entry.status == FileStatus.SKIPPED and entry.blob == file.blob


def _is_current(entry: ManifestEntry, file: SnapshotFile, chunker: str, model: str) -> bool:
    if entry.status == FileStatus.SKIPPED:  # skipped for its content, which is the same
        return entry.blob == file.blob
    return entry.status == FileStatus.INDEXED and entry.generation == generation(file.blob, chunker, model)


def _removed(files: Sequence[SnapshotFile], entries: Mapping[str, ManifestEntry]) -> tuple[str, ...]:
    present = {file.path for file in files}
    return tuple(
        sorted(p for p, entry in entries.items() if p not in present and entry.status != FileStatus.REMOVED)
    )
