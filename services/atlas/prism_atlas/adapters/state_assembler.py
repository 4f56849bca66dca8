"""Reads files of repositories from the store, and keeps what it assembled of those that it read last."""

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
from prism_resolver.manifests import Manifest, Packages, Provider, is_manifest, read_manifest
from prism_resolver.occurrences import Columns, OccurrenceIndex, Occurrences
from prism_runtime.kept import Kept
from prism_store.reader import Reader, StoredPoint, newer_than, with_status
from prism_store.scope import Scope, View
from prism_store.texts import read_texts

# File points carry their packed symbols, references and bindings: some 5 KB each.
PAGE_POINTS = 250
# Of all repositories that are kept: some 60 KB a file.
FILES_KEPT_MAX = 20_000
# Those nearest to the root are read, as many as search reads for a question.
MANIFESTS_MAX = 1_000
# Of points between the two passes; what is more is read twice.
POINTS_KEPT_CHARS_MAX = 256 * 1024 * 1024
# An assembly never forgets a text, so it is made anew after so many files were taken for each that is in it.
ADDED_PER_FILE_MAX = 5
# Files that may be taken in any case.
ADDED_MIN = 10_000


@dataclass
class RepositoryState:
    """A repository that is being worked on: its base, or what a view shows of it."""

    scope: Scope  # of the base
    repo_name: str
    assembly: Assembly = field(default_factory=Assembly)
    generations: dict[str, str] = field(default_factory=dict)  # of the files in the assembly, by id
    manifests: dict[str, tuple[str, Manifest]] = field(
        default_factory=dict
    )  # with their paths, by id of the file
    providers: Sequence[Provider] = ()  # of the packages that the assembly knows
    indexes: Mapping[str, OccurrenceIndex] = field(default_factory=dict)  # that it knows, by their objects
    analysis: Analysis | None = None  # of the last graph
    version: int = 0  # all that imports up to this one wrote is in the assembly, as far as the view shows it
    view: View | None = None
    added: int = 0  # files, each as often as it was added

    @property
    def view_scope(self) -> Scope:
        """What is worked on."""
        return replace(self.scope, view=self.view)

    @property
    def is_bloated(self) -> bool:
        """Whether most of what the assembly knows may be of files that are gone."""
        return self.added > max(ADDED_MIN, ADDED_PER_FILE_MAX * len(self.generations))

    def switch_view(self, view: View | None) -> set[str]:
        """Work on what another view shows: forgets what it does not show, and gives the ids of files that have to be read for it."""
        (own_before, hidden_before), (own, hidden) = _own_and_hidden(self.view), _own_and_hidden(view)
        self.view = view
        for file in (own_before - own) | hidden:
            self.forget(file)
        return (own | (hidden_before - hidden)) - self.generations.keys()

    def take(self, point: StoredPoint) -> ProgramFile | None:
        """Bring a file up to date, unless it is so; None if there is no such file any more."""
        if point.text("status") != FileStatus.INDEXED:
            self.forget(point.id)
            return None
        file = source_file(point, self.repo_name)
        if self.generations.get(point.id) != file.generation:
            self.assembly.add(file)
            self.generations[point.id] = file.generation
            self.added += 1
        return file

    def update_packages(self) -> None:
        """Have the assembly know what the manifests say, if that is something else than before."""
        near = sorted(self.manifests.values(), key=lambda one: (one[0].count("/"), one[0]))
        known = [manifest for _, manifest in near[:MANIFESTS_MAX]]
        names = frozenset(manifest.name for manifest in known)
        repo = self.repo_name.rpartition("/")[2]
        # What others provide means nothing in a repository by itself: a new dependency changes no edge.
        own = [manifest._replace(depends=manifest.depends & names) for manifest in known]
        providers = tuple(Provider(self.scope.repos[0], repo, one) for one in own)
        if providers != self.providers:
            self.providers = providers
            self.assembly.set_packages(Packages(providers))

    def update_indexes(self, paths: Mapping[str, str]) -> None:
        """Have the assembly know what these SCIP indexes say, given by the names of their objects."""
        if paths.keys() != self.indexes.keys():
            self.indexes = {
                name: self.indexes.get(name) or self._read_index(path) for name, path in paths.items()
            }
            self.assembly.set_occurrences(Occurrences(list(self.indexes.values())))

    def _read_index(self, path: str) -> OccurrenceIndex:
        id_of = partial(file_id, self.scope.tenant, self.scope.repos[0], self.scope.layer)
        return OccurrenceIndex(Columns.unpacked(Path(path).read_bytes()), id_of)

    def forget(self, file: str) -> None:
        """A file that is gone."""
        self.assembly.remove(file)
        self.generations.pop(file, None)
        self.manifests.pop(file, None)


class StateAssembler:
    """Builds graphs, one at a time."""

    def __init__(self, reader: Reader, disk_cache: DiskCache[RepositoryState]) -> None:
        self._reader = reader
        self._disk_cache = disk_cache
        self._cache: Kept[Scope, RepositoryState] = Kept(FILES_KEPT_MAX)

    async def snapshot(
        self, scope: Scope, repo_name: str, version: int, indexes: Mapping[str, str]
    ) -> tuple[GraphSnapshot, int]:
        """The graph of what a scope shows of a repository after an import, and how many files were looked at for it.

        `indexes` are paths of packed SCIP indexes of the base, by the names of their objects.
        If it fails, what was begun is forgotten. Views of a repository take the place of each other on one bench: what they
        have in common is there once, and is not looked at again.
        """
        base = scope.base
        state = self._cache.get(base) or self._disk_cache.pop(base)
        self._cache.drop(base)
        # Versions of a repository that was made anew begin again.
        if state is None or state.is_bloated or state.version > version:
            state = RepositoryState(base, repo_name)
        state.update_indexes(indexes)
        files_resolved = await self._update(state, scope.view)
        state.version = version
        snapshot = GraphSnapshot.of(state.assembly.graph(), state.analysis)
        state.analysis = snapshot.analysis
        self._cache.keep(base, state, max(1, len(state.generations)))
        return snapshot, files_resolved

    def save_all(self) -> None:
        """Leave what is kept to a later process."""
        for state in self._cache.things():
            self._disk_cache.put(state.scope, state)

    async def _update(self, state: RepositoryState, view: View | None) -> int:
        """Take what changed and look up what that touches; how many files were looked at."""
        revealed = state.switch_view(view)
        points = await self._apply_changes(state, revealed)
        state.update_packages()
        files_resolved = 0
        while stale := state.assembly.stale():
            async for point in self._points(state.view_scope, stale, points):
                if file := state.take(point):
                    state.assembly.connect(file.facts)
                    files_resolved += 1
            for gone in stale & state.assembly.stale():
                state.forget(gone)
        return files_resolved

    async def _apply_changes(self, state: RepositoryState, revealed: Iterable[str]) -> dict[str, StoredPoint]:
        """Take what was written since, and these files; those points again, as many as there is room for."""
        points: dict[str, StoredPoint] = {}
        room = POINTS_KEPT_CHARS_MAX
        manifests: list[StoredPoint] = []
        async for point in self._changes(state, revealed):
            if state.take(point) and is_manifest(point.text("path")):
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
        """These file points, as they were read before, which are given up here, or as they are."""
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
    """The ids of the files that a view adds to the base, and of those that it hides."""
    return (set(view.files.values()), set(view.hidden_files())) if view else (set(), set())
