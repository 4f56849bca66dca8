"""Reads files of repositories from the store, and keeps what it assembled of those that it read last."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field

from prism_atlas.adapters.shelf import Shelf
from prism_atlas.conversion import FILE_FIELDS, source_file
from prism_atlas.core.analysis import Analysis
from prism_atlas.core.assembly import Assembly, SourceFile
from prism_atlas.core.snapshot import Snapshot
from prism_contracts.code import FileStatus
from prism_graph.manifests import Manifest, Packages, Provider, is_manifest, read_manifest
from prism_runtime.kept import Kept
from prism_store.reader import Reader, StoredPoint, newer_than, with_status
from prism_store.scope import Scope
from prism_store.texts import read_texts

# File points carry their packed symbols, references and bindings: some 5 KB each.
PAGE_POINTS = 250
# Of all repositories that are kept: some 60 KB a file.
FILES_KEPT_MAX = 20_000
# Those nearest to the root are read, as many as search reads for a question.
MANIFESTS_MAX = 500
# Of points between the two passes; what is more is read twice.
POINTS_KEPT_CHARS_MAX = 256 * 1024 * 1024


@dataclass
class Bench:
    """A repository that is being worked on."""

    scope: Scope
    repo_name: str
    assembly: Assembly = field(default_factory=Assembly)
    generations: dict[str, str] = field(default_factory=dict)  # of the files in the assembly, by id
    manifests: dict[str, Manifest] = field(default_factory=dict)  # by path
    providers: Sequence[Provider] = ()  # of the packages that the assembly knows
    analysis: Analysis | None = None  # of the last graph
    version: int = 0  # all that imports up to this one wrote is in the assembly

    def take(self, point: StoredPoint) -> SourceFile | None:
        """Bring a file up to date, unless it is so; None if there is no such file any more."""
        if point.text("status") != FileStatus.INDEXED:
            self.forget(point.id)
            self.manifests.pop(point.text("path"), None)
            return None
        file = source_file(point, self.repo_name)
        if self.generations.get(point.id) != file.generation:
            self.assembly.add(file)
            self.generations[point.id] = file.generation
        return file

    def learn_packages(self) -> None:
        """Have the assembly know what the manifests say, if that is something else than before."""
        near = sorted(self.manifests, key=lambda path: (path.count("/"), path))[:MANIFESTS_MAX]
        known = [self.manifests[path] for path in near]
        names = frozenset(manifest.name for manifest in known)
        repo = self.repo_name.rpartition("/")[2]
        # What others provide means nothing in a repository by itself: a new dependency changes no edge.
        own = [manifest._replace(depends=manifest.depends & names) for manifest in known]
        providers = tuple(Provider(self.scope.repos[0], repo, one) for one in own)
        if providers != self.providers:
            self.providers = providers
            self.assembly.know(Packages(providers))

    def forget(self, file: str) -> None:
        """A file that is gone."""
        self.assembly.remove(file)
        self.generations.pop(file, None)


class Workshop:
    """Builds graphs, one at a time."""

    def __init__(self, reader: Reader, shelf: Shelf[Bench]) -> None:
        self._reader = reader
        self._shelf = shelf
        self._kept: Kept[Scope, Bench] = Kept(FILES_KEPT_MAX)

    async def snapshot(self, scope: Scope, repo_name: str, version: int) -> tuple[Snapshot, int]:
        """The graph of a repository after an import, and how many files were looked at for it.

        If it fails, what was begun is forgotten.
        """
        bench = self._kept.get(scope) or self._shelf.take(scope)
        self._kept.drop(scope)
        # Versions of a repository that was made anew begin again.
        if bench is None or bench.version > version:
            bench = Bench(scope, repo_name)
        looked_at = await self._bring_up_to_date(bench)
        bench.version = version
        snapshot = Snapshot.of(bench.assembly.graph(), bench.analysis)
        bench.analysis = snapshot.analysis
        self._kept.keep(scope, bench, max(1, len(bench.generations)))
        return snapshot, looked_at

    def put_down(self) -> None:
        """Leave what is kept to a later process."""
        for bench in self._kept.things():
            self._shelf.put(bench.scope, bench)

    async def _bring_up_to_date(self, bench: Bench) -> int:
        """Take what changed and look up what that touches; how many files were looked at."""
        points = await self._take_changes(bench)
        bench.learn_packages()
        looked_at = 0
        while stale := bench.assembly.stale():
            async for point in self._points(bench.scope, stale, points):
                if file := bench.take(point):
                    bench.assembly.connect(file.facts)
                    looked_at += 1
            for gone in stale & bench.assembly.stale():
                bench.forget(gone)
        return looked_at

    async def _take_changes(self, bench: Bench) -> dict[str, StoredPoint]:
        """Take what was written since; those points again, as many as there is room for."""
        points: dict[str, StoredPoint] = {}
        room = POINTS_KEPT_CHARS_MAX
        statuses = with_status(*FileStatus)
        changes = self._reader.scan(
            bench.scope, (statuses, newer_than(bench.version)), FILE_FIELDS, PAGE_POINTS
        )
        manifests: list[StoredPoint] = []
        async for point in changes:
            if bench.take(point) and is_manifest(point.text("path")):
                manifests.append(point)
            room -= sum(len(point.text(name)) for name in ("symbols", "references", "bindings"))
            if room > 0:
                points[point.id] = point
        await self._read_manifests(bench, manifests)
        return points

    async def _read_manifests(self, bench: Bench, points: Sequence[StoredPoint]) -> None:
        for point, text in zip(points, await read_texts(self._reader, bench.scope, points), strict=True):
            path = point.text("path")
            manifest = read_manifest(path, text) if text is not None else None
            if manifest is None:
                bench.manifests.pop(path, None)
            else:
                bench.manifests[path] = manifest

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
