"""Lists the indexed files of repositories in order of path, and those that may hold a piece of text.

Lists are cached in memory, because reading thousands of file points costs more than searching them. Points up
to the version that a repository serves are final. Points of later imports are read again for each question
until that import is served.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import merge
from itertools import compress, takewhile
from typing import NamedTuple

from qdrant_client import models

from prism_catalog.target import Target
from prism_contracts.base import scope_key
from prism_contracts.code import FileStatus
from prism_resolver.manifests import is_manifest
from prism_resolver.modules import File, keys, represents_folder
from prism_runtime.weighted_cache import WeightedCache
from prism_search.core.clauses import Clause
from prism_search.core.edits import group_tests_by_subject
from prism_search.core.rules import kind_of
from prism_store.grams import Signatures, Table, read_signature
from prism_store.reader import Reader, StoredPoint, has, with_status
from prism_store.scope import Scope, View

FIELDS = ("scope", "path", "version", "generation", "starts", "language", "prose", "flags", "size", "status")
SIGNATURE = "grams"
BYTES_KEPT_MAX = 128 * 1024 * 1024
POINT_BYTES = 1_000  # approximate size of a file point with FIELDS
VIEWED_BYTES = 200  # approximate size of the references to a file point that another list holds
FILES_PER_READ = 5_000
SETTLED = frozenset({FileStatus.INDEXED, FileStatus.SKIPPED})


class _File(NamedTuple):
    point: StoredPoint  # with FIELDS
    signature: Table


class Files(ABC):
    """Files in order of path."""

    def __init__(self, points: Sequence[StoredPoint], removed_in: int = 0) -> None:
        """`removed_in` is the newest known version that removed a file."""
        self.points = points
        self.removed_in = removed_in

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of the file points."""
        return frozenset(point.id for point in self.points)

    @cached_property
    def by_path(self) -> Mapping[str, StoredPoint]:
        """The files of one repository by path."""
        return {point.text("path"): point for point in self.points}

    @cached_property
    def _by_key(self) -> Mapping[str, Sequence[StoredPoint]]:
        found: dict[str, list[StoredPoint]] = {}
        for point in self.points:
            for one in keys(File(point.text("path"), point.text("language"))):
                found.setdefault(one, []).append(point)
        return found

    @cached_property
    def manifests(self) -> Sequence[StoredPoint]:
        """The files that declare the package of their folder."""
        return [point for point in self.points if is_manifest(point.text("path"))]

    @cached_property
    def rules(self) -> Mapping[str, StoredPoint]:
        """The files with rules for agents and contributors, by path."""
        return {path: point for point in self.points if kind_of(path := point.text("path")) is not None}

    @cached_property
    def tests_by_stem(self) -> Mapping[str, Sequence[str]]:
        """The paths of test files by the stem that they are named after."""
        return group_tests_by_subject(point.text("path") for point in self.points)

    @cached_property
    def _of_folders(self) -> Mapping[tuple[str, str], Sequence[StoredPoint]]:
        found: dict[tuple[str, str], list[StoredPoint]] = {}
        for point in self.points:
            path = point.text("path")
            if represents_folder(path):
                found.setdefault((point.repo, path.rpartition("/")[0]), []).append(point)
        return found

    def around(self, repo: str, path: str) -> Iterator[StoredPoint]:
        """Yields the files that represent folders around a path, such as `__init__.py`, outermost first."""
        folders = path.split("/")[:-1]
        for depth in range(len(folders) + 1):
            yield from self._of_folders.get((repo, "/".join(folders[:depth])), ())

    @cached_property
    def _newest_first(self) -> Sequence[StoredPoint]:
        return sorted(self.points, key=lambda point: -point.number("version"))

    def written_after(self, version: int) -> Iterator[StoredPoint]:
        """Yields the files written after a version, newest first."""
        return takewhile(lambda point: point.number("version") > version, self._newest_first)

    def with_key(self, key: str) -> Sequence[StoredPoint]:
        """Returns the files that may be a module with this key, see `prism_resolver.modules.key`."""
        return self._by_key.get(key, ())

    @property
    @abstractmethod
    def size_bytes(self) -> int:
        """Approximate size in memory."""

    @abstractmethod
    def that_may_hold(self, clauses: Sequence[Clause]) -> Sequence[StoredPoint]:
        """Returns the files that may hold a piece of each clause, including every file that does."""


class SignedFiles(Files):
    """Files with their signatures, as read from the store."""

    def __init__(self, files: Iterable[_File], removed_in: int = 0) -> None:
        ordered = sorted(files, key=lambda file: place(file.point))
        super().__init__([file.point for file in ordered], removed_in)
        self._signatures = Signatures([file.signature for file in ordered])

    @property
    def size_bytes(self) -> int:
        """Approximate size in memory."""
        return self._signatures.size_bytes + POINT_BYTES * len(self.points)

    def by_id(self) -> dict[str, _File]:
        """Returns each file by id, with its signature as a view into this object's memory."""
        return {
            point.id: _File(point, table)
            for point, table in zip(self.points, self._signatures.tables(), strict=True)
        }

    def that_may_hold(self, clauses: Sequence[Clause]) -> Sequence[StoredPoint]:
        """Returns the files that may hold a piece of each clause, including every file that does."""
        if not clauses:
            return self.points
        found = self._signatures.may_hold(clauses[0])
        for clause in clauses[1:]:
            found &= self._signatures.may_hold(clause)
        return list(compress(self.points, found))


