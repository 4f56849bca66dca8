"""Answers about one symbol agree: callers, impact, types and references, held against each other for 200 symbols."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from prism_chunker.core import chunk_file
from prism_contracts.code import TYPE_KINDS, EdgeKind, EdgeStatus, SymbolKind
from prism_contracts.rpc.graph import (
    CALL_HIERARCHY,
    IMPACT,
    TYPE_HIERARCHY,
    CallHierarchyReply,
    CallHierarchyRequest,
    ImpactReply,
    ImpactRequest,
    TypeHierarchyRequest,
)
from prism_contracts.rpc.symbols import (
    REFERENCES,
    Reconciliation,
    ReferenceGroup,
    ReferencesRequest,
    SymbolReferences,
)
from prism_gateway.mcp.answers import calls, impacts, types

pytest_plugins = ["graph_town"]

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "libs/resolver",
    "libs/runtime/prism_runtime",
    "services/atlas/prism_atlas/core",
    "tests/fixtures/chunker",
)
SYMBOLS_MAX = 200
ASKED_AT_ONCE = 4
TOKENS = 50_000
ASKED_KINDS = {SymbolKind.FUNCTION, SymbolKind.METHOD, *TYPE_KINDS}

Lines = set[tuple[str, int]]


class Asked(NamedTuple):
    """A symbol of the corpus."""

    name: str
    path: str
    kind: SymbolKind


def corpus() -> dict[str, str]:
    """Returns files of this repository, in Python and in samples of other languages."""
    paths = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in paths
        if path.is_file()
        and path.suffix not in {".json", ".pyc", ".typed", ".scm", ".golden"}
        and path.stat().st_size < 60_000
    }


def symbols(files: dict[str, str]) -> list[Asked]:
    """Returns symbols from all over the corpus, evenly chosen.

    A function is left out whose file has a member of its name: `find_references` is asked about a name, and lists both.
    """
    parsed = {path: chunk_file(path, text).symbols for path, text in files.items()}
    found = [
        Asked(symbol.qualified_name, path, symbol.kind)
        for path, own in parsed.items()
        for symbol in own
        if symbol.kind in ASKED_KINDS
        and not any(one.qualified_name.endswith(f".{symbol.qualified_name}") for one in own)
    ]
    return found[:: max(1, len(found) // SYMBOLS_MAX)][:SYMBOLS_MAX]


async def test_answers_about_one_symbol_agree(town):
    files = corpus()
    await town.import_(1, files)
    async with town.atlas(), town.search():
        await town.built(1)
        turns = asyncio.Semaphore(ASKED_AT_ONCE)

        uses = compared = 0

        async def contradictions(asked: Asked) -> list[str]:
            nonlocal uses, compared
            async with turns:
                answers = await answers_about(town, asked)
            uses += len(answers.references.entries)
            compared += len(_texts(answers)) > 1
            return [f"{asked.path} {asked.name}: {one}" for one in contradicting(asked, answers)]

        chosen = symbols(files)
        found = await asyncio.gather(*map(contradictions, chosen))
    assert len(chosen) == SYMBOLS_MAX
    assert uses > SYMBOLS_MAX  # else there was nothing to compare
    assert compared > SYMBOLS_MAX / 2
    assert not (flat := [one for several in found for one in several]), "\n".join(flat)


class Answers(NamedTuple):
    """What the tools say about one symbol, and the texts of all answers about the graph."""

    callers: CallHierarchyReply
    impact: ImpactReply
    references: SymbolReferences
    texts: list[str]


async def answers_about(town, asked: Asked) -> Answers:
    async def ask(rpc, request):
        return await town.answer(partial(town.ask, rpc, request))

    named = {"tenant": "any", "symbol": asked.name, "path": asked.path, "with_text": True}
    callers = await ask(CALL_HIERARCHY, CallHierarchyRequest(**named, depth=1, limit=200))
    impact = await ask(IMPACT, ImpactRequest(**named, depth=1, limit=200))
    request = ReferencesRequest(tenant="any", symbols=(asked.name,), path=asked.path, limit=500)
    references = (await ask(REFERENCES, request)).answers[0]
    texts = [calls.call_hierarchy(callers, TOKENS).text, impacts.impact(impact, TOKENS).text]
    if asked.kind in TYPE_KINDS:
        reply = await ask(TYPE_HIERARCHY, TypeHierarchyRequest(**named))
        texts.append(types.type_hierarchy(reply, TOKENS).text)
    return Answers(callers, impact, references, texts)


def contradicting(asked: Asked, answers: Answers) -> Iterator[str]:
    """Yields what two answers about a symbol say differently."""
    callers, impact, references, texts = answers
    yield from _same_calls(asked, callers, references)
    yield from _same_users(impact, references)
    yield from _same_text(answers)
    for text in texts:
        yield from _sentences(text)


def _same_calls(asked: Asked, callers: CallHierarchyReply, uses: SymbolReferences) -> Iterator[str]:
    roots = {root.symbol for root in callers.roots}
    resolved = _calls(uses, roots, EdgeStatus.RESOLVED)
    branches = [branch for branch in callers.branches if branch.via.edge is EdgeKind.CALLS]
    if any(branch.via.total_lines > len(branch.via.lines) for branch in branches):
        return  # the lines are not all in the reply
    every = {(branch.node.file_path, line) for branch in branches for line in branch.via.lines}
    if asked.kind in TYPE_KINDS:  # a constructor that makes its own type is a part of it
        resolved -= {(one.file_path, one.line) for one in uses.entries if _is_inside(one.symbol, roots)}
    if missing := resolved - every:
        yield f"find_references has calls that callers lack: {sorted(missing)}"
    if asked.kind in TYPE_KINDS or "init" in asked.name or "constructor" in asked.name:
        return  # making an object counts for both a type and its constructor
    sure = {
        (branch.node.file_path, line)
        for branch in branches
        if branch.via.status is EdgeStatus.RESOLVED and branch.node.symbol not in roots
        for line in branch.via.lines
    }
    if extra := sure - resolved - _calls(uses, roots, EdgeStatus.CANDIDATE):
        yield f"callers have calls that find_references lacks: {sorted(extra)}"


def _same_users(impact: ImpactReply, uses: SymbolReferences) -> Iterator[str]:
    changed = {one.node.symbol for one in impact.changed}
    users = {(one.node.file_path, one.node.symbol) for one in (*impact.affected, *impact.tests)}
    for entry in uses.entries:
        # A helper in a file of tests is followed to the tests that use it, and not listed.
        is_helper = entry.group is ReferenceGroup.TESTS
        is_use = entry.edge is EdgeKind.CALLS and entry.status is EdgeStatus.RESOLVED and not is_helper
        if is_use and not _is_inside(entry.symbol, changed) and (entry.file_path, entry.symbol) not in users:
            yield f"impact lacks the user {entry.file_path} {entry.symbol}"


def _is_inside(symbol: str, names: set[str]) -> bool:
    return any(symbol == name or symbol.startswith(f"{name}.") for name in names)


def _same_text(answers: Answers) -> Iterator[str]:
    if len({text.unexplained for text in _texts(answers)}) > 1:
        yield f"different lines are unexplained: {[text.unexplained for text in _texts(answers)]}"


def _texts(answers: Answers) -> list[Reconciliation]:
    """Returns the comparisons with the text. If search is slow, an answer has none, and says so."""
    texts = (answers.callers.in_text, answers.impact.in_text, answers.references.reconciliation)
    return [text for text in texts if text]


def _sentences(text: str) -> Iterator[str]:
    *rest, last, _ = (line for line in text.split("\n") if not line.startswith("next_cursor: "))
    if not last.startswith(
        ("Complete: ", "Complete to this depth: ", "Complete for direct ", "Not complete: ")
    ):
        yield f"the last line is no sentence about completeness: {last}"
    listed = any(line.startswith("? ") or "by name only (?)" in line or "?test" in line for line in rest)
    unresolved = any(line.startswith(("code that contains", "other lines that may")) for line in rest)
    if last.startswith(("Complete: ", "Complete for direct ")) and (listed or unresolved):
        yield f"complete, although lines are unresolved: {text}"
    if "no direct caller" in last.lower() and any(
        line.startswith("  ") and "[" not in line for line in rest[1:2]
    ):
        yield f"no caller, beside a list of callers: {text}"
    if "none" in last.split():
        yield f"the sentence says none: {last}"


def _calls(uses: SymbolReferences, roots: set[str], status: EdgeStatus) -> Lines:
    return {
        (entry.file_path, entry.line)
        for entry in uses.entries
        if entry.edge is EdgeKind.CALLS and entry.status is status and entry.symbol not in roots
    }
