"""What all answers about the graph share: nodes, call lines, trees, and the sentence about completeness."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from prism_contracts.base import Message
from prism_contracts.code import EdgeKind, EdgeStatus, SymbolKind
from prism_contracts.rpc.common import TEST_BLOCK, EnclosingSymbol, GraphReceipt
from prism_contracts.rpc.graph import (
    GraphEdge,
    GraphNode,
    SourceLine,
    StopReason,
    StoredValue,
    TreeBranch,
    WalkStop,
)
from prism_contracts.rpc.symbols import Reconciliation, TextLine
from prism_gateway.mcp.answers.places import (
    TOP_LEVEL,
    PlaceLine,
    place_lines,
    several,
    symbol_name,
    with_form,
)
from prism_gateway.mcp.answers.receipts import RECEIPT_START, receipt_line
from prism_gateway.mcp.tool import Answer, Json

# The cost of a node without its path and names: field names, braces, lines.
NODE_CHARS = 60
EDGE_CHARS = 120
OTHERS_SHOWN_MAX = 5
STOPS_NAMED_MAX = 3


class LineTexts(dict[tuple[str, int], str]):
    """The text of lines by path and number, and the tests around those that are in calls with a title."""

    def __init__(self, lines: Iterable[SourceLine]) -> None:
        self._lines = list(lines)
        super().__init__({(line.file_path, line.line): line.text for line in self._lines})
        self.tests = {(line.file_path, line.line): line.test for line in self._lines if line.test}

    def without(self, places: Collection[tuple[str, int]]) -> "LineTexts":
        """Returns the texts of other lines."""
        return LineTexts(line for line in self._lines if (line.file_path, line.line) not in places)


def texts_of(lines: Iterable[SourceLine]) -> LineTexts:
    """Returns the texts of a reply's lines by place."""
    return LineTexts(lines)


def answer(structured: Json, lines: Iterable[str], receipt: GraphReceipt, cursor: str = "") -> Answer:
    """Returns an answer whose text ends with the receipt and the cursor."""
    foot = [receipt_line(receipt), *([f"next_cursor: {cursor}"] if cursor else [])]
    return Answer(structured, "\n".join([*lines, *foot]))


def joined(answers: Sequence[tuple[str, Answer]]) -> Answer:
    """Returns the answers about several symbols as one, with the receipt once."""
    blocks = [one.text.split("\n") for _, one in answers]
    receipts = {line for lines in blocks for line in lines if line.startswith(RECEIPT_START)}
    texts = ["\n".join(line for line in lines if line not in receipts) for lines in blocks]
    structured: Json = {"answers": {symbol: one.structured for symbol, one in answers}}
    return Answer(structured, "\n\n".join([*texts, *sorted(receipts)]))


def plain(message: Message, exclude: set[str] | None = None) -> Json:
    """Returns a message for programs, without defaults."""
    return message.model_dump(mode="json", exclude_defaults=True, exclude=exclude)


def plain_all(messages: Iterable[Message]) -> list[Json]:
    """Returns several messages for programs."""
    return [plain(message) for message in messages]


def node_cost(node: GraphNode) -> int:
    """Returns the characters that a node takes."""
    return len(node.file_path) + len(node.title) + _outer_cost(node) + NODE_CHARS


def _outer_cost(node: GraphNode) -> int:
    return len(node.outer.name) + NODE_CHARS if node.outer else 0


def lines_cost(path: str, lines: Iterable[int], texts: LineTexts) -> int:
    """Returns the characters that lines take."""
    return sum(len(texts.get((path, line), "")) for line in lines)


def node_line(node: GraphNode) -> str:
    """Returns `path:start-end Symbol`, and of a local symbol the function around it."""
    lines = f"{node.start_line}-{node.end_line}" if node.end_line else f"{node.line}"
    outer = f", in {symbol_name(node.outer)}" if node.outer else ""
    return f"{node.file_path}:{lines} {node.title or f'({TOP_LEVEL})'}{outer}"


