"""Who uses a symbol: every edge with how it was found, beside every line that holds the name.

definitions of the name ▶ files that hold it ▶ edges to them, by the graph if it knows these files as they are, else by what their
parser saw ▶ what of the text they explain
"""

import asyncio
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.code import EDGE_KINDS, EdgeStatus, Flag
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.symbols import (
    DefinitionPlace,
    Reconciliation,
    ReferenceEntry,
    ReferencesReply,
    ReferencesRequest,
    SymbolReferences,
    TextLine,
    UsesReply,
    UsesRequest,
)
from prism_resolver.modules import File, imports, key
from prism_resolver.occurrences import Occurrences
from prism_resolver.program import Program
from prism_runtime.cursors import read_cursor, write_cursor
from prism_runtime.packing import unpack_lines
from prism_search.adapters.definitions import Definitions, Found, Sought, each_place_once, told_definition
from prism_search.adapters.listing import Files, Listing
from prism_search.adapters.manifests import Manifests
from prism_search.adapters.occurrences import OccurrenceReader
from prism_search.adapters.sources import Sources
from prism_search.adapters.texts import Texts
from prism_search.adapters.uses import GraphUses
from prism_search.core import references as report
from prism_search.core.lines import shown
from prism_search.core.patterns import compile_pattern
from prism_search.core.references import Definition as Home
from prism_search.core.references import Edge, Line, SourceFile, TextFile
from prism_store.globs import compile_glob
from prism_store.reader import StoredPoint

FILES_MAX = 1_000
AROUND_MAX = 100
# Files that are read for what they say of the classes of variables, and how often for what those say in turn.
LEARNED_MAX = 100
ROUNDS_MAX = 2
DEFINITIONS_SHOWN_MAX = 5
UNEXPLAINED_SHOWN_MAX = 10


class ReferencesHandler:
    """Answers `references`."""

    def __init__(
        self,
        repositories: RepositoryCatalog,
        definitions: Definitions,
        listing: Listing,
        *,
        texts: Texts,
        sources: Sources,
        occurrences: OccurrenceReader,
        manifests: Manifests,
        graph: GraphUses,
    ) -> None:
        self._repositories = repositories
        self._definitions = definitions
        self._listing = listing
        self._texts = texts
        self._sources = sources
        self._occurrences = occurrences
        self._manifests = manifests
        self._graph = graph

    async def references(self, request: ReferencesRequest) -> ReferencesReply:
        """One answer a symbol. A cursor goes on with one symbol alone."""
        if request.cursor and len(request.symbols) > 1:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT, "A cursor is valid for one symbol.", "Request that symbol only."
            )
        target = await self._repositories.target(request)
        answers = [await self._answer(target, symbol, request) for symbol in request.symbols]
        return ReferencesReply(answers=tuple(answers), receipt=await self._repositories.receipt(target))

    async def entries(self, request: ReferencesRequest) -> tuple[ReferenceEntry, ...]:
        """Who uses one symbol and no more: without the texts of lines, and without a look at what of the text they explain.

        The graph tells that without a file being read.
        """
        target = await self._repositories.target(request)
        (symbol,) = request.symbols
        sought = await self._seek(target, symbol, request)
        uses = await self._by_graph(sought)
        if uses is None:
            files, edges = await self._by_files(sought)
            uses = await asyncio.to_thread(_by_edges, sought.question, files, edges)
        return uses.entries

    async def _answer(self, target: Target, symbol: str, request: ReferencesRequest) -> SymbolReferences:
        asked = await self._seek(target, symbol, request)
        uses = await self._by_graph(asked)
        if uses is not None:
            points = [*asked.wanted, *_others(uses.entries, asked.listed, asked.wanted)]
            texts = await self._texts_of(asked.question, points, unpack_lines(uses.explained))
        else:
            points = [*asked.wanted, *asked.around]
            files, edges = await self._by_files(asked)
            uses = await asyncio.to_thread(_by_edges, asked.question, files, edges)
            texts = report.as_texts(asked.question.name, files, edges)
        left_out = len(asked.holding) - len(asked.wanted) + len(points) - len(texts)
        return await asyncio.to_thread(_told, asked.question, uses, texts, left_out)

    async def _seek(self, target: Target, symbol: str, request: ReferencesRequest) -> "_Asked":
        sought = await self._definitions.seek(target, symbol, request.path)
        name = sought.found[0].symbol.name if sought.found else sought.name.last
        question = _Question(target, request, sought, name)
        return _Asked(question, await self._listing.files(target), await self._occurrences.of(target))

    async def _by_graph(self, asked: "_Asked") -> UsesReply | None:
        """What the graph of a repository tells; None if there is none, or one of these files, or of those that it speaks of, was
        written since it was built, or if it was built with other SCIP indexes.
        """
        question, listed = asked.question, asked.listed
        target = question.target
        # What a layer has is written under other versions than the base: they do not tell what is later than a graph.
        if not question.sought.found or len(target.repositories) > 1 or target.ref:
            return None
        uses = await self._graph.of(question.of_graph())
        if uses is None or listed.removed_in > uses.graph_version:
            return None
        if uses.graph_indexes != self._occurrences.objects(target):
            return None
        later = list(listed.written_after(uses.graph_version))
        if not later:
            return uses
        ids, paths = {point.id for point in (*asked.wanted, *asked.around)}, _paths_told(uses)
        return None if any(point.id in ids or point.text("path") in paths for point in later) else uses

    async def _by_files(self, asked: "_Asked") -> tuple[Sequence[SourceFile], Sequence[Edge]]:
        """The files that may tell, and the edges among them by what the parser saw."""
        question, listed = asked.question, asked.listed
        target = question.target
        files = await self._sources.read(target, [*asked.wanted, *asked.around])
        program = Program(asked.occurrences, await self._manifests.packages(target, listed), listed.ids)
        return files, await self._edges(target, listed, question.sought, files, program)

    async def _texts_of(
        self, question: "_Question", points: Sequence[StoredPoint], explained: Mapping[str, Sequence[int]]
    ) -> list[TextFile]:
        texts = await self._texts.read(question.target.scope, points)
        return [
            TextFile(
                point.repo,
                point.text("path"),
                bool(point.payload.get("prose")),
                text,
                frozenset(explained.get(point.text("path"), ())),
            )
            for point, text in zip(points, texts, strict=True)
            if text is not None
        ]

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


