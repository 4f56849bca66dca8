"""What files say of themselves in one line, read when it is shown."""

from collections.abc import Sequence

from prism_contracts.base import chunk_id
from prism_graph.prose import first_sentence, leading_sentence
from prism_runtime.packing import unpack_symbols
from prism_store.reader import Reader
from prism_store.scope import Scope


class Summaries:
    """Reads them from the store."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def of(self, scope: Scope, files: Sequence[str], main_symbols: dict[str, str]) -> dict[str, str]:
        """By id of the file: the first sentence of the comment it begins with, else that of its main symbol's docstring, else of the first
        docstring. `main_symbols` are qualified names by id. Empty for a file that says nothing.
        """
        points = await self._reader.points(scope, files, ("generation", "symbols"))
        first = {file: chunk_id(file, point.text("generation"), 0) for file, point in points.items()}
        chunks = await self._reader.points(scope, list(first.values()), ("text",))
        told = {}
        for file, point in points.items():
            chunk = chunks.get(first[file])
            opening = leading_sentence(chunk.text("text")) if chunk else ""
            told[file] = opening or _docstring(point.text("symbols"), main_symbols.get(file, ""))
        return told


def _docstring(packed: str, main: str) -> str:
    documented = [symbol for symbol in unpack_symbols(packed) if symbol.docstring]
    documented.sort(key=lambda symbol: symbol.qualified_name != main)
    return first_sentence(documented[0].docstring) if documented else ""
