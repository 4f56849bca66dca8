"""Descriptions of files, made when they are shown: every tool that shows one reads it here."""

from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.base import chunk_id
from prism_contracts.code import FileStatus
from prism_resolver.descriptions import DescribedFile, describe_file
from prism_runtime.packing import unpack_symbol_facts
from prism_runtime.weighted_cache import WeightedCache
from prism_store.reader import Reader, StoredPoint
from prism_store.scope import Scope

# Sentences of about 10,000 files, in characters.
KEPT_CHARS_MAX = 1_000_000
FIELDS = ("path", "language", "flags", "status", "generation", "symbols")


class IndexedVersion(NamedTuple):
    """The id of a file and the address of its content."""

    id: str
    generation: str


class Descriptions:
    """Reads what describes files from the store, and caches the sentences."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._cache: WeightedCache[IndexedVersion, str] = WeightedCache(KEPT_CHARS_MAX)

    async def of(self, scope: Scope, files: Sequence[IndexedVersion]) -> dict[str, str]:
        """Returns descriptions by file id, each one sentence; empty for a file that says nothing, or is gone."""
        known = {file: self._cache.get(file) for file in files}
        missing = [file for file, sentence in known.items() if sentence is None]
        if missing:
            for file, sentence in (await self._read(scope, missing)).items():
                known[file] = sentence
                self._cache.put(file, sentence, len(sentence) + 1)
        return {file.id: sentence or "" for file, sentence in known.items()}

    async def _read(self, scope: Scope, files: Sequence[IndexedVersion]) -> dict[IndexedVersion, str]:
        points = await self._reader.points(scope, [file.id for file in files], FIELDS)
        # A file of the graph may be deleted by now; its tombstone has no content.
        first = {
            id_: chunk_id(id_, point.text("generation"), 0)
            for id_, point in points.items()
            if point.text("status") == FileStatus.INDEXED
        }
        chunks = await self._reader.points(scope, list(first.values()), ("text",))
        return {
            file: describe_file(_described(points[file.id], chunks.get(first[file.id])))
            for file in files
            if file.id in first
        }


def _described(file: StoredPoint, opening: StoredPoint | None) -> DescribedFile:
    return DescribedFile(
        path=file.text("path"),
        language=file.text("language"),
        flags=file.text("flags"),
        symbols=unpack_symbol_facts(file.text("symbols")),
        opening=opening.text("text") if opening else "",
    )
