"""Compares a snapshot with the index: which files are needed, skipped or removed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from prism_contracts.base import Lane, generation
from prism_contracts.code import FileFlags, FileStatus, Flag, SkipReason
from prism_contracts.records import Job, LayerState
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import SnapshotFile
from prism_source.classify import RULES_VERSION


class Plan(NamedTuple):
    """What a job does. Ordinals are positions in the snapshot's files; those of removals follow."""

    needed: tuple[int, ...]  # files whose contents are needed
    skipped: tuple[int, ...]  # files to record as not searchable
    removed: tuple[str, ...]  # paths to remove
    unchanged: int  # indexed files that do not change
    still_skipped: int  # skipped files that do not change
    # Those of `needed` and `skipped` that the index did not have, and whose content differs.
    added: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()

    @property
    def expected(self) -> int:
        """The number of files that must settle."""
        return len(self.needed) + len(self.skipped) + len(self.removed)


# Flags that do not depend on a file's text.
ROLES = frozenset({Flag.TEST, Flag.VENDORED, Flag.DOCUMENTATION})
# A job with more files is not an edit that someone waits for.
LIVE_FILES_MAX = 1_000


def make_plan(
    files: Sequence[SnapshotFile],
    index: Iterable[ManifestEntry],
    chunker: str,
    model: str,
    *,
    withholds: bool = True,
    is_forced: bool = False,
) -> Plan:
    """Returns the diff of a snapshot against the index, given the versions that content addresses include.

    If secret files are no longer withheld (`withholds` is False), those that were skipped as such are needed.
    `is_forced`: every file counts as different.
    """
    entries = {
        entry.path: entry for entry in index if withholds or entry.reason != SkipReason.SECRET_FILE.value
    }
    needed, skipped, unchanged, still_skipped = [], [], 0, 0
    for position, file in enumerate(files):
        entry = None if is_forced else entries.get(file.path)
        if file.skipped is not None:
            if _is_skipped_already(entry, file):
                still_skipped += 1
            else:
                skipped.append(position)
        elif entry and _is_current(entry, file, chunker, model):
            unchanged += entry.status == FileStatus.INDEXED
            still_skipped += entry.status == FileStatus.SKIPPED
        else:
            needed.append(position)
    known = {path: entry.blob for path, entry in entries.items() if entry.status != FileStatus.REMOVED}
    added, changed = _differing(files, (*needed, *skipped), known)
    removed = _removed(files, entries)
    return Plan(tuple(needed), tuple(skipped), removed, unchanged, still_skipped, added, changed)


def plan_changes(
    files: Sequence[SnapshotFile], removed: Sequence[str], known: Mapping[str, str] | None = None
) -> Plan:
    """Returns the plan for files that are known to differ from the index.

    `known`: the blobs by path of those that the index has. None: it is not known whether it has them.
    """
    needed = tuple(position for position, file in enumerate(files) if file.skipped is None)
    skipped = tuple(position for position, file in enumerate(files) if file.skipped is not None)
    every = range(len(files))
    added, changed = _differing(files, every, known) if known is not None else ((), tuple(every))
    return Plan(needed, skipped, tuple(removed), 0, 0, added, changed)


def plan_variants(files: Sequence[SnapshotFile], missing: Collection[int]) -> Plan:
    """Returns the plan of a layer. `missing`: files that differ from the base and have no stored variant."""
    needed = tuple(position for position in missing if files[position].skipped is None)
    skipped = tuple(position for position in missing if files[position].skipped is not None)
    skipped_files = sum(file.skipped is not None for file in files)
    unchanged = len(files) - skipped_files - len(needed)
    return Plan(needed, skipped, (), unchanged, skipped_files - len(skipped))


def basis_of(chunker: str, model: str, file_bytes_max: int, selection: str = "") -> str:
    """Returns what the index of a commit depends on besides the commit. `selection`: see `Selection.version`."""
    parts = (chunker, model, str(file_bytes_max), RULES_VERSION, selection)
    return " ".join(part for part in map(str, parts) if part)


def known_commit(served: LayerState | None, job: Job, basis: str) -> str:
    """Returns the commit that the index holds exactly, so that a diff against it is enough; empty if none.

    That is certain if the last import had no failed file and the same basis, and none has begun since.
    """
    if served is None or served.basis != basis or served.version != job.version - 1:
        return ""
    return served.commit


def lane_of(lane: Lane, plan: Plan) -> Lane:
    """Returns the lane for the files of a job: bulk if it is large, because it would delay live edits."""
    return Lane.BULK if plan.expected > LIVE_FILES_MAX else lane


def _is_skipped_already(entry: ManifestEntry | None, file: SnapshotFile) -> bool:
    return entry is not None and entry.status == FileStatus.SKIPPED and entry.blob == file.blob


def _is_current(entry: ManifestEntry, file: SnapshotFile, chunker: str, model: str) -> bool:
    if entry.status == FileStatus.SKIPPED:  # skipped because of its content, which is the same
        return entry.blob == file.blob
    is_indexed = entry.status == FileStatus.INDEXED
    return (
        is_indexed
        and entry.generation == generation(file.blob, chunker, model)
        and _has_role(entry.flags, file.flags)
    )


def _has_role(letters: str | None, flags: FileFlags) -> bool:
    """Whether the index knows the role that a path has now, as far as the path and `.gitattributes` decide it."""
    return letters is None or ROLES & set(letters) == ROLES & set(flags.letters)


def _differing(
    files: Sequence[SnapshotFile], positions: Iterable[int], known: Mapping[str, str]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the positions of files that are new, and of those with another content than the known blob."""
    every = sorted(positions)
    added = tuple(position for position in every if files[position].path not in known)
    changed = tuple(
        position
        for position in every
        if known.get(files[position].path, files[position].blob) != files[position].blob
    )
    return added, changed


def _removed(files: Sequence[SnapshotFile], entries: Mapping[str, ManifestEntry]) -> tuple[str, ...]:
    present = {file.path for file in files}
    return tuple(
        sorted(p for p, entry in entries.items() if p not in present and entry.status != FileStatus.REMOVED)
    )
