"""Questions that traverse the graph: calls, types, dependencies, paths, impact.

find the graph ▶ answer with `core/answering`, off the event loop ▶ add what only the text shows
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

from prism_atlas.core.answering import call_hierarchy as calls
from prism_atlas.core.answering import dependencies as files
from prism_atlas.core.answering import impact as impacts
from prism_atlas.core.answering import path as paths
from prism_atlas.core.answering import type_hierarchy as types
from prism_atlas.core.answering.common import one_symbol
from prism_atlas.core.level_checks import affected_listing, callers_listing
from prism_atlas.core.named_tests import TitleTexts
from prism_atlas.operations.diff_impact import DiffImpact
from prism_atlas.operations.served_graphs import ServedGraphs
from prism_atlas.operations.text_checks import TextChecks
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
    GraphNode,
    ImpactReply,
    ImpactRequest,
    TypeHierarchyReply,
    TypeHierarchyRequest,
)

Request = TypeVar("Request", bound=ScopedRequest)
Reply = TypeVar("Reply", CallHierarchyReply, TypeHierarchyReply, FindPathReply, ImpactReply)
# The fields of requests that name symbols.
NAME_FIELDS = ("symbol", "source", "target")


class TraversalHandlers:
    """Answers `call_hierarchy`, `type_hierarchy`, `dependencies`, `find_path` and `impact`."""

    def __init__(self, served: ServedGraphs, text: TextChecks, diffs: DiffImpact) -> None:
        self._served = served
        self._text = text
        self._diffs = diffs

    async def call_hierarchy(self, request: CallHierarchyRequest) -> CallHierarchyReply:
        """Returns a tree of calls. If requested, adds their lines and compares callers with the text."""
        served = await self._served.get(request)
        graph = served.snapshot.graph
        reply = await self._answer(request, lambda asked: calls.call_hierarchy(graph, asked, served.receipt))
        if not request.with_text:
            return reply
        upwards = request.direction is CallDirection.CALLERS
        if upwards:
            found, levels = await asyncio.gather(
                self._text.find(request, graph, reply.roots[0], calls.lines_of(reply)),
                self._text.levels(request, graph, callers_listing(reply, request.depth)),
            )
            return reply.model_copy(update=found.fields(reply.receipt) | {"levels_in_text": levels})
        found, stops = await asyncio.gather(
            self._text.find(request, graph, None, calls.lines_of(reply)),
            self._text.stops(request, graph, calls.followed(graph, request, reply)),
        )
        return reply.model_copy(update=found.fields(reply.receipt) | {"stops": (*reply.stops, *stops)})

    async def type_hierarchy(self, request: TypeHierarchyRequest) -> TypeHierarchyReply:
        """Returns the supertypes and subtypes of a type."""
        served = await self._served.get(request)
        graph = served.snapshot.graph
        reply = await self._answer(request, lambda asked: types.type_hierarchy(graph, asked, served.receipt))
        if not request.with_text:
            return reply
        outside = GraphNode(file_path="", line=0, symbol=reply.outside.name) if reply.outside else None
        root = outside or reply.roots[0]
        found = await self._text.find(request, graph, root, types.lines_of(reply))
        lines = found.in_text.unexplained_lines if found.in_text else ()
        by_macros = await self._text.by_macros(request, graph, root, lines)
        return reply.model_copy(update=found.fields(reply.receipt) | {"by_macros": by_macros})

    async def dependencies(self, request: DependenciesRequest) -> DependenciesReply:
        """Returns the dependencies and dependents of files."""
        served = await self._served.get(request)
        graph, between = served.snapshot.graph, served.snapshot.files()
        return await asyncio.to_thread(files.dependencies_of, graph, between, request, served.receipt)

    async def find_path(self, request: FindPathRequest) -> FindPathReply:
        """Returns paths from one symbol or file to another."""
        served = await self._served.get(request)
        graph, between = served.snapshot.graph, served.snapshot.files()
        reply = await self._answer(
            request, lambda asked: paths.find_path(graph, between, asked, served.receipt)
        )
        if not request.with_text:
            return reply
        followed = () if reply.paths else paths.followed(graph, reply.source)
        found, stops = await asyncio.gather(
            self._text.find(request, graph, None, paths.lines_of(reply)),
            self._text.stops(request, graph, followed, paths.sought_names(reply)),
        )
        receipt = found.receipt(reply.receipt)
        return reply.model_copy(
            update={"source_lines": found.source_lines, "stops": stops, "receipt": receipt}
        )

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
            return await self._diffs.impact(request, served)
        graph, rank = served.snapshot.graph, served.snapshot.analysis.ranks.node

        texts = TitleTexts()

        def answer(asked: ImpactRequest) -> ImpactReply:
            resolved_name = one_symbol(graph, served.repo, asked.symbol, asked.path)
            return impacts.impact_of_symbol(graph, rank, resolved_name, asked, served.receipt, texts=texts)

        reply = await self._answer(request, answer)
        if await self._text.read_titles(request, texts):
            reply = await self._answer(request, answer)
        if not request.with_text:
            return reply
        found, levels = await asyncio.gather(
            self._text.find(request, graph, reply.changed[0].node, impacts.lines_of(reply)),
            self._text.levels(request, graph, affected_listing(reply)),
        )
        return reply.model_copy(update=found.fields(reply.receipt) | {"levels_in_text": levels})

    async def _answer(self, request: Request, answer: Callable[[Request], Reply]) -> Reply:
        """Run `answer` on a thread. If search knows what a missing symbol means, run it for that one.

        The receipt says so. Raises SYMBOL_NOT_FOUND with what search knows of the name.
        """
        corrected: dict[str, str] = {}
        while True:
            try:
                reply = await asyncio.to_thread(answer, request)
            except PrismError as error:
                if error.code is not ErrorCode.SYMBOL_NOT_FOUND:
                    raise _with_corrections(error, corrected) from error
                missing = str(error.body.details["symbol"])
                corrected[missing] = await self._text.corrected(request, missing)
                request = _renamed(request, missing, corrected[missing])
            else:
                receipt = reply.receipt.model_copy(update={"corrected": corrected})
                return reply.model_copy(update={"receipt": receipt}) if corrected else reply


def _with_corrections(error: PrismError, corrected: Mapping[str, str]) -> PrismError:
    """Returns the error with the names that it was raised for instead of the requested ones."""
    body = error.body
    said = [f"No {asked!r}; the nearest name is {meant!r}." for asked, meant in corrected.items()]
    return PrismError(error.code, " ".join([*said, body.message]), body.next_action, **body.details)


def _renamed(request: Request, old: str, new: str) -> Request:
    """Returns the request with a symbol replaced."""
    named = [field for field in NAME_FIELDS if getattr(request, field, "") == old]
    return request.model_copy(update=dict.fromkeys(named, new))
