"""Questions about definitions that nothing uses."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from prism_atlas.core.graph import SYMBOL_KINDS, Graph
from prism_atlas.core.unused.page import Listed, render
from prism_atlas.core.unused.rules import EXAMINED
from prism_atlas.operations.served_graphs import ServedGraphs
from prism_atlas.operations.text_checks import TEXT
from prism_atlas.operations.unused_code import UnusedCode, UnusedCodeFinder
from prism_contracts.code import CALLING_LANGUAGES
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.unused import UnusedReply, UnusedRequest
from prism_runtime.cursors import read_cursor, write_cursor
from prism_store.globs import compile_glob


class UnusedHandler:
    """Answers `unused`."""

    def __init__(self, served: ServedGraphs, finder: UnusedCodeFinder) -> None:
        self._served = served
        self._finder = finder

    async def unused(self, request: UnusedRequest) -> UnusedReply:
        """Returns a page of definitions. A cursor is valid for one state of the graph."""
        served = await self._served.get(request)
        question = f"{served.state} {request.model_dump_json(exclude={'cursor', 'limit'})}"
        start = int(read_cursor(question, request.cursor, (int,))[0]) if request.cursor else 0
        found = await self._finder.of(request, served)
        legs = (*served.receipt.missing_legs, TEXT) if found.missing else served.receipt.missing_legs
        receipt = served.receipt.model_copy(update={"missing_legs": legs})
        reply = await asyncio.to_thread(_page, served.snapshot.graph, found, request, start, receipt)
        end = start + len(reply.definitions)
        total = sum(count for group, count in reply.counts.items() if request.group in {None, group})
        cursor = write_cursor(question, end) if end < total else ""
        return reply.model_copy(update={"next_cursor": cursor})


def _page(
    graph: Graph, found: UnusedCode, request: UnusedRequest, start: int, receipt: GraphReceipt
) -> UnusedReply:
    passing = _files_passing(graph, request)
    kind = None if request.kind is None else SYMBOL_KINDS.index(request.kind)
    symbols = graph.symbols

    def passes(node: int) -> bool:
        return int(symbols.file[node]) in passing and (kind is None or symbols.kind[node] == kind)

    rows: Sequence[Listed] = [row for row in found.rows if passes(row.node)]
    counts = Counter(row.group for row in rows)
    wanted = [row for row in rows if request.group in {None, row.group}]
    examined = found.unreached.examined
    languages = Counter(graph.strings[number] for number in graph.files.language.tolist())
    return UnusedReply(
        definitions=render(graph, wanted[start : start + request.limit]),
        counts=dict(counts),
        examined=sum(passes(node) for node in examined.nonzero()[0].tolist()),
        not_compared=found.not_compared,
        other_languages={
            language: count
            for language, count in languages.most_common()
            if language in CALLING_LANGUAGES - EXAMINED
        },
        receipt=receipt,
    )


def _files_passing(graph: Graph, request: UnusedRequest) -> frozenset[int]:
    glob = compile_glob(request.path_filter) if request.path_filter else None
    language = request.language.lower()
    return frozenset(
        file
        for file in range(len(graph.files))
        if (glob is None or glob.fullmatch(graph.path(file)))
        and (not language or graph.strings[graph.files.language[file]] == language)
    )
