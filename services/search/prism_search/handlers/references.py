"""Who uses a symbol: every edge with how it was found, beside every line that holds the name.

definitions of the name ▶ files that hold it ▶ edges of each ▶ what of the text they explain
"""

import asyncio
from collections.abc import Callable, Container, Sequence
from itertools import islice

from prism_contracts.code import EDGE_KINDS, EdgeStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc import (
    Definition,
    Reconciliation,
    ReferenceEntry,
    ReferencesReply,
    ReferencesRequest,
    SymbolReferences,
    TextLine,
)
from prism_graph.modules import ECMASCRIPT, MANIFEST, File, imports, key
from prism_graph.occurrences import Occurrences
from prism_graph.program import Program
from prism_runtime.cursors import read_cursor, write_cursor
from prism_search.adapters.definitions import Definitions, Found, Sought
from prism_search.adapters.listing import Files, Listing
from prism_search.adapters.manifests import Manifests
from prism_search.adapters.occurrences import OccurrenceReader
from prism_search.adapters.sources import Sources
from prism_search.core import references as report
from prism_search.core.lines import shown
from prism_search.core.patterns import compile_pattern
from prism_search.core.references import Definition as Home
from prism_search.core.references import Edge, SourceFile
from prism_store.globs import compile_glob
from prism_store.reader import StoredPoint
from prism_store.repositories import Repositories, Target

FILES_MAX = 1_000
AROUND_MAX = 100
MANIFESTS_MAX = 500
# Files that are read for what they say of the classes of variables, and how often for what those say in turn.
LEARNED_MAX = 100
ROUNDS_MAX = 2
DEFINITIONS_SHOWN_MAX = 5
UNEXPLAINED_SHOWN_MAX = 10


class ReferencesHandler:
    """Answers `references`."""

    def __init__(
        self,
        repositories: Repositories,
        definitions: Definitions,
        listing: Listing,
        *,
        sources: Sources,
        occurrences: OccurrenceReader,
        manifests: Manifests,
    ) -> None:
        self._repositories = repositories
        self._definitions = definitions
        self._listing = listing
        self._sources = sources
        self._occurrences = occurrences
        self._manifests = manifests

    async def references(self, request: ReferencesRequest) -> ReferencesReply:
        """One answer a symbol. A cursor goes on with one symbol alone."""
        if request.cursor and len(request.symbols) > 1:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT, "A cursor belongs to one symbol.", "Ask for that symbol alone."
            )
        target = await self._repositories.target(request)
        answers = [await self._answer(target, symbol, request) for symbol in request.symbols]
        return ReferencesReply(answers=tuple(answers), receipt=await self._repositories.receipt(target))

    async def _answer(self, target: Target, asked: str, request: ReferencesRequest) -> SymbolReferences:
        sought = await self._definitions.seek(target, asked, request.path)
        name = sought.found[0].symbol.name if sought.found else sought.name.last
        listed = await self._listing.files(target)
        pattern = compile_pattern(name, regex=False, case_sensitive=True, word=False)
        holding = listed.that_may_hold(pattern.clauses)
        wanted = sorted(holding, key=_order(sought.found, request))[:FILES_MAX]
        occurrences = await self._occurrences.of(target)
        around = _around(sought.found, occurrences, listed, {point.id for point in wanted})
        files = await self._sources.read(target, [*wanted, *around])
        program = Program(occurrences, await self._manifests.packages(target, listed))
        edges = await self._edges(target, listed, sought, files, program)
        left_out = len(holding) + len(around) - len(files)
        return await asyncio.to_thread(
            _told, target, sought, files, edges, request, name=name, left_out=left_out
        )

    async def _edges(
        self,
        target: Target,
        listed: Files,
        sought: Sought,
        files: Sequence[SourceFile],
        program: Program,
    ) -> Sequence[Edge]:
        """The edges among files. What a variable is may be said in a file that does not hold the name: such are read too."""
        homes = _homes(sought.found, files)
        if not homes:
            return ()
        uses = report.Uses(homes, files, program)
        edges = await asyncio.to_thread(uses.edges)
        read = {file.id for file in files}
        for _ in range(ROUNDS_MAX):
            if all(edge.status is EdgeStatus.RESOLVED for edge in edges):
                break
            missing = await asyncio.to_thread(_missing, target, listed, uses, read)
            if not missing:
                break
            read |= {point.id for point in missing}
            uses.learn(await self._sources.read(target, missing))
            edges = await asyncio.to_thread(uses.edges)
        return edges


def _missing(target: Target, listed: Files, uses: report.Uses, read: Container[str]) -> list[StoredPoint]:
    """Files that were not read and are modules that were looked for."""
    found = (
        point
        for module in uses.missing()
        for point in listed.with_key(key(module.importer, module.name))
        if point.id not in read and imports(module.importer, module.name, _file(target, point))
    )
    return list({point.id: point for point in islice(found, LEARNED_MAX)}.values())


def _file(target: Target, point: StoredPoint) -> File:
    repo = target.name_of(point.repo).rpartition("/")[2]
    return File(point.text("path"), point.text("language"), repo)


