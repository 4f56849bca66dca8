"""Derives from the plan of an import which files it changes, and lists stored changes by file. Without I/O."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice

from prism_contracts.records import UNCOMMITTED, Job
from prism_contracts.rpc.changes import ChangeKind, FileChange, IndexChange

# Entries of one import, and the files and the characters of each, which fit a message.
ENTRIES_MAX = 20
FILES_PER_ENTRY = 1_000
CHARS_PER_ENTRY = 128 * 1024

Changes = Sequence[tuple[str, ChangeKind]]


def entries_of(
    job: Job, *, added: Iterable[str], changed: Iterable[str], removed: Iterable[str]
) -> list[IndexChange]:
    """Returns what an import changed, in parts. If an import has more files than fit, the rest is only counted."""
    kinds = ((ChangeKind.ADDED, added), (ChangeKind.CHANGED, changed), (ChangeKind.REMOVED, removed))
    changes = sorted((path, kind) for kind, paths in kinds for path in paths)
    return [
        IndexChange(
            version=job.version,
            job=job.job,
            commit=UNCOMMITTED if job.dirty else job.commit,
            at=job.finished_at or job.updated_at,
            total=len(changes),
            **{kind.value: tuple(path for path, of_file in part if of_file is kind) for kind in ChangeKind},
        )
        for part in islice(_parts(changes), ENTRIES_MAX)
    ]


def by_file(entry: IndexChange, path: str, since: datetime | None) -> list[FileChange]:
    """Returns the changes of a stored entry that are wanted, in the order of their paths."""
    if since is not None and entry.at < (since if since.tzinfo else since.replace(tzinfo=UTC)):
        return []
    found = sorted(
        (file, kind) for kind in ChangeKind for file in getattr(entry, kind.value) if _is_wanted(file, path)
    )
    return [
        FileChange(
            path=file,
            change=kind,
            at=entry.at,
            commit=entry.commit,
            version=entry.version,
            job=entry.job,
        )
        for file, kind in found
    ]


def _parts(changes: Changes) -> Iterator[Changes]:
    part: list[tuple[str, ChangeKind]] = []
    chars = 0
    for path, kind in changes:
        if part and (len(part) == FILES_PER_ENTRY or chars + len(path) > CHARS_PER_ENTRY):
            yield part
            part, chars = [], 0
        part.append((path, kind))
        chars += len(path)
    if part:
        yield part


def _is_wanted(file: str, path: str) -> bool:
    folder = path.rstrip("/")
    return not folder or file == folder or file.startswith(f"{folder}/")
