"""Where symbols are defined."""

from collections.abc import Sequence

from rapidfuzz import process

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, FileStatus, Symbol
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc import Definition, DefinitionsReply, DefinitionsRequest, SymbolAnswer
from prism_runtime.packing import unpack_symbols
from prism_search.adapters.repositories import Repositories, Target
from prism_search.adapters.texts import FILE_FIELDS, read_text
from prism_search.core.query import dotted, last_name
from prism_store.reader import Reader, StoredPoint, TextLeg, has, has_any, with_status

DEFINITIONS_MAX = 20
FILES_MAX = 60
SUGGESTIONS_MAX = 5
SUGGESTION_SCORE_MIN = 55
BODY_LINES_MAX = 600
NAME_CHARS_MAX = 500


class SymbolHandlers:
    """Answers `definitions`."""

    def __init__(self, reader: Reader, repositories: Repositories) -> None:
        self._reader = reader
        self._repositories = repositories

    async def definitions(self, request: DefinitionsRequest) -> DefinitionsReply:
        """One answer a symbol; near names where there is none."""
        target = self._repositories.target(request)
        answers = [await self._answer(target, symbol.strip(), request) for symbol in request.symbols]
        return DefinitionsReply(answers=tuple(answers), receipt=await self._repositories.receipt(target))

    async def _answer(self, target: Target, symbol: str, request: DefinitionsRequest) -> SymbolAnswer:
        if not symbol or len(symbol) > NAME_CHARS_MAX:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                f"A symbol's name has 1 to {NAME_CHARS_MAX} characters.",
                "Give a name such as get or Session.get.",
            )
        name = dotted(symbol.removesuffix("()"))
        found = await self._find(target, name, request.path)
        if not found:
            return SymbolAnswer(
                symbol=symbol, definitions=(), total=0, suggestions=await self._suggest(target, name)
            )
        shown = found[:DEFINITIONS_MAX]
        definitions = [await self._describe(target, *item, body=request.include_body) for item in shown]
        return SymbolAnswer(symbol=symbol, definitions=tuple(definitions), total=len(found))

    async def _find(self, target: Target, name: str, path: str) -> list[tuple[StoredPoint, Symbol]]:
        """Definitions whose qualified name ends with the asked name, best first."""
        conditions = [with_status(FileStatus.INDEXED), has_any("names", sorted({name, last_name(name)}))]
        if path:
            conditions.append(has("path", path))
        files: list[StoredPoint] = []
        async for point in self._reader.scan(
            target.scope, conditions, ["scope", *FILE_FIELDS, "symbols"], FILES_MAX
        ):
            files.append(point)
            if len(files) >= FILES_MAX:
                break
        found = [
            (point, symbol)
            for point in files
            for symbol in unpack_symbols(point.text("symbols"))
            if _is_called(symbol, name)
        ]
        return sorted(found, key=lambda item: _order(item[0], item[1], name))

    async def _suggest(self, target: Target, name: str) -> tuple[str, ...]:
        """Names that are defined and look alike, by the words that they share."""
        legs = [
            TextLeg("symbol_text", last_name(name), FILES_MAX),
            TextLeg("path_text", last_name(name), FILES_MAX),
        ]
        answers = await self._reader.ask_legs(target.scope, legs, ["names"])
        names = {known for points in answers for point in points for known in _names(point)}
        near = process.extract(name, sorted(names), limit=SUGGESTIONS_MAX, score_cutoff=SUGGESTION_SCORE_MIN)
        return tuple(match for match, _, _ in near)

    async def _describe(
        self, target: Target, point: StoredPoint, symbol: Symbol, *, body: bool
    ) -> Definition:
        text = ""
        if body:
            lines = (await read_text(self._reader, target.scope, point)).text.split("\n")
            last = min(symbol.end_line, symbol.start_line + BODY_LINES_MAX - 1)
            text = "\n".join(lines[symbol.start_line - 1 : last])
        return Definition(
            repo=target.name_of(point.text("scope")),
            file_path=point.text("path"),
            language=point.text("language"),
            symbol=symbol,
            body=text,
        )


def _is_called(symbol: Symbol, name: str) -> bool:
    qualified = symbol.qualified_name
    return qualified == name or qualified.endswith(f".{name}") or symbol.name == name


def _order(point: StoredPoint, symbol: Symbol, name: str) -> tuple[object, ...]:
    """Whole names first, code before tests and generated files, types before callables before values."""
    group = 0 if symbol.kind in TYPE_KINDS else 1 if symbol.kind in CALLABLE_KINDS else 2
    low = sum(flag in point.text("flags") for flag in "tgvm")
    return (symbol.qualified_name != name, low, group, point.text("path"), symbol.start_line)


def _names(point: StoredPoint) -> Sequence[str]:
    names = point.payload.get("names")
    return names if isinstance(names, list) else ()