def nodes_line(nodes: Sequence[GraphNode]) -> str:
    """Returns the first node and the number of the others, which are definitions of the same symbol."""
    more = f" and {len(nodes) - 1} more definitions of it" if len(nodes) > 1 else ""
    return f"{node_line(nodes[0])}{more}"


def others_lines(others: Sequence[GraphNode], matched: str) -> Iterator[str]:
    """Returns what else the requested name may mean."""
    if matched:
        yield f"Found by the name {matched}; the qualifier did not match, so this may be another symbol."
    if others:
        more = f" and {len(others) - OTHERS_SHOWN_MAX} more" if len(others) > OTHERS_SHOWN_MAX else ""
        yield f"The name also matches: {', '.join(map(node_line, others[:OTHERS_SHOWN_MAX]))}{more}."


def within_file(node: GraphNode) -> str:
    """Returns `Symbol (start-end)`, for a line below the path of its file; says of a macro that it is one."""
    macro = " (macro)" if node.kind is SymbolKind.MACRO else ""
    return f"{symbol_name(enclosing(node))}{macro}"


def edge_text(edge: GraphEdge) -> str:
    """Returns the kind of an edge and its lines."""
    return f"[{edge.edge.value} at {', '.join(map(str, edge.lines))}{_more_lines(edge)}]"


def mark(status: EdgeStatus) -> str:
    """Returns `?` for what only a name supports."""
    return "?" if status is EdgeStatus.CANDIDATE else " "


def rows_of_roots(
    positions: Iterable[int], branches: Sequence[TreeBranch], texts: LineTexts
) -> Iterator[str]:
    """Returns some of the branches of the root, each with all branches below it."""
    children: dict[int, list[int]] = {}
    for position, branch in enumerate(branches):
        children.setdefault(branch.parent, []).append(position)
    yield from _lines_below(list(positions), branches, children, texts)


def call_lines(edge: GraphEdge, path: str, texts: LineTexts, indent: str) -> tuple[str, list[str]]:
    """Returns what follows a node in its line, and the lines below it: each use with its text."""
    numbered = [
        f"{line}: {texts[path, line]}" if texts.get((path, line)) else f"{line}" for line in edge.lines
    ]
    known = any((path, line) in texts for line in edge.lines)
    if not known:
        return f" {edge_text(edge)}", []
    if len(numbered) == 1 and edge.total_lines == 1:
        return f" {numbered[0]}", []
    more = edge.total_lines - len(edge.lines)
    return "", [*(f"{indent}  {line}" for line in numbered), *([f"{indent}  … {more} more"] if more else [])]


def unresolved_lines(found: Reconciliation | None) -> Iterator[str]:
    """Returns the lines of code that contain the name and that nothing explains, tests apart."""
    if found is None or not found.unexplained:
        return
    rest = found.unexplained - len(found.unexplained_lines)
    more = f", the first {len(found.unexplained_lines)}" if rest else ""
    tests = [line for line in found.unexplained_lines if line.test]
    sources = [line for line in found.unexplained_lines if not line.test]
    title = f"code that contains the name and was not resolved ({found.unexplained}{more}):"
    if sources:
        yield title
        yield from text_places(sources)
    if tests:
        yield "in tests:" if sources else title.replace(":", ", in tests:")
        yield from text_places(tests)


def other_meaning_lines(found: Reconciliation | None) -> Iterator[str]:
    """Returns the lines that mean another symbol of the name, where others may mean this one."""
    if found and found.other and _has_doubts(found):
        shown = len(found.other)
        more = f", the first {shown}" if found.other_lines > shown else ""
        yield f"another {found.name} ({found.other_lines}{more}):"
        yield from text_places(found.other)


def _has_doubts(found: Reconciliation) -> bool:
    return bool(found.unexplained or found.candidates)


