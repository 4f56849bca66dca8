"""Reads files with what their parser found, and caches them: a version of a file never changes."""

import asyncio
import sys
from collections.abc import Sequence

from prism_catalog.target import Target
from prism_resolver.facts import FileFacts, with_qualifier_uses
from prism_resolver.unit import read_unit
from prism_runtime.packing import unpack_bindings, unpack_references, unpack_symbol_facts
from prism_runtime.weighted_cache import WeightedCache
from prism_search.adapters.texts import Texts
from prism_search.core.lines import lines_of
from prism_search.core.references.edges import PROSE, SourceFile
from prism_store.reader import Reader, StoredPoint

FIELDS = ("path", "generation", "blob", "language", "flags", "prose", "symbols", "references", "bindings")
BYTES_KEPT_MAX = 128 * 1024 * 1024
# Approximate size of a symbol, reference or binding object.
ITEM_BYTES = 300
FILES_PER_READ = 200


class Sources:
    """Reads source files."""

    def __init__(self, reader: Reader, texts: Texts) -> None:
        self._reader = reader
        self._texts = texts
        self._cache: WeightedCache[tuple[str, str], SourceFile] = WeightedCache(BYTES_KEPT_MAX)

    async def read(self, target: Target, points: Sequence[StoredPoint]) -> list[SourceFile]:
        """Returns the files that have not changed since the points were read.

        `points` have scope, path, generation and starts.
        """
        found: list[SourceFile] = []
        for start in range(0, len(points), FILES_PER_READ):
            found += await self._read_some(target, points[start : start + FILES_PER_READ])
        return found

    async def _read_some(self, target: Target, points: Sequence[StoredPoint]) -> list[SourceFile]:
        known = {point.id: self._cache.get((point.id, point.text("generation"))) for point in points}
        missing = [point for point in points if known[point.id] is None]
        texts = await self._texts.read(target.scope, missing)
        facts = await self._reader.points(target.scope, [point.id for point in missing], FIELDS)
        for point, text in zip(missing, texts, strict=True):
            fact = facts.get(point.id)
            if text is None or fact is None or fact.text("generation") != point.text("generation"):
                continue
            # In a thread: a file with thousands of references would delay other questions.
            file = await asyncio.to_thread(_source_file, target, point, fact, text)
            known[point.id] = file
            weight = sum(map(sys.getsizeof, file.lines))
            weight += ITEM_BYTES * (
                len(file.facts.symbols) + len(file.facts.references) + len(file.facts.bindings)
            )
            self._cache.put((point.id, point.text("generation")), file, weight)
        return [file for file in known.values() if file is not None]


def _source_file(target: Target, point: StoredPoint, fact: StoredPoint, text: str) -> SourceFile:
    facts = FileFacts(
        id=point.id,
        scope=point.repo,
        repo=target.name_of(point.repo).rpartition("/")[2],
        path=fact.text("path"),
        language=fact.text("language"),
        flags=fact.text("flags") + (PROSE if fact.payload.get("prose") else ""),
        symbols=unpack_symbol_facts(fact.text("symbols")),
        references=unpack_references(fact.text("references")),
        bindings=unpack_bindings(fact.text("bindings")),
        blob=fact.text("blob"),
    )
    facts = with_qualifier_uses(facts)
    return SourceFile(facts, read_unit(facts), lines_of(text))