class _Question(NamedTuple):
    """What is asked about a name, and where it is defined."""

    target: Target
    request: ReferencesRequest
    sought: Sought
    name: str

    @property
    def of_cursor(self) -> str:
        """What a cursor belongs to."""
        symbols = (self.sought.name.spelled,)
        return self.request.model_copy(
            update={"symbols": symbols, "limit": 1, "cursor": ""}
        ).model_dump_json()

    @property
    def start(self) -> int:
        """How many uses earlier pages had."""
        cursor = self.request.cursor
        return int(read_cursor(self.of_cursor, cursor, (int,))[0]) if cursor else 0

    def of_graph(self) -> UsesRequest:
        """The same for atlas."""
        request = self.request
        return UsesRequest(
            tenant=request.tenant,
            repo=self.target.repositories[0].repo,
            ref=request.ref,
            name=self.name,
            definitions=tuple(
                DefinitionPlace(
                    file_path=one.point.text("path"),
                    qualified_name=one.symbol.qualified_name,
                    name_line=one.symbol.name_line,
                )
                for one in self.sought.found
            ),
            path_filter=request.path_filter,
            reference_type=request.reference_type,
            source_only=request.source_only,
            limit=request.limit,
            start=self.start,
        )


@dataclass(frozen=True)
class _Asked:
    """A question, and where its answer may be found."""

    question: _Question
    listed: Files
    occurrences: Occurrences

    @cached_property
    def holding(self) -> Sequence[StoredPoint]:
        """The files that may hold the name."""
        pattern = compile_pattern(self.question.name, regex=False, case_sensitive=True, word=False)
        return self.listed.that_may_hold(pattern.clauses)

    @cached_property
    def wanted(self) -> Sequence[StoredPoint]:
        """Those of them that are looked at."""
        return sorted(self.holding, key=_order(self.question.sought.found, self.question.request))[:FILES_MAX]

    @cached_property
    def around(self) -> Sequence[StoredPoint]:
        """Files that may belong to a definition without holding its name."""
        read = {point.id for point in self.wanted}
        return _around(self.question.sought.found, self.occurrences, self.listed, read)


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


