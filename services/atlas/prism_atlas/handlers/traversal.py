"""Questions that traverse the graph: calls, types, dependencies, paths, impact.

find the graph ▶ answer with `core/answering`, off the event loop ▶ add what only the text shows
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from prism_atlas.adapters.search import SearchClient
from prism_atlas.core.answering import call_hierarchy as calls
from prism_atlas.core.answering import dependencies as files
from prism_atlas.core.answering import impact as impacts
from prism_atlas.core.answering import path as paths
from prism_atlas.core.answering import type_hierarchy as types
from prism_atlas.core.answering.common import one_symbol
from prism_atlas.core.diffs import FileDiff, read_diff
from prism_atlas.core.graph import NONE
from prism_atlas.handlers.served import ServedGraph, ServedGraphs
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import ScopedRequest
from prism_contracts.rpc.graph import (
    CallDirection,
    CallHierarchyReply,
    CallHierarchyRequest,
    DependenciesReply,
    DependenciesRequest,
    FindPathReply,
    FindPathRequest,
    ImpactReply,
    ImpactRequest,
    TypeHierarchyReply,
    TypeHierarchyRequest,
)

DIFF_FILES_MAX = 200
READS_AT_ONCE_MAX = 8
# Listed among a receipt's missing legs when search could not check the answer against the text.
TEXT = "text"

Reply = TypeVar("Reply")


class TraversalHandlers:
    """Answers `call_hierarchy`, `type_hierarchy`, `dependencies`, `find_path` and `impact`."""

    def __init__(self, served: ServedGraphs, search: SearchClient) -> None:
        self._served = served
        self._search = search

    async def call_hierarchy(self, request: CallHierarchyRequest) -> CallHierarchyReply:
        """Returns a tree of calls. If it has no callers, search checks the text for the name."""
        served = await self._served.get(request)
        graph = served.snapshot.graph
        reply = await self._answer(request, lambda: calls.call_hierarchy(graph, request, served.receipt))
        if reply.total or request.direction is not CallDirection.CALLERS or not reply.roots[0].symbol:
            return reply
        return await self._with_text(request, reply)

    async def type_hierarchy(self, request: TypeHierarchyRequest) -> TypeHierarchyReply:
        """Returns the supertypes and subtypes of a type."""
        served = await self._served.get(request)
        graph = served.snapshot.graph
        return await self._answer(request, lambda: types.type_hierarchy(graph, request, served.receipt))

    async def dependencies(self, request: DependenciesRequest) -> DependenciesReply:
        """Returns the dependencies and dependents of files."""
        served = await self._served.get(request)
        graph, between = served.snapshot.graph, served.snapshot.files()
        return await asyncio.to_thread(files.dependencies_of, graph, between, request, served.receipt)

    async def find_path(self, request: FindPathRequest) -> FindPathReply:
        """Returns paths from one symbol or file to another."""
        served = await self._served.get(request)
        graph, between = served.snapshot.graph, served.snapshot.files()
        return await self._answer(request, lambda: paths.find_path(graph, between, request, served.receipt))

    async def impact(self, request: ImpactRequest) -> ImpactReply:
        """Returns the dependents of a symbol or of a diff.

        Raises INVALID_ARGUMENT unless exactly one of the two is given.
        """
        if bool(request.symbol) == bool(request.diff):
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                "Exactly one of symbol and diff is required.",
                "Give a symbol, or a diff.",
            )
        served = await self._served.get(request)
        if request.diff:
            return await self._impact_of_diff(request, served)
        graph, rank = served.snapshot.graph, served.snapshot.analysis.ranks.node

        def answer() -> ImpactReply:
            resolved_name = one_symbol(graph, served.repo, request.symbol, request.path)
            return impacts.impact_of_symbol(graph, rank, resolved_name, request, served.receipt)

        return await self._answer(request, answer)

    async def _answer(self, request: ScopedRequest, answer: Callable[[], Reply]) -> Reply:
        """Run `answer` on a thread. If a symbol is missing, the error says what search knows of its name."""
        try:
            return await asyncio.to_thread(answer)
        except PrismError as error:
            if error.code is not ErrorCode.SYMBOL_NOT_FOUND:
                raise
            raise await self._not_found(request, str(error.body.details["symbol"])) from error

    async def _not_found(self, request: ScopedRequest, symbol: str) -> PrismError:
        known = await self._search.definition(request, symbol, "")
        if known.definitions:
            first = known.definitions[0]
            return PrismError(
                ErrorCode.SYMBOL_NOT_FOUND,
                f"The graph has no definition of {symbol!r}; the index has one at"
                f" {first.file_path}:{first.symbol.name_line}.",
                "Omit file_path, or retry when the graph is up to date. Meanwhile find_references answers.",
            )
        return PrismError(
            ErrorCode.SYMBOL_NOT_FOUND,
            f"There is no definition of {symbol!r}.",
            "Try a name from details.suggestions, or search_code."
            if known.suggestions
            else "Try search_code.",
            suggestions=list(known.suggestions),
            unparsed=list(known.unparsed),
        )

    async def _with_text(
        self, request: CallHierarchyRequest, reply: CallHierarchyReply
    ) -> CallHierarchyReply:
        root = reply.roots[0]
        try:
            in_text = await self._search.in_text(request, root.symbol, root.file_path)
        except PrismError:
            receipt = reply.receipt.model_copy(update={"missing_legs": (*reply.receipt.missing_legs, TEXT)})
            return reply.model_copy(update={"receipt": receipt})
        return reply.model_copy(update={"in_text": in_text})

    async def _impact_of_diff(self, request: ImpactRequest, served: ServedGraph) -> ImpactReply:
        graph = served.snapshot.graph
        diffs = await asyncio.to_thread(read_diff, request.diff)
        if len(diffs) > DIFF_FILES_MAX:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The diff has {len(diffs)} files; the limit is {DIFF_FILES_MAX}.",
                "Send it in parts.",
            )
        reads = asyncio.Semaphore(READS_AT_ONCE_MAX)

        async def lines_of(diff: FileDiff) -> list[str]:
            file, _ = impacts.indexed_as(graph, diff)
            if file == NONE or not diff.changes:
                return []
            async with reads:
                return await self._search.lines(request, graph.path(file))

        texts = await asyncio.gather(*map(lines_of, diffs))

        def answer() -> ImpactReply:
            read = [impacts.read_change(graph, diff, lines) for diff, lines in zip(diffs, texts, strict=True)]
            changes = impacts.ChangeSet(
                [file for file, _ in read], [one for _, found in read for one in found]
            )
            return impacts.impact_of(
                graph, served.snapshot.analysis.ranks.node, changes, request, served.receipt
            )

        return await asyncio.to_thread(answer)
