"""One-line summaries of files, read when they are shown."""

from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.base import chunk_id
from prism_contracts.code import FileStatus
from prism_resolver.prose import first_sentence, leading_sentence
from prism_runtime.packing import unpack_symbol_facts
from prism_runtime.weighted_cache import WeightedCache
from prism_store.reader import Reader
from prism_store.scope import Scope

# Sentences of about 10,000 files, in characters.
KEPT_CHARS_MAX = 1_000_000
FIELDS = ("status", "generation", "symbols")


class SummarizedFile(NamedTuple):
    """The id of a file, its content when the graph was built, and the qualified name of its main symbol."""

    id: str
    generation: str
    main_symbol: str


class Summaries:
    """Reads summaries from the store and caches them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._cache: WeightedCache[SummarizedFile, str] = WeightedCache(KEPT_CHARS_MAX)

    async def get(self, scope: Scope, files: Sequence[SummarizedFile]) -> dict[str, str]:
        """Returns summaries by file id.

        A summary is the first sentence of the comment that opens the file, else of the docstring of its main
        symbol, else of its first docstring. Empty if the file has none of these.
        """
        known = {file: self._cache.get(file) for file in files}
        missing = [file for file, summary in known.items() if summary is None]
        if missing:
            for file, summary in (await self._read(scope, missing)).items():
                known[file] = summary
                self._cache.put(file, summary, len(summary) + 1)
        return {file.id: summary or "" for file, summary in known.items()}

    async def _read(self, scope: Scope, files: Sequence[SummarizedFile]) -> dict[SummarizedFile, str]:
        points = await self._reader.points(scope, [file.id for file in files], FIELDS)
        # A file of the graph may be deleted by now; its tombstone has no content.
        first = {
            id_: chunk_id(id_, point.text("generation"), 0)
            for id_, point in points.items()
            if point.text("status") == FileStatus.INDEXED
        }
        chunks = await self._reader.points(scope, list(first.values()), ("text",))
        found = {}
        for file in files:
            if file.id in first:
                chunk = chunks.get(first[file.id])
                opening = leading_sentence(chunk.text("text")) if chunk else ""
                found[file] = opening or _docstring(points[file.id].text("symbols"), file.main_symbol)
        return found


def _docstring(packed: str, main: str) -> str:
    documented = [symbol for symbol in unpack_symbol_facts(packed) if symbol.docstring]
    documented.sort(key=lambda symbol: symbol.qualified_name != main)
    return first_sentence(documented[0].docstring) if documented else ""