def text_lacks(found: Reconciliation | None) -> Iterator[str]:
    """Returns what the text says that an answer lacks."""
    if found is None:
        yield "it was not compared with the text"
        return
    if found.unexplained:
        yield f"{several(found.unexplained, 'line')} of code could not be resolved (listed above)"
    if found.files_left_out:
        yield f"{several(found.files_left_out, 'file')} that may contain the name were not read"


def text_account(found: Reconciliation | None, name: str) -> str:
    """Returns what the text was compared with, as the end of a sentence."""
    if found is None:
        return ""
    if not found.text_lines:
        return f"no line of code contains {name}"
    lines = f"{several(found.text_lines, 'line')} of code in {several(found.files, 'file')}"
    parts = [
        f"{found.mentions} in comments or strings" if found.mentions else "",
        _others_account(found, name),
    ]
    account = ", ".join(part for part in parts if part)
    contain = "contains" if found.text_lines == 1 else "contain"
    return f"{lines} {contain} {name}" + (f" ({account})" if account else "")


def _others_account(found: Reconciliation, name: str) -> str:
    """Returns how many lines mean another symbol, and where they are listed if that matters."""
    if not found.other_lines:
        return ""
    unlisted = not found.other and _has_doubts(found)
    where = f": find_references(symbols=['{name}'], page='other')" if unlisted else ""
    return f"{found.other_lines} another {name}{where}"


def tests_account(left_out: int, what: str) -> str:
    """Returns how many were left out because they are in tests, as the end of a sentence."""
    return f"{several(left_out, what)} in tests left out (source_only)" if left_out else ""


def stop_lines(stops: Iterable[WalkStop]) -> Iterator[str]:
    """Returns the calls that have no edge."""
    for stop in stops:
        more = f", the first {len(stop.lines)}" if stop.count > len(stop.lines) else ""
        if stop.reason is StopReason.VALUE:
            yield f"calls of stored values or on unknown receivers ({stop.count}{more}):"
            places = (
                PlaceLine(line.file_path, line.line, line.text, enclosing(node))
                for line, node in zip(stop.lines, stop.nodes, strict=True)
            )
            yield from (line for line in place_lines(places) if line)
            yield from map(_stored_line, stop.stored)
        elif stop.reason is StopReason.OUTSIDE:
            rest = " …" if stop.count > len(stop.lines) else ""
            yield f"outside the repository ({stop.count}): {', '.join(line.text for line in stop.lines)}{rest}"


def _stored_line(stored: StoredValue) -> str:
    """Returns what a called name may hold: `load may hold Depot.load depot.py:3-9, given at shop.py:4`."""
    given = f", given at {', '.join(stored.places)}" if stored.places else ""
    return f"  {stored.name} may hold {'; '.join(map(node_line, stored.functions))}{given}"


def stop_lacks(stops: Iterable[WalkStop]) -> Iterator[str]:
    """Returns where a walk stopped before the requested depth, and why."""
    for stop in stops:
        named = _named(stop)
        if stop.reason is StopReason.WIDTH:
            yield f"{stop.count} below the first level are not shown: raise limit"
        elif stop.reason is StopReason.NAME:
            yield f"{several(stop.count, 'match')} by name only not followed ({named})"
        elif stop.reason is StopReason.VALUE:
            yield f"{several(stop.count, 'call')} of stored values or on unknown receivers (listed above)"


def _named(stop: WalkStop) -> str:
    names = ", ".join(node.title or node.file_path for node in stop.nodes[:STOPS_NAMED_MAX])
    return f"{names} …" if stop.count > STOPS_NAMED_MAX else names


def sentence(
    lacks: Iterable[str],
    account: str,
    stops: Iterable[WalkStop] = (),
    proved: str = "",
    unproved: str = "Further levels follow resolved uses and were not compared with the text.",
) -> str:
    """Returns one sentence: the answer is complete, or what it lacks; then what is beyond the requested depth.

    `proved`: the levels that were compared with the text, if the answer has further ones; `unproved` says of those
    that they were not.
    """
    found = [one for one in lacks if one]
    deeper = next((stop for stop in stops if stop.reason is StopReason.DEPTH), None)
    beyond = (
        f" {several(deeper.count, 'symbol')} at the last level {'goes' if deeper.count == 1 else 'go'} on ({_named(deeper)}): raise depth."
        if deeper
        else ""
    )
    if found:
        return f"Not complete: {'; '.join(found)}. {account[:1].upper()}{account[1:]}.{beyond}"
    if proved:
        return f"Complete for {proved}: {account}. {unproved}{beyond}"
    return f"Complete{' to this depth' if deeper else ''}: {account}.{beyond}"


