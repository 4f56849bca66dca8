"""Finds who uses a symbol: every edge with how it was resolved, and every line of text that holds the name.

definitions of the name ▶ files that may hold it ▶ edges, from the graph if it knows the current versions of
these files, else from what their parsers found ▶ lines of text that no edge explains
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple, TypeVar

from prism_catalog.target import Target
from prism_contracts.code import EdgeKind, EdgeStatus, Flag, ReferenceKind, Strategy
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.symbols import (
    REFERENCES_LIMIT_MAX,
    Definition,
    HelpedTests,
    PlacedSymbol,
    ReferenceEntry,
    ReferenceGroup,
    ReferencesRequest,
    SymbolReferences,
    TextLine,
    UsesReply,
)
from prism_resolver.languages import family_of
from prism_resolver.macro_calls import call_around
from prism_resolver.manifests import Packages
from prism_resolver.modules import File, import_texts, imports, key
from prism_resolver.occurrences import Occurrences
from prism_resolver.program import Program
from prism_resolver.test_blocks import marks_above
from prism_runtime.packing import unpack_lines
from prism_search.adapters.definitions import Definitions
from prism_search.adapters.listing import Files, Listing
from prism_search.adapters.manifests import Manifests
from prism_search.adapters.occurrences import OccurrenceReader
from prism_search.adapters.sources import Sources
from prism_search.adapters.texts import Texts
from prism_search.adapters.uses import GraphUses
from prism_search.core.clauses import Clause
from prism_search.core.definitions import DefinitionMatch, definition_reply, distinct_places
from prism_search.core.patterns import compile_pattern
from prism_search.core.references.edges import DefinedSymbol, Edge, SourceFile, Uses
from prism_search.core.references.origins import import_sources
from prism_search.core.references.query import ReferenceQuery
from prism_search.core.references.reply import symbol_references, uses_of_edges
from prism_search.core.references.text import DefinitionLines, LineUse, TextFile, as_texts, line_uses
from prism_search.operations.enclosing import EnclosingSymbols, IndexedLine
from prism_store.globs import compile_glob
from prism_store.reader import StoredPoint

Labelled = TypeVar("Labelled", ReferenceEntry, TextLine)

FILES_MAX = 1_000
AROUND_MAX = 100
# Tests that are named for a hook of them.
HOOKED_TESTS_MAX = 30
# Files of other repositories that are read for one definition.
ELSEWHERE_FILES_MAX = 12
# Definitions in other repositories that are named for a name that is imported.
DEFINED_ELSEWHERE_MAX = 3
# Files read for the classes of variables that they declare, and how often for what those files import in
# turn.
LEARNED_MAX = 100
ROUNDS_MAX = 2


class Elsewhere(NamedTuple):
    """References in other repositories, and the files that were left out because they are too many."""

    entries: tuple[ReferenceEntry, ...]
    left_out: tuple[StoredPoint, ...]


class ReferenceFinder:
    """Finds the references of symbols."""

    def __init__(
        self,
        definitions: Definitions,
        listing: Listing,
        *,
        texts: Texts,
        sources: Sources,
        occurrences: OccurrenceReader,
        manifests: Manifests,
        graph: GraphUses,
        enclosing: EnclosingSymbols,
    ) -> None:
        self._definitions = definitions
        self._listing = listing
        self._texts = texts
        self._sources = sources
        self._occurrences = occurrences
        self._manifests = manifests
        self._graph = graph
        self._enclosing = enclosing

    async def answer(self, target: Target, symbol: str, request: ReferencesRequest) -> SymbolReferences:
        """Returns a page of the references of a symbol, and the lines that they leave unexplained."""
        search = await self._search(target, symbol, request)
        uses = await self._by_graph(search)
        if uses is None and request.reference_type is EdgeKind.OVERRIDES and search.query.match.found:
            raise _no_overrides(target)
        if uses is not None:
            points = [*search.wanted, *_others(uses.entries, search.listed, search.wanted)]
            texts = await self._texts_of(search, points, uses)
        else:
            points = [*search.wanted, *search.around]
            files, edges = await self._by_files(search)
            uses = await asyncio.to_thread(uses_of_edges, search.query, files, edges)
            texts = as_texts(search.query.name, files, edges, search.defined)
        left_out = len(search.holding) - len(search.wanted) + len(points) - len(texts)
        found = await asyncio.to_thread(symbol_references, search.query, uses, texts, left_out)
        if not search.query.match.found:
            found = found.model_copy(
                update={"imported_from": tuple(import_sources(search.query.name, files))}
            )
        return await self._with_symbols(target, points, found, texts)

    async def beyond(
        self, found: SymbolReferences, home: Target, everywhere: Target, request: ReferencesRequest
    ) -> SymbolReferences:
        """Adds what other repositories have: uses of a symbol, or the definition of a name that is imported."""
        if not found.definitions:
            defined = await self._defined_elsewhere(found, home, everywhere)
            return found.model_copy(update={"defined_elsewhere": defined})
        whole = request.model_copy(update={"limit": REFERENCES_LIMIT_MAX})
        entries, unread = await self.elsewhere(home, everywhere, found.symbol, whole)
        counts = Counter(one.repo for one in entries if is_evidence(one))
        left_out = Counter(everywhere.name_of(point.repo) for point in unread)
        return found.model_copy(
            update={
                "other_repositories": dict(sorted(counts.items())),
                "unread_repositories": dict(sorted(left_out.items())),
            }
        )

    async def _defined_elsewhere(
        self, undefined: SymbolReferences, home: Target, everywhere: Target
    ) -> tuple[Definition, ...]:
        """Returns the definitions in other repositories that the modules can mean which the name is imported from."""
        if not undefined.imported_from:
            return ()
        match = await self._definitions.match(everywhere, undefined.symbol, "")
        packages = await self._manifests.packages(everywhere, await self._listing.files(everywhere))
        modules = {one.module for one in undefined.imported_from}
        own = {repository.repo for repository in home.repositories}
        found = []
        for one in distinct_places(match.found):
            file = _file(everywhere, one.point)
            texts = import_texts(file, packages.containing(one.point.repo, file.path))
            if one.point.repo not in own and any(_is_clause_of(text, to) for text in texts for to in modules):
                found.append(definition_reply(everywhere, one.point, one.symbol))
        return tuple(found[:DEFINED_ELSEWHERE_MAX])

    async def entries(
        self, target: Target, symbol: str, request: ReferencesRequest
    ) -> tuple[ReferenceEntry, ...]:
        """Returns the references without their lines of text; the graph answers without reading a file."""
        search = await self._search(target, symbol, request)
        uses = await self._by_graph(search)
        if uses is None:
            files, edges = await self._by_files(search)
            uses = await asyncio.to_thread(uses_of_edges, search.query, files, edges)
        return uses.entries

    async def elsewhere(
        self, home: Target, everywhere: Target, symbol: str, request: ReferencesRequest
    ) -> Elsewhere:
        """Returns the references in other repositories than `home`, which has the definition.

        Reads only files that contain the name and a text that imports the definition's file. A repository that
        defines the symbol itself uses its own. If the files are too many, none is read.
        """
        match = await self._definitions.match(home, symbol, request.path)
        listed = await self._listing.files(everywhere)
        packages = await self._manifests.packages(everywhere, listed)
        wanted = _importers(home, listed, packages, match.found)
        if wanted:
            names = {one.symbol.qualified_name for one in match.found}
            defining = {one.point.repo for one in await self._definitions.called(everywhere, names)}
            wanted = [point for point in wanted if point.repo not in defining]
        if not wanted or len(wanted) > ELSEWHERE_FILES_MAX:
            return Elsewhere((), tuple(wanted))
        homes = [one.point for one in match.found]
        around = [
            point
            for one in homes
            for point in listed.around(one.repo, one.text("path"))
            if point not in homes
        ]
        files = await self._sources.read(everywhere, [*homes, *wanted, *around])
        defined = _homes(match.found, files)
        if not defined:
            return Elsewhere((), ())
        program = Program(await self._occurrences.of(everywhere), packages, listed.ids)
        uses = Uses(defined, files, program, one_overload=match.is_one_overload)
        own = {point.id for point in (*homes, *around)}
        edges = [
            edge
            for edge in await asyncio.to_thread(uses.edges)
            if edge.file.id not in own
            and (edge.status is EdgeStatus.RESOLVED or any(_imports(edge.file, one.file) for one in defined))
        ]
        query = ReferenceQuery(everywhere, request, match, defined[0].symbol.name)
        return Elsewhere(uses_of_edges(query, files, edges).entries, ())

    async def _with_symbols(
        self,
        target: Target,
        points: Iterable[StoredPoint],
        found: SymbolReferences,
        texts: Iterable[TextFile],
    ) -> SymbolReferences:
        """Adds the symbol or the call of a macro around each line. `points` and `texts` are the files of the lines."""
        text = found.reconciliation
        files = {(target.name_of(point.repo), point.text("path")): point for point in points}
        lines: list[ReferenceEntry | TextLine] = [*found.entries]
        if text:
            lines += [*text.unexplained_lines, *text.mention_lines, *text.other]
        places = [
            IndexedLine.of(point, one.line) if (point := files.get((one.repo, one.file_path))) else None
            for one in lines
        ]
        symbols, hooked = await self._enclosing.find_with_tests(target, filter(None, places))
        read = {(target.name_of(file.scope), file.path): file for file in texts}
        labels = iter(
            [
                _label(
                    symbols.get(place) if place else None, read.get((line.repo, line.file_path)), line.line
                )
                for line, place in zip(lines, places, strict=True)
            ]
        )
        update: dict[str, object] = {
            "entries": _labelled(found.entries, labels),
            "helped": (*found.helped, *_hooked(found.entries, places, symbols, hooked)),
        }
        if text:
            unexplained = _labelled(text.unexplained_lines, labels)
            mentions = _labelled(text.mention_lines, labels)
            update["reconciliation"] = text.model_copy(
                update={
                    "unexplained_lines": unexplained,
                    "mention_lines": mentions,
                    "other": _labelled(text.other, labels),
                }
            )
        return found.model_copy(update=update)

    async def _search(self, target: Target, symbol: str, request: ReferencesRequest) -> "_Search":
        match = await self._definitions.match(target, symbol, request.path)
        name = match.found[0].symbol.name if match.found else match.name.last
        query = ReferenceQuery(target, request, match, name)
        return _Search(query, await self._listing.files(target), await self._occurrences.of(target))

    async def _by_graph(self, search: "_Search") -> UsesReply | None:
        """Returns what the graph of a repository says; None if there is no graph, or if it is older than one
        of the files, or was built with other SCIP indexes.
        """
        query, listed, target = search.query, search.listed, search.query.target
        # A layer's versions are numbered apart from the base's: they do not show what is newer than a graph.
        if not query.match.found or len(target.repositories) > 1 or target.ref:
            return None
        uses = await self._graph.of(query.for_graph())
        if uses is None or listed.removed_in > uses.graph_version:
            return None
        if uses.graph_indexes != self._occurrences.objects(target):
            return None
        newer = list(listed.written_after(uses.graph_version))
        if not newer:
            return uses
        ids, paths = {point.id for point in (*search.wanted, *search.around)}, _paths_of(uses)
        return None if any(point.id in ids or point.text("path") in paths for point in newer) else uses

    async def _by_files(self, search: "_Search") -> tuple[Sequence[SourceFile], Sequence[Edge]]:
        """Returns the files that may use the symbol, and the edges among them by what parsers found."""
        target, listed = search.query.target, search.listed
        files = await self._sources.read(target, [*search.wanted, *search.around])
        homes = _homes(search.query.match.found, files)
        if not homes:
            return files, ()
        program = Program(search.occurrences, await self._manifests.packages(target, listed), listed.ids)
        uses = Uses(homes, files, program, one_overload=search.query.match.is_one_overload)
        return files, await self._edges(target, listed, uses, {file.id for file in files})

    async def _edges(
        self, target: Target, listed: Files, uses: Uses, read: Collection[str]
    ) -> Sequence[Edge]:
        """Returns the edges. Reads further files if they may declare the types of variables and of what calls return."""
        edges = await asyncio.to_thread(uses.edges)
        for _ in range(ROUNDS_MAX):
            if uses.is_settled:
                break
            missing = await asyncio.to_thread(_missing, target, listed, uses, read)
            if not missing:
                break
            read = {*read, *(point.id for point in missing)}
            uses.learn(await self._sources.read(target, missing))
            edges = await asyncio.to_thread(uses.edges)
        return edges

    async def _texts_of(
        self, search: "_Search", points: Sequence[StoredPoint], uses: UsesReply
    ) -> list[TextFile]:
        explained, used = unpack_lines(uses.explained), _used(uses)
        texts = await self._texts.read(search.query.target.scope, points)
        return [
            TextFile(
                point.repo,
                point.text("path"),
                bool(point.payload.get("prose")),
                text,
                frozenset(explained.get(point.text("path"), ())),
                point.text("language"),
                used.get(point.text("path"), {}),
                search.defined.get((point.repo, point.text("path")), ()),
                Flag.TEST in point.text("flags"),
            )
            for point, text in zip(points, texts, strict=True)
            if text is not None
        ]


def _used(uses: UsesReply) -> dict[str, dict[int, LineUse]]:
    """Returns by path what each line does with the symbol."""
    found: dict[str, list[tuple[int, LineUse]]] = defaultdict(list)
    for label, lines in unpack_lines(uses.used).items() if uses.used else ():
        group, status, path = label.split("\t", 2)
        found[path] += [(line, LineUse(ReferenceGroup(group), EdgeStatus(status))) for line in lines]
    return {path: line_uses(of_file) for path, of_file in found.items()}


def _hooked(
    entries: Iterable[ReferenceEntry],
    places: Iterable[IndexedLine | None],
    symbols: Mapping[IndexedLine, EnclosingSymbol],
    tests: Mapping[IndexedLine, Sequence[EnclosingSymbol]],
) -> list[HelpedTests]:
    """Returns the hooks of tests that surely use the symbol, with the tests for which they run."""
    found: dict[tuple[str, int], HelpedTests] = {}
    for entry, place in zip(entries, places, strict=False):
        if place and place in tests and entry.status is EdgeStatus.RESOLVED:
            path = entry.file_path
            found[path, symbols[place].start_line] = HelpedTests(
                helper=PlacedSymbol(file_path=path, symbol=symbols[place]),
                tests=tuple(
                    PlacedSymbol(file_path=path, symbol=one) for one in tests[place][:HOOKED_TESTS_MAX]
                ),
                total=len(tests[place]),
            )
    return list(found.values())


def _label(symbol: EnclosingSymbol | None, file: TextFile | None, line: int) -> EnclosingSymbol | None:
    """Returns the symbol around a line, with the marks of a test; at top level the call of a macro around the line."""
    if file is None:
        return symbol
    if symbol and symbol.name:
        marks = marks_above(file.lines, symbol.start_line) if file.is_test and not symbol.marks else ()
        return symbol.model_copy(update={"marks": marks}) if marks else symbol
    call = call_around(file.lines, line, file.language)
    if call is None:
        return symbol
    return EnclosingSymbol(name=call.name, kind="macro call", start_line=call.first, end_line=call.last)


def _labelled(lines: Iterable[Labelled], labels: Iterator[EnclosingSymbol | None]) -> tuple[Labelled, ...]:
    return tuple(line.model_copy(update={"enclosing": next(labels)}) for line in lines)


def _no_overrides(target: Target) -> PrismError:
    """Returns why the members that override another one are not known here, and what answers instead."""
    without = "Without reference_type, calls are listed."
    if target.ref:
        return PrismError(
            ErrorCode.INVALID_ARGUMENT,
            "Members that override another one are listed for the base of a repository, not at a ref.",
            f"Ask without ref, or ask get_type_hierarchy for the type with include_members. {without}",
        )
    if len(target.repositories) > 1:
        return PrismError(
            ErrorCode.INVALID_ARGUMENT,
            "Members that override another one are listed for one repository.",
            f"Give repo. {without}",
        )
    return PrismError(
        ErrorCode.GRAPH_NOT_BUILT,
        "Members that override another one are known once the graph of the repository is built.",
        f"Retry in a few seconds. {without}",
    )


@dataclass(frozen=True)
class _Search:
    """A question, and the files in which its answer may be."""

    query: ReferenceQuery
    listed: Files
    occurrences: Occurrences

    @cached_property
    def defined(self) -> DefinitionLines:
        """The lines that define the symbol."""
        found: dict[tuple[str, str], set[int]] = defaultdict(set)
        for one in self.query.match.found:
            found[one.point.repo, one.point.text("path")].add(one.symbol.name_line)
        return found

    @cached_property
    def holding(self) -> Sequence[StoredPoint]:
        """The files that may hold the name."""
        return self.listed.that_may_hold(_clauses(self.query.name))

    @cached_property
    def wanted(self) -> Sequence[StoredPoint]:
        """The files of `holding` that are read."""
        return sorted(self.holding, key=_order(self.query.match.found, self.query.request))[:FILES_MAX]

    @cached_property
    def around(self) -> Sequence[StoredPoint]:
        """Returns files that may use a definition without its name: re-exporting packages, implementers."""
        found, read = self.query.match.found, {point.id for point in self.wanted}
        folders = (
            point for one in found for point in self.listed.around(one.point.repo, one.point.text("path"))
        )
        implementing = self.occurrences.implementing({one.point.id for one in found})
        implementers = (
            (point for point in self.listed.points if point.id in implementing) if implementing else ()
        )
        around = {point.id: point for point in (*folders, *implementers) if point.id not in read}
        return list(around.values())[:AROUND_MAX]


def _clauses(text: str) -> Sequence[Clause]:
    return compile_pattern(text, regex=False, case_sensitive=True, word=False).clauses


def _is_clause_of(text: str, module: str) -> bool:
    """Returns whether a text that imports a file, `from parcels`, begins the import of a module, `parcels.rates`."""
    clause = text.removeprefix("from ").removeprefix("import ").strip("'\":/")
    return module == clause or module.startswith(tuple(f"{clause}{end}" for end in (".", "/", "::")))


def is_evidence(entry: ReferenceEntry) -> bool:
    """Whether a use in another repository is more than a match of a common name."""
    return entry.status is EdgeStatus.RESOLVED or entry.strategy is Strategy.ONLY_DEFINITION


def _importers(
    home: Target, listed: Files, packages: Packages, found: Iterable[DefinitionMatch]
) -> list[StoredPoint]:
    """Returns the files of other repositories that may contain a name and import its definition."""
    wanted: dict[str, StoredPoint] = {}
    for one in found:
        file = _file(home, one.point)
        languages = family_of(file.language)
        for text in import_texts(file, packages.containing(one.point.repo, file.path)):
            for point in listed.that_may_hold((*_clauses(text), *_clauses(one.symbol.name))):
                if point.repo != one.point.repo and point.text("language") in languages:
                    wanted[point.id] = point
    return list(wanted.values())


def _imports(file: SourceFile, target: SourceFile) -> bool:
    """Whether a file imports a module that can be another file, or its package."""
    importer, other = (File(one.path, one.language, one.facts.repo) for one in (file, target))
    return any(
        reference.kind is ReferenceKind.IMPORT and imports(importer, reference.qualifier, other)
        for reference in file.references
    )


def _missing(target: Target, listed: Files, uses: Uses, read: Container[str]) -> list[StoredPoint]:
    """Returns the files of modules that were looked up and not read yet."""
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


def _paths_of(uses: UsesReply) -> set[str]:
    """Returns the files that held the name, or an alias of it, when the graph was built."""
    return {*unpack_lines(uses.explained), *(entry.file_path for entry in uses.entries)}


def _others(
    entries: Iterable[ReferenceEntry], listed: Files, points: Iterable[StoredPoint]
) -> Sequence[StoredPoint]:
    """Returns the files of entries not among the points: they may use the symbol under an alias only."""
    missing = {entry.file_path for entry in entries} - {point.text("path") for point in points}
    return [point for point in listed.points if point.text("path") in missing] if missing else ()


def _order(
    found: Sequence[DefinitionMatch], request: ReferencesRequest
) -> Callable[[StoredPoint], tuple[bool, bool]]:
    """Orders files: those that define the symbol, then those that pass the filter, then the others."""
    homes = {one.point.id for one in found}
    glob = compile_glob(request.path_filter) if request.path_filter else None
    return lambda point: (
        point.id not in homes,
        glob is not None and glob.fullmatch(point.text("path")) is None,
    )


def _homes(found: Sequence[DefinitionMatch], files: Sequence[SourceFile]) -> list[DefinedSymbol]:
    """Returns the definitions in the files that were read."""
    by_id = {file.id: file for file in files}
    return [DefinedSymbol(by_id[one.point.id], one.symbol) for one in found if one.point.id in by_id]
