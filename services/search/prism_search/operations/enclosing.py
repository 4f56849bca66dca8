"""Names the symbol around each line of an answer, from outlines that search keeps in memory for ranking."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prism_catalog.target import Target
from prism_contracts.rpc.common import EnclosingSymbol
from prism_search.adapters.facts import Facts
from prism_search.core.outline import OutlineEntry, innermost
from prism_store.reader import StoredPoint

TOP_LEVEL = EnclosingSymbol(name="")


class IndexedLine(NamedTuple):
    """A line of a version of a file."""

    file: str  # id of the file point
    generation: str
    line: int

    @classmethod
    def of(cls, point: StoredPoint, line: int) -> "IndexedLine":
        """Returns a line of an indexed file."""
        return cls(point.id, point.text("generation"), line)


class EnclosingSymbols:
    """Looks up the symbols around lines."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    async def find(self, target: Target, lines: Iterable[IndexedLine]) -> dict[IndexedLine, EnclosingSymbol]:
        """Returns the symbol around each line, without lines of files that changed or have no symbols."""
        by_file: dict[str, list[IndexedLine]] = {}
        for line in lines:
            by_file.setdefault(line.file, []).append(line)
        files = await self._facts.files(target, by_file)
        found = {}
        for id_, wanted in by_file.items():
            file = files.get(id_)
            definitions = file.outline.definitions() if file else ()  # parsed once per file
            for line in wanted if definitions else ():
                if file and file.generation == line.generation:
                    found[line] = _around(definitions, line.line)
        return found


def _around(definitions: Sequence[OutlineEntry], line: int) -> EnclosingSymbol:
    symbol = innermost(definitions, line)
    if symbol is None:
        return TOP_LEVEL
    return EnclosingSymbol(
        name=symbol.qualified_name, kind=symbol.kind, start_line=symbol.start, end_line=symbol.end
    )
