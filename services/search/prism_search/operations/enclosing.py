"""Names the symbol around each line of an answer, from outlines that search keeps in memory for ranking."""

from collections.abc import Iterable
from typing import NamedTuple

from prism_catalog.target import Target
from prism_contracts.rpc.common import EnclosingSymbol
from prism_search.adapters.facts import Facts
from prism_search.core.outline import Outline
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
        wanted = list(lines)
        files = await self._facts.files(target, dict.fromkeys(line.file for line in wanted))
        found = {}
        for line in wanted:
            file = files.get(line.file)
            if file and file.generation == line.generation and file.outline.packed:
                found[line] = _around(file.outline, line.line)
        return found


def _around(outline: Outline, line: int) -> EnclosingSymbol:
    symbol = outline.around(line)
    if symbol is None:
        return TOP_LEVEL
    return EnclosingSymbol(
        name=symbol.qualified_name, kind=symbol.kind, start_line=symbol.start, end_line=symbol.end
    )
