"""The page of a symbol: its definitions, who uses it, what it calls, and what is not certain about that."""

import asyncio
from itertools import groupby
from typing import Final, NamedTuple

from starlette.responses import Response

from prism_contracts.code import EdgeStatus
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.rpc.graph import CALL_HIERARCHY, CallDirection, CallHierarchyReply
from prism_contracts.rpc.symbols import (
    DEFINITIONS,
    REFERENCES,
    Definition,
    ReferenceEntry,
    ReferenceGroup,
    SymbolReferences,
)
from prism_gateway.console.code import CodeLine, first_lines
from prism_gateway.console.formats import ref_of
from prism_gateway.console.near_names import is_defined, near_names
from prism_gateway.console.page import PageView, Visit

USES_SHOWN: Final = 200
CALLEES_SHOWN: Final = 60
BODY_LINES: Final = 40
DEFINITIONS_SHOWN: Final = 10
DOC_CHARS_MAX: Final = 300
HEADINGS: Final = {
    ReferenceGroup.CALLERS: "Callers",
    ReferenceGroup.SUBTYPES: "Subtypes",
    ReferenceGroup.TYPES: "Used as a type",
    ReferenceGroup.VALUES: "Passed or read",
    ReferenceGroup.ASSIGNMENTS: "Written",
    ReferenceGroup.IMPORTS: "Imports",
    ReferenceGroup.OVERRIDES: "Overrides",
    ReferenceGroup.TESTS: "Tests",
}


# Problems of a graph that the page words itself: their own texts name arguments of tools.
NAMED_BY_PAGE: Final = frozenset({ErrorCode.SYMBOL_AMBIGUOUS, ErrorCode.SYMBOL_NOT_FOUND})


class ShownBody(NamedTuple):
    """A definition with the beginning of its code."""

    definition: Definition
    lines: list[CodeLine]
    left_out: int


class UseGroup(NamedTuple):
    """The uses of one kind by file, and how many there are on all pages."""

    heading: str
    total: int
    files: list[tuple[str, str, list[ReferenceEntry]]]  # repository, path, uses


async def show_symbol(visit: Visit) -> Response:
    """One symbol. Uses that only the name supports are shown apart from those that are resolved.

    A name that is not defined has no uses here, not even those of a name that is spelled alike.
    """
    name, ref = visit.part("name"), ref_of(visit.part("ref"))
    symbol, path = visit.query.get("name", ""), visit.query.get("path", "")
    defined, used, calls = await asyncio.gather(
        visit.ask(DEFINITIONS, repo=name, ref=ref, symbols=[symbol], path=path, include_body=True),
        visit.ask(REFERENCES, repo=name, ref=ref, symbols=[symbol], path=path, limit=USES_SHOWN),
        _callees(visit, name, ref, symbol, path),
    )
    answer, found = defined.answers[0], used.answers[0]
    if not is_defined(answer, symbol):
        return visit.show(
            "no_symbol.html",
            name=name,
            ref=ref,
            symbol=symbol,
            file_path=path,
            near=near_names(answer),
            unparsed=answer.unparsed,
            receipt=defined.receipt,
        )
    entries = found.entries
    return visit.show(
        "symbol.html",
        name=name,
        ref=ref,
        symbol=symbol,
        file_path=path,
        answer=answer,
        bodies=[_body(one) for one in answer.definitions[:DEFINITIONS_SHOWN]],
        found=found,
        resolved=_groups(found, [one for one in entries if one.status is EdgeStatus.RESOLVED]),
        candidates=_groups(found, [one for one in entries if one.status is EdgeStatus.CANDIDATE]),
        calls=calls if isinstance(calls, CallHierarchyReply) else None,
        callees=_callee_rows(calls) if isinstance(calls, CallHierarchyReply) else [],
        is_ambiguous=isinstance(calls, ErrorBody) and calls.code is ErrorCode.SYMBOL_AMBIGUOUS,
        calls_error=calls if isinstance(calls, ErrorBody) and calls.code not in NAMED_BY_PAGE else None,
        receipt=used.receipt,
    )


async def _callees(
    visit: Visit, name: str, ref: str, symbol: str, path: str
) -> CallHierarchyReply | ErrorBody:
    """Returns what the symbol calls, or why that is not known."""
    try:
        return await visit.ask(
            CALL_HIERARCHY,
            repo=name,
            ref=ref,
            symbol=symbol,
            path=path,
            direction=CallDirection.CALLEES,
            depth=1,
            limit=CALLEES_SHOWN,
        )
    except PrismError as error:
        return error.body


def _callee_rows(reply: CallHierarchyReply) -> list[tuple[object, object]]:
    """Returns each callee with the edge that leads to it."""
    return [(branch.node, branch.via) for branch in reply.branches]


def _body(definition: Definition) -> ShownBody:
    start, language = definition.symbol.start_line, definition.language
    return ShownBody(definition, *first_lines(definition.body, start, language, BODY_LINES))


def _groups(found: SymbolReferences, entries: list[ReferenceEntry]) -> list[UseGroup]:
    shown = []
    for group, heading in HEADINGS.items():
        own = [entry for entry in entries if entry.group is group]
        files = [
            (repo, path, list(uses))
            for (repo, path), uses in groupby(own, key=lambda entry: (entry.repo, entry.file_path))
        ]
        if own:
            shown.append(UseGroup(heading, found.counts.get(group, len(own)), files))
    return shown


async def show_card(visit: Visit) -> Response:
    """The fragment about a name in code: its signature, place, first line of documentation, number of uses.

    Shows the definition in the same file if there are several, or else the best match. Ignores similar names.
    """
    name, ref = visit.part("name"), ref_of(visit.part("ref"))
    symbol, path = visit.query.get("name", ""), visit.query.get("path", "")
    reply = await visit.ask(DEFINITIONS, repo=name, ref=ref, symbols=[symbol], count_uses=True)
    answer = reply.answers[0]
    named = [found for found in answer.definitions if found.symbol.name == symbol]
    one = next((found for found in named if found.file_path == path), next(iter(named), None))
    return visit.show(
        "_card.html",
        name=name,
        ref=ref,
        symbol=symbol,
        answer=answer,
        one=one,
        doc=_first_line(one.symbol.docstring) if one else "",
        uses=sum(answer.uses.groups.values()) if answer.uses else None,
        by_name=answer.uses.by_name if answer.uses else 0,
    )


def _first_line(text: str) -> str:
    return next((line.strip()[:DOC_CHARS_MAX] for line in text.split("\n") if line.strip()), "")


VIEWS: Final = (
    PageView("/r/{name:repository}/-/symbol/{ref}", "find_references", show_symbol),
    PageView("/r/{name:repository}/-/card/{ref}", "get_symbol_definition", show_card),
)