def cut_branches(branches: Sequence[TreeBranch], kept: int) -> tuple[TreeBranch, ...]:
    """Returns the first branches, with the number of children cut from each."""
    lost: dict[int, int] = {}
    for branch in branches[kept:]:
        lost[branch.parent] = lost.get(branch.parent, 0) + 1
    return tuple(
        branch.model_copy(update={"left_out": branch.left_out + lost.get(position, 0)})
        for position, branch in enumerate(branches[:kept])
    )


def _lines_below(
    positions: Sequence[int],
    branches: Sequence[TreeBranch],
    children: Mapping[int, Sequence[int]],
    texts: LineTexts,
) -> Iterator[str]:
    file = ""
    for position in positions:
        branch = branches[position]
        indent = "  " * (branch.depth - 1)
        if branch.node.file_path != file:
            yield f"{indent}{branch.node.file_path}"
        file = "" if children.get(position) else branch.node.file_path
        yield from _branch_lines(branch, texts, indent)
        yield from _lines_below(children.get(position, ()), branches, children, texts)
        if branch.left_out:
            name = branch.node.title or branch.node.file_path
            yield f"{indent}    … and {branch.left_out} more: ask about {name}"


def _branch_lines(branch: TreeBranch, texts: LineTexts, indent: str) -> Iterator[str]:
    again = " (recursive)" if branch.recursive else " (see above)" if branch.same_as >= 0 else ""
    name = f"{indent}{mark(branch.via.status)} {within_file(branch.node)}{again}"
    if branch.via.edge is EdgeKind.OVERRIDES:
        yield f"{name} (by override)"
        return
    path = branch.via.file_path or branch.node.file_path
    if any((path, line) in texts.tests for line in branch.via.lines):
        yield from _titled_lines(branch, path, texts, indent)
        return
    behind, below = call_lines(branch.via, path, texts, f"{indent}  ")
    yield f"{name}{behind}"
    yield from below


def _titled_lines(branch: TreeBranch, path: str, texts: LineTexts, indent: str) -> Iterator[str]:
    """Returns the calls of a branch by the tests around them, where these are inside its node."""
    node, via = enclosing(branch.node), branch.via
    around = {
        line: test
        for line in via.lines
        if (test := texts.tests.get((path, line))) and test.start_line >= node.start_line
    }
    places = [
        PlaceLine(path, line, texts.get((path, line), ""), around.get(line, node)) for line in via.lines
    ]
    for row in list(place_lines(places))[1:]:
        yield f"{indent}{mark(via.status)}{row[1:]}"
    more = via.total_lines - len(via.lines)
    if more:
        yield f"{indent}    … {more} more"


def enclosing(node: GraphNode) -> EnclosingSymbol:
    """Returns a node as the symbol around lines."""
    return EnclosingSymbol(
        name=node.title,
        kind=TEST_BLOCK if node.test and node.symbol and node.kind is None else "",
        start_line=node.start_line,
        end_line=node.end_line,
        outer=node.outer,
        marks=node.marks,
    )


def _more_lines(edge: GraphEdge) -> str:
    return f" and {edge.total_lines - len(edge.lines)} more" if edge.total_lines > len(edge.lines) else ""


def text_places(lines: Iterable[TextLine]) -> Iterator[str]:
    """Returns lines of text by file and enclosing symbol."""
    places = (PlaceLine(line.file_path, line.line, with_form(line), line.enclosing) for line in lines)
    return (line for line in place_lines(places) if line)
