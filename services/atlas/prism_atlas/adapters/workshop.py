"""Reads files of repositories from the store, and keeps what it assembled of those that it read last."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

from prism_atlas.conversion import FILE_FIELDS, source_file
from prism_atlas.core.assembly import Assembly, SourceFile
from prism_atlas.core.graph import Graph
from prism_contracts.code import FileStatus
from prism_runtime.kept import Kept
from prism_store.reader import Reader, StoredPoint, newer_than, with_status
from prism_store.scope import Scope

# File points carry their packed symbols, references and bindings: some 5 KB each.
PAGE_POINTS = 250
# Of all repositories that are kept: some 60 KB a file.
FILES_KEPT_MAX = 20_000
# Of points between the two passes; what is more is read twice.
POINTS_KEPT_CHARS_MAX = 256 * 1024 * 1024


@dataclass
class Bench:
    """A repository that is being worked on."""

    scope: Scope
    repo_name: str
    assembly: Assembly = field(default_factory=Assembly)
    generations: dict[str, str] = field(default_factory=dict)  # of the files in the assembly, by id
    version: int = 0  # all that imports up to this one wrote is in the assembly

    def take(self, point: StoredPoint) -> SourceFile | None:
        """Bring a file up to date, unless it is so; None if there is no such file any more."""
        if point.text("status") != FileStatus.INDEXED:
            self.forget(point.id)
            return None
        file = source_file(point, self.repo_name)
        if self.generations.get(point.id) != file.generation:
            self.assembly.add(file)
            self.generations[point.id] = file.generation
        return file

    def forget(self, file: str) -> None:
        """A file that is gone."""
        self.assembly.remove(file)
        self.generations.pop(file, None)


class Workshop:
    """Builds graphs, one at a time."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kept: Kept[Scope, Bench] = Kept(FILES_KEPT_MAX)

    async def graph(self, scope: Scope, repo_name: str, version: int) -> tuple[Graph, int]:
        """The graph of a repository after an import, and how many files were looked at for it.

        If it fails, what was begun is forgotten.
        """
        bench = self._kept.get(scope) or Bench(scope, repo_name)
        self._kept.drop(scope)
        points = await self._take_changes(bench)
        looked_at = 0
        while stale := bench.assembly.stale():
            async for point in self._points(scope, stale, points):
                if file := bench.take(point):
                    bench.assembly.connect(file.facts)
                    looked_at += 1
            for gone in stale & bench.assembly.stale():
                bench.forget(gone)
        bench.version = version
        self._kept.keep(scope, bench, max(1, len(bench.generations)))
        return bench.assembly.graph(), looked_at

    async def _take_changes(self, bench: Bench) -> dict[str, StoredPoint]:
        """Take what was written since; those points again, as many as there is room for."""
        points: dict[str, StoredPoint] = {}
        room = POINTS_KEPT_CHARS_MAX
        statuses = with_status(*FileStatus)
        changes = self._reader.scan(
            bench.scope, (statuses, newer_than(bench.version)), FILE_FIELDS, PAGE_POINTS
        )
        async for point in changes:
            bench.take(point)
            room -= sum(len(point.text(name)) for name in ("symbols", "references", "bindings"))
            if room > 0:
                points[point.id] = point
        return points

    async def _points(
        self, scope: Scope, ids: Iterable[str], known: dict[str, StoredPoint]
    ) -> AsyncIterator[StoredPoint]:
        """These file points, as they were read before or as they are."""
        missing = []
        for file in ids:
            if file in known:
                yield known[file]
            else:
                missing.append(file)
        for start in range(0, len(missing), PAGE_POINTS):
            page = missing[start : start + PAGE_POINTS]
            for point in (await self._reader.points(scope, page, FILE_FIELDS)).values():
                yield point
