"""The search page: by meaning, exact, or by the name of a symbol."""

import asyncio
from enum import StrEnum
from typing import Any, Final, NamedTuple

from starlette.responses import Response

from prism_contracts.errors import ErrorBody, PrismError
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.imports import JOBS
from prism_contracts.rpc.search import GREP, SEARCH, GrepMatch, GrepReply, Hit, SearchReply
from prism_contracts.rpc.symbols import DEFINITIONS, Definition, SymbolAnswer
from prism_gateway.console.code import CodeLine, first_lines, lines_of, words_of
from prism_gateway.console.near_names import is_defined, near_names
from prism_gateway.console.page import PageView, Visit

HITS: Final = 10
GREP_LINES: Final = 100
GREP_CONTEXT: Final = 1
LINES_SHOWN: Final = 14
SIGNALS_SHOWN: Final = 8
# A hit is weak if its score is below this share of the first one's.
WEAK_SHARE: Final = 0.1


class Mode(StrEnum):
    """The kind of a search."""

    MEANING = "meaning"
    EXACT = "exact"
    SYMBOL = "symbol"


class ShownHit(NamedTuple):
    """A hit with its lines as HTML, and the parts of its score."""

    hit: Hit
    lines: list[CodeLine]
    left_out: int
    parts: list[tuple[str, float, float]]  # name, value, percent of the largest


class ShownFile(NamedTuple):
    """The matching lines of a file."""

    repo: str
    path: str
    lines: list[
        tuple[list[CodeLine], int, str]
    ]  # with what is around a match, its number, the enclosing symbol


class ShownDefinition(NamedTuple):
    """A definition with the beginning of its code."""

    definition: Definition
    lines: list[CodeLine]


async def search(visit: Visit) -> Response:
    """The search page, or its results alone."""
    query = visit.query
    asked = {name: query.get(name, "").strip() for name in ("q", "repo", "ref", "path", "language")}
    mode = Mode(query["mode"]) if query.get("mode") in set(Mode) else Mode.MEANING
    if visit.is_fragment:
        found = await _found(visit, mode, asked)
        visit.facts.query = ""  # a question that is still being typed is not kept in the history
        return visit.show("_results.html", **found)
    found, known = await asyncio.gather(_found(visit, mode, asked), visit.ask(JOBS, limit=1))
    names = sorted(repository.name for repository in known.repositories)
    return visit.show("search.html", modes=[one.value for one in Mode], names=names, **found)


async def _found(visit: Visit, mode: Mode, asked: dict[str, str]) -> dict[str, Any]:
    """Returns what the results show, an error included."""
    found: dict[str, Any] = {"hits": None, "files": None, "answer": None, "receipt": None}
    error: ErrorBody | None = None
    try:
        if asked["q"]:
            found |= await FINDERS[mode](visit, asked)
    except PrismError as problem:
        error = visit.noted(problem)
    return {"asked": asked, "mode": mode.value, "error": error, **found}


async def _by_meaning(visit: Visit, asked: dict[str, str]) -> dict[str, Any]:
    reply: SearchReply = await visit.ask(
        SEARCH, query=asked["q"], limit=HITS, explain=True, **_filters(asked)
    )
    least = WEAK_SHARE * reply.results[0].score if reply.results else 0.0
    return {
        "hits": [_shown(hit, asked["q"]) for hit in reply.results if hit.score >= least],
        "weaker": [_shown(hit, asked["q"]) for hit in reply.results if hit.score < least],
        "reply": reply,
        "receipt": reply.receipt,
        "milliseconds": sum(reply.timings_ms.values()),
    }


async def _exact(visit: Visit, asked: dict[str, str]) -> dict[str, Any]:
    reply: GrepReply = await visit.ask(
        GREP, pattern=asked["q"], limit=GREP_LINES, context_lines=GREP_CONTEXT, **_filters(asked)
    )
    files: dict[tuple[str, str], ShownFile] = {}
    for match in reply.matches:
        place = (match.repo, match.file_path)
        file = files.setdefault(place, ShownFile(match.repo, match.file_path, []))
        file.lines.append(
            (_around(match, asked["q"]), match.line, match.enclosing.name if match.enclosing else "")
        )
    return {"files": list(files.values()), "reply": reply, "receipt": reply.receipt}


def _filters(asked: dict[str, str]) -> dict[str, str]:
    """Returns where to search, as requests name it."""
    shared = {name: asked[name] for name in ("repo", "ref", "language")}
    return shared | {"path_filter": asked["path"]}


async def _by_name(visit: Visit, asked: dict[str, str]) -> dict[str, Any]:
    reply = await visit.ask(
        DEFINITIONS,
        symbols=[asked["q"]],
        repo=asked["repo"],
        ref=asked["ref"],
        path=asked["path"] if "*" not in asked["path"] else "",
        include_body=True,
    )
    answer: SymbolAnswer = reply.answers[0]
    receipt: Receipt = reply.receipt
    shown = [
        ShownDefinition(
            one, first_lines(one.body, one.symbol.start_line, one.language, LINES_SHOWN, [asked["q"]])[0]
        )
        for one in answer.definitions[:HITS]
    ]
    is_near = not is_defined(answer, asked["q"])
    return {
        "answer": answer,
        "definitions": [] if is_near else shown,
        "near": near_names(answer) if is_near else [],
        "receipt": receipt,
    }


FINDERS: Final = {Mode.MEANING: _by_meaning, Mode.EXACT: _exact, Mode.SYMBOL: _by_name}


def _shown(hit: Hit, question: str) -> ShownHit:
    # What search itself matched, as far as it says so.
    words = list(hit.matched) or words_of(question)
    lines, left_out = first_lines(hit.content, hit.start_line, hit.language, LINES_SHOWN, words)
    signals = sorted(hit.signals.items(), key=lambda one: -abs(one[1]))[:SIGNALS_SHOWN]
    most = max((abs(value) for _, value in signals), default=0.0) or 1.0
    parts = [(name, value, 100 * abs(value) / most) for name, value in signals if value]
    return ShownHit(hit, lines, left_out, parts)


def _around(match: GrepMatch, pattern: str) -> list[CodeLine]:
    rows = [*match.before, match.text, *match.after]
    return lines_of("\n".join(rows), match.line - len(match.before), _language(match.file_path), [pattern])


def _language(path: str) -> str:
    return {"py": "python", "rb": "ruby", "sh": "shell", "yml": "yaml", "yaml": "yaml", "md": "markdown"}.get(
        path.rpartition(".")[2].lower(), ""
    )


VIEWS: Final = (PageView("/search", "POST /search", search),)