def _by_edges(question: _Question, files: Sequence[SourceFile], every: Sequence[Edge]) -> UsesReply:
    """What edges among files tell, in the words of the graph."""
    request = question.request
    edges = list(filter(_filter(request), every))
    page = edges[question.start : question.start + request.limit]
    resolved = sum(edge.status is EdgeStatus.RESOLVED for edge in every)
    return UsesReply(
        entries=tuple(_entry(question.target, edge) for edge in page),
        counts=report.count_groups(edges),
        resolved=resolved,
        candidates=len(every) - resolved,
        elsewhere=report.count_elsewhere(question.name, files, every),
    )


def _paths_told(uses: UsesReply) -> set[str]:
    """The files that held the name when the graph was built, or use it under another; they may have dropped it since."""
    return {*unpack_lines(uses.explained), *(entry.file_path for entry in uses.entries)}


def _others(
    entries: Iterable[ReferenceEntry], listed: Files, points: Iterable[StoredPoint]
) -> Sequence[StoredPoint]:
    """The files of uses that are none of these: what is imported under another name may not be spelled there."""
    missing = {entry.file_path for entry in entries} - {point.text("path") for point in points}
    return [point for point in listed.points if point.text("path") in missing] if missing else ()


def _told(question: _Question, uses: UsesReply, files: Sequence[TextFile], left_out: int) -> SymbolReferences:
    target, _, sought, name = question
    defined = each_place_once(sought.found)
    text = report.read_text(name, files)
    total = sum(uses.counts.values())
    ends = question.start + len(uses.entries)
    return SymbolReferences(
        symbol=sought.name.spelled,
        definitions=tuple(
            told_definition(target, one.point, one.symbol) for one in defined[:DEFINITIONS_SHOWN_MAX]
        ),
        total_definitions=len(defined),
        entries=tuple(_with_texts(target, uses.entries, files)),
        counts=uses.counts,
        reconciliation=Reconciliation(
            resolved=uses.resolved,
            candidates=uses.candidates,
            elsewhere=uses.elsewhere,
            text_lines=text.lines,
            unexplained=len(text.unexplained),
            unexplained_lines=tuple(
                _text_line(target, line) for line in text.unexplained[:UNEXPLAINED_SHOWN_MAX]
            ),
            files=text.files,
            prose_lines=text.prose_lines,
            prose_files=text.prose_files,
            files_left_out=left_out,
        ),
        next_cursor=write_cursor(question.of_cursor, ends) if ends < total else "",
        suggestions=sought.suggestions,
        matched=sought.name.matched_suffix(sought.found[0].fit) if sought.found else "",
        unparsed=sought.unparsed,
    )


def _with_texts(
    target: Target, entries: Iterable[ReferenceEntry], files: Iterable[TextFile]
) -> Iterator[ReferenceEntry]:
    by_place = {(target.name_of(file.scope), file.path): file for file in files}
    for entry in entries:
        file = by_place.get((entry.repo, entry.file_path))
        text = shown(Line(file, entry.line).text).strip() if file else ""
        yield entry.model_copy(update={"text": text})


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
    and some are known to implement it.
    """
    folders = (point for one in found for point in listed.around(one.point.repo, one.point.text("path")))
    implementing = occurrences.implementing({one.point.id for one in found})
    implementers = (point for point in listed.points if point.id in implementing) if implementing else ()
    around = {point.id: point for point in (*folders, *implementers) if point.id not in read}
    return list(around.values())[:AROUND_MAX]


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
            and not (request.source_only and Flag.TEST in edge.file.flags)
            and (glob is None or glob.fullmatch(edge.file.path) is not None)
        )

    return passes


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
        text="",
    )


def _text_line(target: Target, line: Line) -> TextLine:
    file = line.file
    return TextLine(
        repo=target.name_of(file.scope),
        file_path=file.path,
        line=line.number,
        text=shown(line.text).strip(),
    )