class ViewedFiles(Files):
    """The files of the base that a view does not hide, and its own. All views share the base's files."""

    def __init__(self, view: View, base: Files, own: SignedFiles) -> None:
        self._view = view
        self.base = base
        self.own = own
        super().__init__(self._together(base.points, own.points))

    @property
    def size_bytes(self) -> int:
        """Approximate size in memory, without the files of the base and of the view."""
        return VIEWED_BYTES * (1 + len(self.points))

    def that_may_hold(self, clauses: Sequence[Clause]) -> Sequence[StoredPoint]:
        """Returns the files that may hold a piece of each clause, including every file that does."""
        if not clauses:
            return self.points
        return self._together(self.base.that_may_hold(clauses), self.own.that_may_hold(clauses))

    def _together(self, base: Sequence[StoredPoint], own: Sequence[StoredPoint]) -> Sequence[StoredPoint]:
        seen = (point for point in base if not self._view.hides(point.id))
        return list(merge(seen, own, key=place))


class _Known(NamedTuple):
    served: Mapping[str, int]  # by repository, the version up to which its points are final
    files: SignedFiles


class _Own(NamedTuple):
    """The files that a view adds or overrides."""

    files: SignedFiles
    unsettled: Sequence[str]  # ids of files that failed or are missing: they may still be indexed


class Listing:
    """Lists files, from memory where it can."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._cache: WeightedCache[Scope, _Known] = WeightedCache(BYTES_KEPT_MAX)
        self._own: WeightedCache[Scope, _Own] = WeightedCache(BYTES_KEPT_MAX)
        self._viewed: WeightedCache[Scope, ViewedFiles] = WeightedCache(BYTES_KEPT_MAX)

    async def files(self, target: Target) -> Files:
        """Returns all indexed files of the target."""
        base = await self._of_base(target.base)
        scope, view = target.scope, target.scope.view
        if view is None:
            return base
        own = await self._of_view(scope, view)
        known = self._viewed.get(scope)
        if known and known.base is base and known.own is own:
            return known
        files = ViewedFiles(view, base, own)
        if self._is_kept(scope.base, base):  # else it would keep an evicted base in memory
            self._viewed.put(scope, files, files.size_bytes)
        return files

    async def _of_view(self, scope: Scope, view: View) -> SignedFiles:
        """Returns the files that a view adds or overrides. Settled files never change."""
        known = self._own.get(scope)
        if known is None:
            known = _Own(SignedFiles(()), tuple(view.files.values()))
        elif not known.unsettled:
            return known.files
        files, unsettled = known.files, []
        for start in range(0, len(known.unsettled), FILES_PER_READ):
            some = known.unsettled[start : start + FILES_PER_READ]
            points = await self._reader.points(scope, some, [*FIELDS, SIGNATURE])
            settled = {id_: point for id_, point in points.items() if point.text("status") in SETTLED}
            files = _with(files, settled.values()) if settled else files
            unsettled += [id_ for id_ in some if id_ not in settled]
        self._own.put(scope, _Own(files, unsettled), files.size_bytes + VIEWED_BYTES * (1 + len(unsettled)))
        return files

    async def _of_base(self, target: Target) -> SignedFiles:
        known = self._cache.get(target.scope)
        served = _served(target)
        if known and target.is_quiet and known.served == served:
            return known.files
        files = known.files if known else SignedFiles(())
        changed = [point async for point in self._changed(target.scope, known)]
        if changed:
            files = _with(files, changed)
        self._cache.put(target.scope, _Known(served, files), files.size_bytes)
        self._viewed.drop_if(lambda scope, viewed: not self._is_kept(scope.base, viewed.base))
        return files

    def _is_kept(self, scope: Scope, files: Files) -> bool:
        known = self._cache.get(scope)
        return known is not None and known.files is files

    def _changed(self, scope: Scope, known: _Known | None) -> AsyncIterator[StoredPoint]:
        conditions: list[models.Condition] = [with_status(*FileStatus)]
        if known:
            conditions.append(
                models.Filter(should=[_after(scope, repo, version) for repo, version in known.served.items()])
            )
        return self._reader.scan(scope, conditions, [*FIELDS, SIGNATURE], FILES_PER_READ)


def _served(target: Target) -> dict[str, int]:
    return {known.repo: known.served.version if known.served else 0 for known in target.repositories}


def _with(files: SignedFiles, changed: Iterable[StoredPoint]) -> SignedFiles:
    by_id, removed_in = files.by_id(), files.removed_in
    for point in changed:
        by_id.pop(point.id, None)
        if point.text("status") == FileStatus.INDEXED:
            by_id[point.id] = _file(point)
        else:
            removed_in = max(removed_in, point.number("version"))
    return SignedFiles(by_id.values(), removed_in)


def place(file: StoredPoint) -> tuple[str, str]:
    """Returns the sort key of a file: its path, then its repository."""
    return file.text("path"), file.repo


def _after(scope: Scope, repo: str, version: int) -> models.Filter:
    newer = models.FieldCondition(key="version", range=models.Range(gt=version))
    return models.Filter(must=[has("scope", scope_key(repo, scope.layer)), newer])


def _file(point: StoredPoint) -> _File:
    payload = {name: value for name, value in point.payload.items() if name != SIGNATURE}
    return _File(StoredPoint(point.id, 0.0, payload), read_signature(point.text(SIGNATURE)))
