"""The indexed files of repositories, in order of path, and which of them can hold a piece of text.

Kept in memory: reading thousands of file points costs more than searching them. What was read while the repositories
were quiet (see `facts`) stays true but for files of later imports, whose points have a later version: only these are
read again.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from qdrant_client import models

from prism_contracts.code import FileStatus
from prism_contracts.rpc import Scope
from prism_search.adapters.kept import Kept
from prism_search.adapters.repositories import Target
from prism_search.core.clauses import Clause
from prism_store.grams import Signatures, Table, read_signature
from prism_store.reader import Reader, StoredPoint, has, with_status
from prism_store.schema import scope_key

FIELDS = ("scope", "path", "generation", "starts", "language", "status")
SIGNATURE = "grams"
FILES_KEPT_MAX = 50_000
FILES_PER_READ = 5_000


class _File(NamedTuple):
    point: StoredPoint  # with FIELDS
    signature: Table


class Files:
    """Files in order of path."""

    def __init__(self, files: Iterable[_File]) -> None:
        ordered = sorted(files, key=lambda file: place(file.point))
        self.points: Sequence[StoredPoint] = [file.point for file in ordered]
        self._signatures = Signatures([file.signature for file in ordered])

    def that_may_hold(self, clauses: Sequence[Clause]) -> Sequence[StoredPoint]:
        """Those that may hold a piece of each clause; none that does is left out."""
        if not clauses:
            return self.points
        found = self._signatures.may_hold(clauses[0])
        for clause in clauses[1:]:
            found &= self._signatures.may_hold(clause)
        return list(compress(self.points, found))


class _Known(NamedTuple):
    versions: Mapping[str, int]  # of each repository, the version of its next import
    by_id: Mapping[str, _File]
    files: Files


class Listing:
    """Reads file points, or has read them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kept: Kept[Scope, _Known] = Kept(FILES_KEPT_MAX)

    async def files(self, target: Target) -> Files:
        """All indexed files of the target."""
        known = self._kept.get(target.scope)
        versions = {repository.repo: repository.next_version for repository in target.repositories}
        if known and target.is_quiet and known.versions == versions:
            return known.files
        by_id = dict(known.by_id) if known else {}
        async for point in self._changed(target.scope, known):
            by_id.pop(point.id, None)
            if point.text("status") == FileStatus.INDEXED:
                by_id[point.id] = _file(point)
        files = Files(by_id.values())
        if target.is_quiet:
            self._kept.keep(target.scope, _Known(versions, by_id, files), len(by_id))
        return files

    def _changed(self, scope: Scope, known: _Known | None) -> AsyncIterator[StoredPoint]:
        conditions: list[models.Condition] = [with_status(*FileStatus)]
        if known:
            conditions.append(
                models.Filter(
                    should=[_since(scope, repo, version) for repo, version in known.versions.items()]
                )
            )
        return self._reader.scan(scope, conditions, [*FIELDS, SIGNATURE], FILES_PER_READ)


def place(file: StoredPoint) -> tuple[str, str]:
    """Path, and scope where a path is in several repositories: the order of files."""
    return file.text("path"), file.text("scope")


def _since(scope: Scope, repo: str, version: int) -> models.Filter:
    newer = models.FieldCondition(key="version", range=models.Range(gte=version))
    return models.Filter(must=[has("scope", scope_key(repo, scope.layer)), newer])


def _file(point: StoredPoint) -> _File:
    payload = {name: value for name, value in point.payload.items() if name != SIGNATURE}
    return _File(StoredPoint(point.id, 0.0, payload), read_signature(point.text(SIGNATURE)))
