"""Caches what ranking needs of file points, because reading payloads is what costs time in the store.

A file point changes with every version of the file. A cached one is used while its repository is quiet, that
is, while the newest import has succeeded, and until an import writes the file. Never holds texts.
"""

from collections.abc import Container, Iterable, Sequence

from prism_catalog.target import Target
from prism_contracts.code import FileStatus
from prism_runtime.weighted_cache import WeightedCache
from prism_search.core.outline import Outline
from prism_search.core.retrieval.candidates import RankFacts
from prism_store.reader import RANK_FIELDS, Reader, StoredPoint, newer_than, with_status
from prism_store.scope import Scope

# Characters of cached definitions: some 20,000 files.
OUTLINE_CHARS_MAX = 24_000_000
AHEAD_FILES = 25  # per read: a question that arrives meanwhile waits for one read
AHEAD_ROOM_CHARS_MIN = 1_000_000


class Facts:
    """Returns facts from memory, and reads the others from the store.

    A file point costs some 100 µs here and in the store, and a question needs forty, so file points are read
    ahead of questions while there is room.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._files: WeightedCache[str, RankFacts] = WeightedCache(OUTLINE_CHARS_MAX)
        # By key of the repository, the version of the next import when changed files were last evicted.
        self._seen_versions: dict[str, int] = {}
        self._complete: set[str] = set()  # keys of repositories whose files have all been read

    async def files(self, target: Target, ids: Iterable[str]) -> dict[str, RankFacts]:
        """Returns the facts of those files that exist, by id."""
        if not target.is_quiet:
            return await self._read(target, list(ids))
        await self._forget_changed(target)
        known = {id_: self._known(id_, target.scope.keys) for id_ in ids}
        missing = [id_ for id_, facts in known.items() if facts is None]
        return {id_: facts for id_, facts in known.items() if facts} | await self._read(target, missing)

    def forget(self, ids: Iterable[str]) -> None:
        """Evicts these files, so that they are read again."""
        for id_ in ids:
            self._files.drop(id_)

    async def read_ahead(self, target: Target) -> None:
        """Reads the files that are not cached, once. Later changes are read on demand. Evicts nothing."""
        repos = _versions(target).keys()
        if not target.is_quiet or not self._has_room() or repos <= self._complete:
            return
        await self._forget_changed(target)
        listed = self._reader.scan(target.scope, [with_status(FileStatus.INDEXED)], ())
        unknown = [point.id async for point in listed if self._files.get(point.id) is None]
        for start in range(0, len(unknown), AHEAD_FILES):
            if not self._has_room() or not self._is_latest(target):
                return
            await self._read(target, unknown[start : start + AHEAD_FILES])
        self._complete |= repos

    async def _forget_changed(self, target: Target) -> None:
        """Evicts the files that imports wrote since the last call, which the version of a point shows."""
        for repository in target.repositories:
            key, version = repository.key, repository.next_version
            seen = self._seen_versions.get(key, version)
            if seen != version:
                scope = Scope(repository.tenant, (repository.repo,), target.scope.layer)
                changed = self._reader.scan(scope, [with_status(*FileStatus), newer_than(seen - 1)], ())
                self.forget([point.id async for point in changed])
            self._seen_versions[key] = version

    async def _read(self, target: Target, ids: Sequence[str]) -> dict[str, RankFacts]:
        """Reads the files from the store, and caches them if they are current."""
        points = await self._reader.points(target.scope, ids, RANK_FIELDS)
        found = {id_: _rank_facts(point) for id_, point in points.items()}
        # Not if an import ended meanwhile: this may have been read before its writes.
        if target.is_quiet and self._is_latest(target):
            for id_, facts in found.items():
                self._files.put(id_, facts, len(facts.outline.packed) + 1)
        return found

    def _is_latest(self, target: Target) -> bool:
        """Whether no question has seen a later state of the repositories."""
        return all(self._seen_versions.get(key) == version for key, version in _versions(target).items())

    def _has_room(self) -> bool:
        return self._files.room >= AHEAD_ROOM_CHARS_MIN

    def _known(self, id_: str, scopes: Container[str]) -> RankFacts | None:
        facts = self._files.get(id_)
        return facts if facts and facts.scope in scopes else None


def _versions(target: Target) -> dict[str, int]:
    """Returns the next import's version by repository key: ids repeat between tenants."""
    return {r.key: r.next_version for r in target.repositories}


def _rank_facts(point: StoredPoint) -> RankFacts:
    return RankFacts(
        file=point.id,
        scope=point.text("scope"),
        path=point.text("path"),
        generation=point.text("generation"),
        language=point.text("language"),
        flags=point.text("flags"),
        prose=bool(point.payload.get("prose")),
        lines=point.number("lines"),
        starts=point.text("starts"),
        chunk_symbols=point.text("chunk_symbols"),
        outline=Outline(point.text("definitions")),
    )
