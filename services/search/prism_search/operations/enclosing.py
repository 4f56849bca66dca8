"""Names the symbol around each line of an answer, from outlines that search keeps in memory for ranking.

Tests that are calls with a title are found in the text of their files.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from prism_catalog.target import Target
from prism_contracts.code import Flag
from prism_contracts.rpc.common import TEST_HOOK, EnclosingSymbol
from prism_resolver.test_blocks import LANGUAGES as TEST_BLOCK_LANGUAGES
from prism_resolver.test_blocks import TestBlock, blocks_of, innermost_block, tests_around
from prism_search.adapters.facts import Facts
from prism_search.adapters.texts import Excerpt, read_excerpts
from prism_search.core.around import TOP_LEVEL, SymbolsAround, symbols_around
from prism_search.core.outline import VALUE, OutlineEntry, innermost, is_place, outermost_callable
from prism_search.core.retrieval.candidates import RankFacts
from prism_store.reader import Reader, StoredPoint

# Further files of an answer have their lines at top level.
TEST_FILES_MAX = 30


class IndexedLine(NamedTuple):
    """A line of a version of a file."""

    file: str  # id of the file point
    generation: str
    line: int

    @classmethod
    def of(cls, point: StoredPoint, line: int) -> "IndexedLine":
        """Returns a line of an indexed file."""
        return cls(point.id, point.text("generation"), line)


class SymbolsOfLines(NamedTuple):
    """The symbol around each line; of lines in hooks, also the tests for which the hook runs."""

    symbols: dict[IndexedLine, EnclosingSymbol]
    tests: dict[IndexedLine, tuple[EnclosingSymbol, ...]]


class EnclosingSymbols:
    """Looks up the symbols around lines."""

    def __init__(self, facts: Facts, reader: Reader) -> None:
        self._facts = facts
        self._reader = reader

    async def find(self, target: Target, lines: Iterable[IndexedLine]) -> dict[IndexedLine, EnclosingSymbol]:
        """Returns the symbol around each line, without lines of files that changed or have no symbols."""
        return (await self.find_with_tests(target, lines)).symbols

    async def find_with_tests(self, target: Target, lines: Iterable[IndexedLine]) -> "SymbolsOfLines":
        """Returns the symbols around lines, as `find`, and the tests for which those in hooks run."""
        by_file: dict[str, list[IndexedLine]] = {}
        for line in lines:
            by_file.setdefault(line.file, []).append(line)
        files = await self._facts.files(target, by_file)
        known = {id_: file for id_, file in files.items() if file.generation == by_file[id_][0].generation}
        blocks = await self._test_blocks(target, known.values())
        found: dict[IndexedLine, EnclosingSymbol] = {}
        hooked: dict[IndexedLine, tuple[EnclosingSymbol, ...]] = {}
        for id_, file in known.items():
            definitions = file.outline.definitions()  # parsed once per file
            tests = blocks.get(id_, ())
            for line in by_file[id_] if definitions or tests else ():
                if file.generation == line.generation:
                    found[line] = _around(definitions, tests, line.line)
                    if found[line].kind == TEST_HOOK:
                        hooked[line] = tuple(test.symbol() for test in tests_around(tests, line.line))
        return SymbolsOfLines(found, hooked)

    async def around(self, target: Target, point: StoredPoint, first: int, last: int) -> SymbolsAround | None:
        """Returns the symbols of a range of lines; None if the file changed or has no symbols."""
        file = (await self._facts.files(target, [point.id])).get(point.id)
        if file is None or file.generation != point.text("generation"):
            return None
        blocks = (await self._test_blocks(target, [file])).get(file.file, ())
        definitions = file.outline.definitions()
        places = [_symbol(one, definitions) for one in definitions if is_place(one)]
        symbols = [*places, *(block.symbol() for block in blocks)]
        return symbols_around(symbols, first, last) if symbols else None

    async def _test_blocks(
        self, target: Target, files: Iterable[RankFacts]
    ) -> dict[str, Sequence[TestBlock]]:
        """Returns by file the tests that are no symbols, of test files in languages that have such tests."""
        wanted = [
            file for file in files if file.language in TEST_BLOCK_LANGUAGES and Flag.TEST in file.flags
        ][:TEST_FILES_MAX]
        excerpts = [Excerpt(file.file, file.generation, file.starts, 1, file.lines) for file in wanted]
        texts = await read_excerpts(self._reader, target.scope, excerpts) if wanted else ()
        return {
            file.file: blocks_of(text.split("\n"))
            for file, text in zip(wanted, texts, strict=True)
            if text is not None
        }


def _around(definitions: Sequence[OutlineEntry], tests: Sequence[TestBlock], line: int) -> EnclosingSymbol:
    symbol, test = innermost(definitions, line), innermost_block(tests, line)
    if test and (symbol is None or symbol.group == VALUE or symbol.start <= test.start):
        return test.symbol()
    if symbol is None:
        return TOP_LEVEL
    return _symbol(symbol, definitions)


def _symbol(entry: OutlineEntry, definitions: Sequence[OutlineEntry]) -> EnclosingSymbol:
    outer = outermost_callable(definitions, entry)
    return EnclosingSymbol(
        name=entry.qualified_name,
        kind=entry.kind,
        start_line=entry.start,
        end_line=entry.end,
        outer=_symbol(outer, ()) if outer else None,
    )
