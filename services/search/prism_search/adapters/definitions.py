"""Finds where a symbol is defined; if it is not, the one that was meant, or similar names."""

from collections.abc import Collection, Iterable, Sequence

from qdrant_client import models

from prism_catalog.target import Target
from prism_contracts.code import ASIDE, UNPARSED, FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import SYMBOL_CHARS_MAX
from prism_resolver.symbol_names import AT_LINE, RepoPath, SymbolName
from prism_runtime.packing import as_symbol, unpack_symbol_facts
from prism_search.adapters.known_names import NameReader
from prism_search.adapters.near_symbols import most_similar, near_symbols
from prism_search.adapters.texts import FILE_FIELDS
from prism_search.core.definitions import DefinitionMatch, LocatedSymbol, NameMatch, best_matches
from prism_search.core.near_names import corrected_name
from prism_search.core.overloads import with_definition, with_parameters
from prism_store.grams import Signatures, read_signature
from prism_store.reader import MatchLeg, Reader, StoredPoint, has, has_any, with_status

FILES_MAX = 60
UNPARSED_SHOWN_MAX = 5
ELSEWHERE_MAX = 5
SUGGESTED_MAX = 5


class Definitions:
    """Finds definitions by name."""

    def __init__(self, reader: Reader, names: NameReader) -> None:
        self._reader = reader
        self._names = names

    async def match(self, target: Target, asked: str, path: str) -> NameMatch:
        """Returns the definitions that best fit a name. Raises INVALID_ARGUMENT for an unusable name."""
        asked = asked.strip()
        if not asked or len(asked) > SYMBOL_CHARS_MAX or not asked.isprintable():
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                f"A symbol name has 1 to {SYMBOL_CHARS_MAX} characters on one line.",
                "Give a name such as get or Session.get.",
            )
        if at_line := await self._at_line(target, asked):
            return at_line
        name = SymbolName.read(asked)
        found = await self._find(target, name, path)
        if found:
            return with_parameters(NameMatch(name, found), asked)
        elsewhere = await self._find(target, name, "") if path else ()
        if elsewhere:  # the name is right, the path is wrong
            places = (f"{one.point.text('path')}:{one.symbol.name_line}" for one in elsewhere[:ELSEWHERE_MAX])
            return NameMatch(name, (), tuple(places))
        near = await near_symbols(self._reader, target.scope, name.last)
        found = await self._find_ending(target, name, path, near)
        if found:
            return NameMatch(name, found)
        nearest = await self._names.near(target, name.parts)
        if meant := corrected_name(name, nearest):
            corrected = SymbolName.read(meant)
            found = await self._find(target, corrected, path)
            found = found or await self._find_ending(target, corrected, path, near)
            if found and not corrected.matched_suffix(found[0].fit):  # the owner is the requested one
                return NameMatch(corrected, found)
        # A much shorter name resembles any long name that happens to contain its letters.
        similar = most_similar(near, name.dotted, chars_min=len(name.last) / 2)
        suggested = tuple(dict.fromkeys([*(one.name for one in nearest), *similar]))[:SUGGESTED_MAX]
        suggestions = await self._with_places(target, suggested)
        return NameMatch(name, (), suggestions, await self._unparsed(target, name))

    async def _at_line(self, target: Target, asked: str) -> NameMatch | None:
        """Returns the innermost definition at a place such as `src/depot.py:42`, with others of its name in the file.

        Returns the overload at that line, and None for a name.
        """
        place = AT_LINE.fullmatch(asked)
        if not place:
            return None
        path, line = place["path"].removeprefix("./"), int(place["line"])
        files = await self._files(target, [has("path", path)], "symbols")
        matches: list[NameMatch] = []
        for point in files.values():
            symbols = [*map(as_symbol, unpack_symbol_facts(point.text("symbols")))]
            around = [one for one in symbols if one.start_line <= line <= one.end_line]
            if around:
                innermost = min(around, key=lambda one: one.end_line - one.start_line)
                name = SymbolName.read(innermost.qualified_name)
                location = RepoPath(target.name_of(point.repo), path)
                found = [
                    DefinitionMatch(point, one, fit)
                    for one in symbols
                    if one.qualified_name == innermost.qualified_name and (fit := name.fit(one, location))
                ]
                matches.append(with_definition(NameMatch(name, found), innermost))
        if not matches:
            return None
        name = SymbolName(asked, matches[0].name.parts)
        return matches[0]._replace(name=name, found=[one for match in matches for one in match.found])

    async def called(self, target: Target, qualified_names: Collection[str]) -> list[LocatedSymbol]:
        """Returns the definitions with these qualified names, by path, from at most FILES_MAX files."""
        every = await self._named(target, qualified_names) if qualified_names else []
        return [one for one in every if one.symbol.qualified_name in qualified_names]

    async def members(self, target: Target, name: str) -> list[LocatedSymbol]:
        """Returns the nested definitions with this name, sorted by path. Reads at most FILES_MAX files."""
        every = await self._named(target, {name})
        return [one for one in every if one.symbol.name == name != one.symbol.qualified_name]

    async def _named(self, target: Target, names: Collection[str]) -> list[LocatedSymbol]:
        """Returns all definitions of the files that define one of these names, by path."""
        files = await self._files(target, [has_any("names", sorted(names))], "symbols")
        return [
            LocatedSymbol(point, symbol, symbols[symbol.parent] if symbol.parent >= 0 else None)
            for point in sorted(files.values(), key=lambda point: point.text("path"))
            for symbols in [[*map(as_symbol, unpack_symbol_facts(point.text("symbols")))]]
            for symbol in symbols
        ]

    async def _find_ending(
        self, target: Target, name: SymbolName, path: str, near: Iterable[str]
    ) -> list[DefinitionMatch]:
        """Returns the definitions whose names are indexed as a whole, such as a module's dotted one."""
        ending = [known for known in near if known.endswith(f".{name.last}")]
        return best_matches(await self._fitting(target, name, path, [ending]))

    async def _with_places(self, target: Target, names: Sequence[str]) -> tuple[str, ...]:
        """Returns each name with the place of its first definition: `Session api/session.py:10-80`."""
        places: dict[str, str] = {}
        for one in sorted(await self._named(target, names) if names else (), key=_order_of_places):
            symbol, path = one.symbol, one.point.text("path")
            for name in (symbol.qualified_name, symbol.name):
                places.setdefault(name, f"{name} {path}:{symbol.start_line}-{symbol.end_line}")
        return tuple(places[name] for name in names if name in places)

    async def _find(self, target: Target, name: SymbolName, path: str) -> list[DefinitionMatch]:
        """Returns the definitions that fit the name best, in the order to show them."""
        # Longer names first: more files may define the last component alone than are read.
        return best_matches(await self._fitting(target, name, path, [name.longer, (name.last,)]))

    async def _fitting(
        self, target: Target, name: SymbolName, path: str, names: Iterable[Sequence[str]]
    ) -> list[DefinitionMatch]:
        """Returns the definitions that fit the name from files that define one of `names`, group by group."""
        files: dict[str, StoredPoint] = {}
        for group in filter(None, names):
            conditions = [has_any("names", group), *([has("path", path)] if path else [])]
            files |= await self._files(target, conditions, "symbols")
        return [
            DefinitionMatch(point, as_symbol(symbol), fit)
            for point in files.values()
            for location in [RepoPath(target.name_of(point.repo), point.text("path"))]
            for symbol in unpack_symbol_facts(point.text("symbols"))
            if (fit := name.fit(symbol, location))
        ]

    async def _files(
        self, target: Target, conditions: Sequence[models.Condition], *fields: str
    ) -> dict[str, StoredPoint]:
        """Returns at most FILES_MAX indexed files that meet the conditions, by id."""
        conditions = [with_status(FileStatus.INDEXED), *conditions]
        fields = ("scope", *FILE_FIELDS, *fields)
        leg = MatchLeg(FILES_MAX, tuple(conditions))
        (points,) = await self._reader.ask_legs(target.scope, [leg], fields)
        return {point.id: point for point in points}

    async def _unparsed(self, target: Target, name: SymbolName) -> tuple[str, ...]:
        """Returns files that may define the name: their text may hold it, and their parser failed."""
        conditions = [with_status(FileStatus.INDEXED), has_any("parse", sorted(UNPARSED))]
        found: list[str] = []
        async for file in self._reader.scan(target.scope, conditions, ["path", "grams"]):
            if Signatures([read_signature(file.text("grams"))]).may_hold([name.last]).all():
                found.append(file.text("path"))
            if len(found) == UNPARSED_SHOWN_MAX:
                break
        return tuple(sorted(found))


def _order_of_places(one: LocatedSymbol) -> tuple[bool, bool, str]:
    """Sort key: source code before tests and generated files, bodies before prototypes."""
    return bool(ASIDE.intersection(one.point.text("flags"))), one.symbol.bodiless, one.point.text("path")