def _told(
    target: Target,
    sought: Sought,
    files: Sequence[SourceFile],
    every: Sequence[Edge],
    request: ReferencesRequest,
    *,
    name: str,
    left_out: int,
) -> SymbolReferences:
    word = report.word_pattern(name)
    holding = [file for file in files if any(name in line and word.search(line) for line in file.lines)]
    text = report.read_text(name, holding, every)
    edges = list(filter(_filter(request), every))
    question = request.model_copy(update={"symbols": (sought.name.spelled,), "limit": 1, "cursor": ""})
    start = _start(question, request.cursor)
    page = edges[start : start + request.limit]
    ends = start + len(page)
    return SymbolReferences(
        symbol=sought.name.spelled,
        definitions=tuple(_definition(target, found) for found in sought.found[:DEFINITIONS_SHOWN_MAX]),
        total_definitions=len(sought.found),
        entries=tuple(_entry(target, edge) for edge in page),
        counts=report.count_groups(edges),
        reconciliation=Reconciliation(
            resolved=sum(edge.status is EdgeStatus.RESOLVED for edge in every),
            candidates=sum(edge.status is EdgeStatus.CANDIDATE for edge in every),
            elsewhere=text.elsewhere,
            text_lines=text.lines,
            unexplained=len(text.unexplained),
            unexplained_lines=tuple(
                _text_line(target, *place) for place in islice(text.unexplained, UNEXPLAINED_SHOWN_MAX)
            ),
            files=len(holding),
            files_left_out=left_out,
        ),
        next_cursor=write_cursor(question.model_dump_json(), ends) if ends < len(edges) else "",
        suggestions=sought.suggestions,
        matched=sought.name.understood_by(sought.found[0].fit) if sought.found else "",
        unparsed=sought.unparsed,
    )


def _order(found: Sequence[Found], request: ReferencesRequest) -> Callable[[StoredPoint], tuple[bool, bool]]:
    """Files that define the symbol first, then those that the filter lets through."""
    homes = {one.point.id for one in found}
    glob = compile_glob(request.path_filter) if request.path_filter else None
    return lambda point: (
        point.id not in homes,
        glob is not None and glob.fullmatch(point.text("path")) is None,
    )


def _around(
    found: Sequence[Found], occurrences: Occurrences, listed: Files, read: Container[str]
) -> Sequence[StoredPoint]:
    """Files that may belong to a definition without holding its name: those that stand for a folder around it may give it on,
    some name the packages that folders are, and some are known to implement it.
    """
    folders = (point for one in found for point in listed.around(one.point.repo, one.point.text("path")))
    is_packaged = any(one.point.text("language") in ECMASCRIPT for one in found)
    manifests = listed.with_key(MANIFEST)[:MANIFESTS_MAX] if is_packaged else ()
    implementing = occurrences.implementing({one.point.id for one in found})
    implementers = (point for point in listed.points if point.id in implementing)
    around = {point.id: point for point in (*manifests, *folders, *implementers) if point.id not in read}
    return list(around.values())[: MANIFESTS_MAX + AROUND_MAX]


def _homes(found: Sequence[Found], files: Sequence[SourceFile]) -> list[Home]:
    """The definitions in the files that were read."""
    by_id = {file.id: file for file in files}
    return [Home(by_id[one.point.id], one.symbol) for one in found if one.point.id in by_id]


def _filter(request: ReferencesRequest) -> Callable[[Edge], bool]:
    glob = compile_glob(request.path_filter) if request.path_filter else None

    def passes(edge: Edge) -> bool:
        kind = EDGE_KINDS[edge.reference.kind]
        return (
            (request.reference_type is None or kind is request.reference_type)
            and not (request.source_only and report.TEST in edge.file.flags)
            and (glob is None or glob.fullmatch(edge.file.path) is not None)
        )

    return passes


def _start(question: ReferencesRequest, cursor: str) -> int:
    return int(read_cursor(question.model_dump_json(), cursor, (int,))[0]) if cursor else 0


def _definition(target: Target, found: Found) -> Definition:
    point = found.point
    return Definition(
        repo=target.name_of(point.repo),
        file_path=point.text("path"),
        language=point.text("language"),
        symbol=found.symbol,
    )


def _entry(target: Target, edge: Edge) -> ReferenceEntry:
    file, reference = edge.file.facts, edge.reference
    return ReferenceEntry(
        repo=target.name_of(file.scope),
        file_path=file.path,
        line=reference.line,
        symbol=file.symbols[reference.symbol].qualified_name if reference.symbol >= 0 else "",
        group=report.group_of(edge),
        edge=EDGE_KINDS[reference.kind],
        status=edge.status,
        strategy=edge.strategy,
        text=_line(edge.file, reference.line),
    )


def _text_line(target: Target, file: SourceFile, line: int) -> TextLine:
    return TextLine(
        repo=target.name_of(file.facts.scope), file_path=file.path, line=line, text=_line(file, line)
    )


def _line(file: SourceFile, number: int) -> str:
    return shown(file.lines[number - 1]).strip() if number <= len(file.lines) else ""
