"""Finds the calls in a function that have no edge: of stored values, on unknown receivers, of other libraries.

In: a node of the graph and the text of its lines. Out: one entry per call. Reads the text by patterns that many
languages share; it never decides what a call means.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from prism_atlas.core.graph import EDGE_KINDS, NONE, Graph
from prism_atlas.core.rendering import render_nodes
from prism_atlas.core.stored_values import stored_values
from prism_atlas.core.traversal import follow, step, within
from prism_contracts.code import EdgeKind
from prism_contracts.rpc.graph import SourceLine, StopReason, WalkStop

# A name with what leads to it: `loaders[i]`, `self.stop`, `make()`, `Depot::open`.
CALL = re.compile(
    r"(?<![\w$.])([A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*|\[[^\[\]]{0,80}\]|\([^()]{0,80}\))*)"
    r"\s?(?:!|\?\.)?\("
)
INNER = re.compile(r"[A-Za-z_$][\w$]*(?=\()")
LAST_NAME = re.compile(r"[A-Za-z_$][\w$]*$")
STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`")
COMMENT = re.compile(r"^\s*(?:\*|/\*|--|@).*|(?:(?<!\S)#(?!\[)|//).*")
BLOCK_QUOTE = re.compile(r"\"\"\"|'''")
DEFINING = re.compile(
    r"\b(?:def|func|fn|function|fun|class|new|sub|struct|enum|record|interface|trait|impl)\s+$"
)
OWN = re.compile(r"(?:self|this|@)\b")
KEYWORDS = frozenset(
    [
        "if",
        "for",
        "while",
        "switch",
        "return",
        "catch",
        "match",
        "elif",
        "with",
        "in",
        "not",
        "and",
        "or",
        "lambda",
        "await",
        "async",
        "yield",
        "assert",
        "super",
        "except",
        "case",
        "throw",
        "raise",
        "del",
        "defer",
        "go",
        "select",
        "when",
        "unless",
        "until",
        "sizeof",
        "typeof",
        "else",
        "do",
        "try",
        "new",
        "func",
        "fn",
        "function",
    ]
)

SHOWN_MAX = 10
_EVERY_KIND = tuple(EDGE_KINDS)


class UnresolvedCall(NamedTuple):
    """A call without an edge."""

    line: int
    called: str  # as written
    reason: StopReason


def unresolved_stops(
    graph: Graph, functions: Sequence[tuple[int, str]], wanted: Collection[str] = ()
) -> tuple[WalkStop, ...]:
    """Returns the calls without an edge in functions with their texts, by reason; those of wanted names come first."""
    found = [(node, text, call) for node, text in functions for call in unresolved_calls(graph, node, text)]
    # A line is listed once, by its last call.
    stored = list(
        {
            (node, call.line): (node, text, call)
            for node, text, call in found
            if call.reason is StopReason.VALUE
        }.values()
    )
    stored.sort(key=lambda one: not wanted or _last_name(one[2].called) not in wanted)
    outside = {one[2].called: one for one in reversed(found) if one[2].reason is StopReason.OUTSIDE}
    called = [call.called for _, _, call in found if call.reason is StopReason.VALUE]
    held = stored_values(graph, called)
    stops = [
        _stop(graph, StopReason.VALUE, len(stored), stored).model_copy(update={"stored": held}),
        _stop(graph, StopReason.OUTSIDE, len(outside), list(reversed(outside.values()))),
    ]
    return tuple(stop for stop in stops if stop.count)


def unresolved_calls(graph: Graph, node: int, text: str) -> Iterator[UnresolvedCall]:
    """Yields the calls of a function that have no edge. `text` begins at the first line of the symbol."""
    lines = _without_quotes(text.split("\n"))
    first = int(graph.symbols.start_line[node])
    known = _known_names(graph, node)
    for number, line in enumerate(lines, first):
        names = known.get(number, [])
        found = [call for call in _calls(line) if not _take(names, call)]
        # The remaining names are known under an alias here: each explains one of the calls.
        for called in found[: len(found) - min(len(names), len(found))]:
            yield UnresolvedCall(number, called, _reason(graph, called, lines))


def _stop(
    graph: Graph, reason: StopReason, count: int, found: Sequence[tuple[int, str, UnresolvedCall]]
) -> WalkStop:
    shown = found[:SHOWN_MAX]
    return WalkStop(
        reason=reason,
        count=count,
        nodes=render_nodes(graph, [node for node, _, _ in shown]),
        lines=tuple(
            SourceLine(
                file_path=graph.path(graph.file_of(node)),
                line=call.line,
                text=call.called if reason is StopReason.OUTSIDE else _line(graph, node, text, call.line),
            )
            for node, text, call in shown
        ),
    )


def _line(graph: Graph, node: int, text: str, line: int) -> str:
    return text.split("\n")[line - int(graph.symbols.start_line[node])].strip()


def _calls(line: str) -> list[str]:
    """Returns what a line calls, as written; of `a().b()` both `a` and `a().b`."""
    code = COMMENT.sub("", STRINGS.sub('""', line))
    found = []
    for match in CALL.finditer(code):
        if match[1] not in KEYWORDS and not DEFINING.search(code[: match.start()]):
            found += [match[1][: inner.end()] for inner in INNER.finditer(match[1])]
            found.append(match[1])
    return found


def _last_name(called: str) -> str:
    last = LAST_NAME.search(called)
    return last[0] if last else ""


def _take(names: list[str], called: str) -> bool:
    """Takes the name of a call from those that the graph knows; returns whether it was there."""
    last = LAST_NAME.search(called)
    if last is None or last[0] not in names:
        return False
    names.remove(last[0])
    return True


def _known_names(graph: Graph, node: int) -> dict[int, list[str]]:
    """Returns by line the names that edges refer to, and those defined there."""
    inside = within(graph, node)
    edges, targets = follow(graph, inside, [step(_EVERY_KIND, forward=True, candidate_cost=1)])
    known: dict[int, set[str]] = {}
    calls = EDGE_KINDS.index(EdgeKind.CALLS)
    for edge, target in zip(edges.tolist(), targets.tolist(), strict=True):
        if graph.edges.kind[edge] == calls and not graph.is_file(target):
            known.setdefault(int(graph.edges.line[edge]), set()).add(
                graph.strings[graph.symbols.name[target]]
            )
    for symbol in inside.tolist():
        if not graph.is_file(symbol):
            line = int(graph.symbols.name_line[symbol])
            known.setdefault(line, set()).add(graph.strings[graph.symbols.name[symbol]])
    return {line: sorted(names) for line, names in known.items()}


def _reason(graph: Graph, called: str, lines: Sequence[str]) -> StopReason:
    last = LAST_NAME.search(called)
    if last is None or OWN.match(called):
        return StopReason.VALUE
    named = graph.named(last[0])
    if last[0] != called:
        is_known = bool(named.size) and not last[0].startswith("__")
        return StopReason.VALUE if is_known else StopReason.OUTSIDE
    stored = re.compile(
        rf"\b{re.escape(called)}\b(?:\s*:[^=\n]*)?\s*(?::=|=(?!=))|\bfor\s+[^:\n]*\b{re.escape(called)}\b"
    )
    parameter = re.compile(rf"[(,]\s*(?:[\w\[\]<>*&.]+\s+)?\b{re.escape(called)}\b\s*[,:)=]")
    is_stored = any(stored.search(line) for line in lines) or parameter.search(" ".join(lines[:6]))
    is_function = bool((graph.symbols.parent[named] == NONE).any())
    return StopReason.VALUE if is_function or is_stored else StopReason.OUTSIDE


def _without_quotes(lines: Sequence[str]) -> list[str]:
    """Returns the lines, empty where a block quote such as a docstring is."""
    kept, inside = [], False
    for line in lines:
        marks = len(BLOCK_QUOTE.findall(line))
        kept.append("" if inside or marks else line)
        inside ^= marks % 2 == 1
    return kept
