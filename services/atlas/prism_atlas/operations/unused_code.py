"""Finds definitions that nothing uses: asks the graph, then search for the text of what is left."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from prism_atlas.adapters.search import SearchClient
from prism_atlas.core.graph import Graph
from prism_atlas.core.unused.evidence import NameLines, TextEvidence, UseEvidence, sought_names
from prism_atlas.core.unused.listing import Findings, Unreached, unreached
from prism_atlas.core.unused.page import EXPORTED_DOUBT, Listed, group_with, in_order, outermost, users_of
from prism_atlas.core.unused.rules import DYNAMIC
from prism_atlas.core.unused.surface import manifests_of, public_symbols
from prism_atlas.core.unused.surroundings import Surroundings, files_around
from prism_atlas.operations.served_graphs import ServedGraph
from prism_contracts.errors import PrismError
from prism_contracts.rpc.common import ScopedRequest
from prism_contracts.rpc.files import FileRange
from prism_contracts.rpc.unused import NAMES_MAX, DoubtReason, UnusedGroup, UseDoubt
from prism_runtime.packing import unpack_lines
from prism_runtime.weighted_cache import WeightedCache

MANIFESTS_MAX = 200
FILES_READ_MAX = 600
FILES_AT_ONCE = 40
LINES_MAX = 20_000
KEPT_ROWS_MAX = 100_000


class UnusedCode(NamedTuple):
    """The definitions of a repository that nothing uses, in order, whatever the filters of a question."""

    rows: Sequence[Listed]
    unreached: Unreached
    not_compared: int = 0
    missing: bool = False  # search did not answer: everything is unclear


class UnusedCodeFinder:
    """Finds unused code once per state of a repository."""

    def __init__(self, search: SearchClient) -> None:
        self._search = search
        self._known: WeightedCache[str, UnusedCode] = WeightedCache(KEPT_ROWS_MAX)
        self._finding: dict[str, asyncio.Task[UnusedCode]] = {}

    async def of(self, request: ScopedRequest, served: ServedGraph) -> UnusedCode:
        """Returns the unused code. Callers of the same state share the work, which outlives a caller that gives up."""
        repository = served.target.repositories[0]
        key = " ".join(
            [repository.tenant, repository.repo, served.target.ref, served.state, *served.target.state]
        )
        known = self._known.get(key)
        if known is not None:
            return known
        task = self._finding.get(key)
        if task is None:
            task = self._finding[key] = asyncio.create_task(self.find(request, served.snapshot.graph))
            task.add_done_callback(lambda done: self._keep(key, done))
        return await asyncio.shield(task)

    def _keep(self, key: str, done: "asyncio.Task[UnusedCode]") -> None:
        self._finding.pop(key, None)
        if not done.cancelled() and done.exception() is None and not done.result().missing:
            self._known.put(key, done.result(), 1 + len(done.result().rows))

    async def find(self, request: ScopedRequest, graph: Graph) -> UnusedCode:
        """Returns the unused code of a graph."""
        manifests = await self._manifests(request, graph)
        walks = await asyncio.to_thread(unreached, graph, lambda one: public_symbols(one, manifests))
        findings = await asyncio.to_thread(walks.findings)
        compared, not_compared = _that_fit(graph, findings)
        try:
            evidence = await self._evidence(request, graph, compared)
        except PrismError:
            return UnusedCode(_unread(graph, compared), walks, not_compared, missing=True)
        first = {node: evidence.of(node, findings.group_of(node)) for node in compared}
        doubted = [
            node
            for node in compared
            if group_with(first[node].doubts, UnusedGroup.UNUSED) is UnusedGroup.UNCLEAR
        ]
        left = await asyncio.to_thread(walks.findings, doubted)
        left_nodes = [node for node in compared if _is_in(left, node)]
        around = await self._surroundings(request, graph, left_nodes)
        doubts = {node: around.doubts(node) for node in left_nodes}
        registered = [
            node for node in left_nodes if group_with(doubts[node], UnusedGroup.UNUSED) is UnusedGroup.UNCLEAR
        ]
        last = await asyncio.to_thread(walks.findings, [*doubted, *registered])
        nodes = [node for node in compared if _is_in(last, node)]
        unclear = set(doubted) | set(registered)
        shown = [node for node in outermost(graph, [*nodes, *unclear]) if not around.is_test(node)]
        dynamic = await self._dynamic(request, graph, shown)
        users = await asyncio.to_thread(users_of, graph, walks.links, shown, walks.in_tests[: graph.nodes])
        rows = []
        for node in shown:
            found = findings if node in unclear else last
            own = (*first[node].doubts, *doubts.get(node, ()))
            group = group_with(own, found.group_of(node))
            public = bool(walks.public[node])
            language = graph.strings[graph.files.language[graph.file_of(node)]]
            own += (EXPORTED_DOUBT,) if public and group is not UnusedGroup.EXPORTED else ()
            own += (dynamic[language],) if language in dynamic else ()
            rows.append(Listed(node, group, first[node], own, public, users.get(node, ())))
        return UnusedCode(in_order(rows), walks, not_compared)

    async def _manifests(self, request: ScopedRequest, graph: Graph) -> Mapping[str, str]:
        try:
            texts = await self._texts(request, graph, manifests_of(graph)[:MANIFESTS_MAX])
        except PrismError:
            return {}
        return {path: "\n".join(lines) for path, lines in texts.items()}

    async def _evidence(self, request: ScopedRequest, graph: Graph, nodes: Iterable[int]) -> TextEvidence:
        names = {name for node in nodes for name in sought_names(graph.strings[graph.symbols.name[node]])}
        if not names:
            return TextEvidence(graph, NameLines({}, ()))
        reply = await self._search.name_lines(request, sorted(names))
        return await asyncio.to_thread(
            lambda: TextEvidence(graph, NameLines(unpack_lines(reply.lines), reply.crowded))
        )

    async def _surroundings(self, request: ScopedRequest, graph: Graph, nodes: Sequence[int]) -> Surroundings:
        paths = await asyncio.to_thread(files_around, graph, nodes)
        try:
            return Surroundings(graph, await self._texts(request, graph, paths[:FILES_READ_MAX]))
        except PrismError:
            return Surroundings(graph, {})

    async def _texts(
        self, request: ScopedRequest, graph: Graph, paths: Sequence[str]
    ) -> dict[str, list[str]]:
        """Returns the lines of files in the version of the graph."""
        found: dict[str, list[str]] = {}
        for start in range(0, len(paths), FILES_AT_ONCE):
            some = paths[start : start + FILES_AT_ONCE]
            files = [graph.find_file(path) for path in some]
            ranges = [
                FileRange(
                    file_path=path,
                    start_line=1,
                    end_line=LINES_MAX,
                    generation=graph.strings[graph.files.generation[file]],
                )
                for path, file in zip(some, files, strict=True)
            ]
            texts = await self._search.texts(request, ranges)
            found |= {
                path: text.split("\n") for path, text in zip(some, texts, strict=True) if text is not None
            }
        return found

    async def _dynamic(
        self, request: ScopedRequest, graph: Graph, nodes: Sequence[int]
    ) -> Mapping[str, UseDoubt]:
        """Returns by language the first line that looks up names while the program runs."""
        languages = {graph.strings[graph.files.language[graph.file_of(node)]] for node in nodes}
        found: dict[str, UseDoubt] = {}
        for language in sorted(languages & DYNAMIC.keys()):
            try:
                match = await self._search.first_match(request, DYNAMIC[language], language)
            except PrismError:
                found[language] = UseDoubt(reason=DoubtReason.DYNAMIC)
                continue
            if match:
                found[language] = UseDoubt(
                    reason=DoubtReason.DYNAMIC,
                    file_path=match.file_path,
                    line=match.line,
                    text=match.text.strip()[:100],
                )
        return found


def _that_fit(graph: Graph, findings: Findings) -> tuple[list[int], int]:
    """Returns the definitions whose names fit into a request, and the number of the others."""
    names: set[str] = set()
    kept: list[int] = []
    every = findings.every.tolist()
    for node in every:
        names.update(sought_names(graph.strings[graph.symbols.name[node]]))
        if len(names) > NAMES_MAX:
            break
        kept.append(node)
    return kept, len(every) - len(kept)


def _is_in(findings: Findings, node: int) -> bool:
    return bool(findings.unused[node] or findings.exported[node] or findings.tests_only[node])


def _unread(graph: Graph, nodes: Sequence[int]) -> list[Listed]:
    """Returns all definitions as unclear, because their text is not known."""
    doubts = (UseDoubt(reason=DoubtReason.NOT_READ),)
    nothing = UseEvidence(doubts, 0, 0, 0, 0)
    return [
        Listed(node, UnusedGroup.UNCLEAR, nothing, doubts, exported=False) for node in outermost(graph, nodes)
    ]
