"""Reads the files of repositories from the store, and caches the assembled state of the most recent ones."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from prism_atlas.adapters.disk_cache import DiskCache
from prism_atlas.conversion import FILE_FIELDS, source_file
from prism_atlas.core.analysis import Analysis
from prism_atlas.core.assembly import Assembly, ProgramFile
from prism_atlas.core.snapshot import GraphSnapshot
from prism_contracts.base import file_id
from prism_contracts.code import FileStatus
from prism_resolver.manifests import Manifest, PackageProvider, Packages, is_manifest, read_manifest
from prism_resolver.occurrences import Columns, OccurrenceIndex, Occurrences
from prism_runtime.weighted_cache import WeightedCache
from prism_store.reader import Reader, StoredPoint, newer_than, with_status
from prism_store.scope import Scope, View
from prism_store.texts import read_texts

# A file point carries its packed symbols, references and bindings: about 5 KB.
PAGE_POINTS = 250
# Total over all cached repositories; about 60 KB per file.
FILES_KEPT_MAX = 20_000
# The manifests nearest to the root are read, as many as search reads per request.
MANIFESTS_MAX = 1_000
# Points kept between the two passes; the rest is read twice.
POINTS_KEPT_CHARS_MAX = 256 * 1024 * 1024
# An assembly never frees a string, so it is rebuilt after this many additions per current file.
ADDED_PER_FILE_MAX = 5
# Additions that never cause a rebuild.
ADDED_MIN = 10_000


@dataclass
class RepositoryState:
    """The state of a repository under construction: its base, or a view of it."""

    scope: Scope  # the base
    repo_name: str
    assembly: Assembly = field(default_factory=Assembly)
    # The generation of each file in the assembly, by file id.
    generations: dict[str, str] = field(default_factory=dict)
    # Path and manifest by file id.
    manifests: dict[str, tuple[str, Manifest]] = field(default_factory=dict)
    providers: Sequence[PackageProvider] = ()  # packages that the assembly knows
    # SCIP indexes that the assembly uses, by object name.
    indexes: Mapping[str, OccurrenceIndex] = field(default_factory=dict)
    analysis: Analysis | None = None  # the last graph's
    # The assembly holds what imports up to this one wrote, as far as the view shows it.
    version: int = 0
    view: View | None = None
    added: int = 0  # files, counted each time they are added

    @property
    def view_scope(self) -> Scope:
        """The scope with the current view."""
        return replace(self.scope, view=self.view)

    @property
    def is_bloated(self) -> bool:
        """Whether most strings in the assembly may belong to removed files."""
        return self.added > max(ADDED_MIN, ADDED_PER_FILE_MAX * len(self.generations))

    def switch_view(self, view: View | None) -> set[str]:
        """Switch to another view: removes the files that it hides, returns the ids of those to read."""
        (own_before, hidden_before), (own, hidden) = _own_and_hidden(self.view), _own_and_hidden(view)
        self.view = view
        for file in (own_before - own) | hidden:
            self.remove(file)
        return (own | (hidden_before - hidden)) - self.generations.keys()

    def apply(self, point: StoredPoint) -> ProgramFile | None:
        """Add or update a file if its content changed; None if the file no longer exists."""
        if point.text("status") != FileStatus.INDEXED:
            self.remove(point.id)
            return None
        file = source_file(point, self.repo_name)
        if self.generations.get(point.id) != file.generation:
            self.assembly.add(file)
            self.generations[point.id] = file.generation
            self.added += 1
        return file

    def update_packages(self) -> None:
        """Pass the packages of the manifests to the assembly, if they changed."""
        near = sorted(self.manifests.values(), key=lambda one: (one[0].count("/"), one[0]))
        known = [manifest for _, manifest in near[:MANIFESTS_MAX]]
        names = frozenset(manifest.name for manifest in known)
        repo = self.repo_name.rpartition("/")[2]
        # Packages of other repositories don't count here, so a new external dependency changes no edge.
        own = [manifest._replace(dependencies=manifest.dependencies & names) for manifest in known]
        providers = tuple(PackageProvider(self.scope.repos[0], repo, one) for one in own)
        if providers != self.providers:
            self.providers = providers
            self.assembly.set_packages(Packages(providers))

    def update_indexes(self, paths: Mapping[str, str]) -> None:
        """Pass the SCIP indexes at these paths, by object name, to the assembly, if they changed."""
        if paths.keys() != self.indexes.keys():
            self.indexes = {
                name: self.indexes.get(name) or self._read_index(path) for name, path in paths.items()
            }
            self.assembly.set_occurrences(Occurrences(list(self.indexes.values())))

    def _read_index(self, path: str) -> OccurrenceIndex:
        id_of = partial(file_id, self.scope.tenant, self.scope.repos[0], self.scope.layer)
        return OccurrenceIndex(Columns.unpacked(Path(path).read_bytes()), id_of)

    def remove(self, file: str) -> None:
        """Remove a file."""
        self.assembly.remove(file)
        self.generations.pop(file, None)
        self.manifests.pop(file, None)


class StateAssembler:
    """Builds graphs, one at a time."""

    def __init__(self, reader: Reader, disk_cache: DiskCache[RepositoryState]) -> None:
        self._reader = reader
        self._disk_cache = disk_cache
        self._cache: WeightedCache[Scope, RepositoryState] = WeightedCache(FILES_KEPT_MAX)

    async def snapshot(
        self, scope: Scope, repo_name: str, version: int, indexes: Mapping[str, str]
    ) -> tuple[GraphSnapshot, int]:
        """Returns the graph of a scope after an import, and how many files were resolved to build it.

        `indexes` are paths of packed SCIP indexes of the base, by object name. On failure the state is
        discarded. All views of a repository share one state, so files that they have in common are kept
        and are not resolved again.
        """
        base = scope.base
        state = self._cache.get(base) or self._disk_cache.pop(base)
        self._cache.drop(base)
        # Versions start over when a repository is deleted and created again.
        if state is None or state.is_bloated or state.version > version:
            state = RepositoryState(base, repo_name)
        state.update_indexes(indexes)
        files_resolved = await self._update(state, scope.view)
        state.version = version
        snapshot = GraphSnapshot.of(state.assembly.graph(), state.analysis)
        state.analysis = snapshot.analysis
        self._cache.put(base, state, max(1, len(state.generations)))
        return snapshot, files_resolved

    def save_all(self) -> None:
        """Save all cached states for a later process."""
        for state in self._cache.values():
            self._disk_cache.put(state.scope, state)

    async def _update(self, state: RepositoryState, view: View | None) -> int:
        """Apply the changes and resolve the files that they affect; returns how many were resolved."""
        revealed = state.switch_view(view)
        points = await self._apply_changes(state, revealed)
        state.update_packages()
        files_resolved = 0
        while stale := state.assembly.stale():
            async for point in self._points(state.view_scope, stale, points):
                if file := state.apply(point):
                    state.assembly.connect(file.facts)
                    files_resolved += 1
            for gone in stale & state.assembly.stale():
                state.remove(gone)
        return files_resolved

    async def _apply_changes(self, state: RepositoryState, revealed: Iterable[str]) -> dict[str, StoredPoint]:
        """Apply all files written since the last version, and the revealed ones.

        Returns their points, up to POINTS_KEPT_CHARS_MAX, so that they need not be read again.
        """
        points: dict[str, StoredPoint] = {}
        room = POINTS_KEPT_CHARS_MAX
        manifests: list[StoredPoint] = []
        async for point in self._changes(state, revealed):
            if state.apply(point) and is_manifest(point.text("path")):
                manifests.append(point)
            room -= sum(len(point.text(name)) for name in ("symbols", "references", "bindings"))
            if room > 0:
                points[point.id] = point
        await self._read_manifests(state, manifests)
        return points

    async def _changes(self, state: RepositoryState, revealed: Iterable[str]) -> AsyncIterator[StoredPoint]:
        written = (with_status(*FileStatus), newer_than(state.version))
        async for point in self._reader.scan(state.scope, written, FILE_FIELDS, PAGE_POINTS):
            if state.view is None or not state.view.hides(point.id):
                yield point
        async for point in self._points(state.view_scope, revealed, {}):
            yield point

    async def _read_manifests(self, state: RepositoryState, points: Sequence[StoredPoint]) -> None:
        for point, text in zip(points, await read_texts(self._reader, state.view_scope, points), strict=True):
            path = point.text("path")
            manifest = read_manifest(path, text) if text is not None else None
            if manifest is None:
                state.manifests.pop(point.id, None)
            else:
                state.manifests[point.id] = path, manifest

    async def _points(
        self, scope: Scope, ids: Iterable[str], known: dict[str, StoredPoint]
    ) -> AsyncIterator[StoredPoint]:
        """Yield these file points: removed from `known` if they are there, otherwise read from the store."""
        missing = []
        for file in ids:
            if file in known:
                yield known.pop(file)
            else:
                missing.append(file)
        for start in range(0, len(missing), PAGE_POINTS):
            page = missing[start : start + PAGE_POINTS]
            for point in (await self._reader.points(scope, page, FILE_FIELDS)).values():
                yield point


def _own_and_hidden(view: View | None) -> tuple[set[str], set[str]]:
    """Returns the ids of the files that a view adds to the base, and of those that it hides."""
    return (set(view.files.values()), set(view.hidden_files())) if view else (set(), set())
