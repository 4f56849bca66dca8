"""What happens from each entry point on: the calls of the first levels, as a list and as a diagram."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from prism_contracts.code import SymbolKind
from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.graph import CallHierarchyReply, GraphNode
from prism_resolver.prose import first_sentence
from prism_scribe.core.wiki import diagrams, markdown
from prism_scribe.core.wiki.orientation import Evidence, Orientation
from prism_scribe.core.wiki.walkthrough import FunctionBlocks

CALLS_MAX = 60
CALLS_OF_ONE_MAX = 12
ROOT = -1
# A flow is of calls: what reads a constant or makes a variant of an enum is none.
VALUES = frozenset({SymbolKind.CONSTANT, SymbolKind.VARIABLE, SymbolKind.FIELD, SymbolKind.PROPERTY})
FLOWS_MAX = 18
# Lines of code under a flow: the function that it begins with, then those that this one calls.
CODE_LINES_MAX = 110


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    begun = [calls for calls in evidence.calls if calls.roots]
    # Two entry points may lead to one function.
    by_root = {(calls.roots[0].file_path, calls.roots[0].line): calls for calls in begun if calls.branches}
    with_calls = list(by_root.values())[:FLOWS_MAX]
    blocks = FunctionBlocks(evidence)
    shown: set[tuple[str, int]] = set()
    roots = Counter(_name(calls.roots[0]) for calls in with_calls)
    flows = [
        line
        for calls in with_calls
        for line in _flow(
            orientation, calls, evidence, blocks, shown, is_unique=roots[_name(calls.roots[0])] == 1
        )
    ]
    ended = [calls.roots[0] for calls in begun if not calls.branches]
    if ended:
        names = [f"{_name(node)} ({markdown.place(node.file_path, node.line)})" for node in ended]
        flows += [f"No call is resolved to code of the repository in {markdown.joined(names)}."]
    lead = (
        "Each flow begins where a program starts, or at a function that the examples of the documents call, and "
        "follows calls that are resolved with certainty. "
        "Calls of libraries, of stored functions and of unknown receivers are not in it."
    )
    return [
        "# Entry points and flows",
        "",
        lead,
        "",
        *(flows or ["No entry point calls code of the repository."]),
    ]


def _flow(
    orientation: Orientation,
    calls: CallHierarchyReply,
    evidence: Evidence,
    functions: FunctionBlocks,
    quoted: set[tuple[str, int]],
    *,
    is_unique: bool,
) -> Iterator[str]:
    root = calls.roots[0]
    yield f"## From {_name(root)}{'' if is_unique else f' in {markdown.place(root.file_path)}'}"
    yield ""
    yield f"Defined in {markdown.place(root.file_path, root.line, root.end_line)}. {_documented(root, evidence)}".rstrip()
    yield ""
    shown = _shown(orientation, calls)
    if not shown:
        yield "It calls nothing that the repository defines, as far as its calls are resolved."
        yield ""
        return
    yield from _listed(calls, evidence, shown, caller=ROOT, depth=0)
    yield ""
    yield from _diagram(calls, root, shown)
    yield from _code(
        [root, *(calls.branches[position].node for position in shown[ROOT].positions)], functions, quoted
    )


def _code(
    nodes: Sequence[GraphNode], functions: FunctionBlocks, quoted: set[tuple[str, int]]
) -> Iterator[str]:
    """Yields the code of the first functions of a flow that there is room for, each once on the page."""
    room = CODE_LINES_MAX
    blocks = []
    for node in nodes:
        block = functions.block(node.file_path, node.line)
        if block and len(block) <= room and (node.file_path, node.line) not in quoted:
            quoted.add((node.file_path, node.line))
            room -= len(block)
            blocks.append(block)
    if blocks:
        yield "The code of its first functions:"
        yield ""
        for block in blocks:
            yield from block


def _shown(orientation: Orientation, calls: CallHierarchyReply) -> dict[int, "_Calls"]:
    """Returns the calls that the page shows by the position of their caller: those near the root first."""
    known: dict[int, list[int]] = {}
    for position, branch in enumerate(calls.branches):
        if branch.node.kind not in VALUES and not orientation.is_test(branch.node.file_path):
            known.setdefault(branch.parent, []).append(position)
    shown: dict[int, _Calls] = {}
    callers, room = deque([ROOT]), CALLS_MAX
    while callers:
        caller = callers.popleft()
        found = known.get(caller, [])
        chosen = found[: min(CALLS_OF_ONE_MAX, room)]
        room -= len(chosen)
        callers += chosen
        if chosen:
            shown[caller] = _Calls(chosen, len(found) - len(chosen) + _unknown(calls, caller))
    return shown


def _unknown(calls: CallHierarchyReply, caller: int) -> int:
    """Returns how many calls of a caller the graph left out."""
    if caller != ROOT:
        return calls.branches[caller].left_out
    return max(0, calls.total - sum(branch.parent == ROOT for branch in calls.branches))


class _Calls(NamedTuple):
    """Positions of calls of one caller, and how many more there are."""

    positions: list[int]
    left_out: int


def _listed(
    calls: CallHierarchyReply, evidence: Evidence, shown: Mapping[int, _Calls], *, caller: int, depth: int
) -> Iterator[str]:
    if caller not in shown:
        return
    for position in shown[caller].positions:
        branch = calls.branches[position]
        node = branch.node
        said = _documented(node, evidence)
        again = " It calls itself, directly or through others." if branch.recursive else ""
        yield f"{'  ' * depth}- {_name(node)}, {markdown.place(node.file_path, node.line)}. {said}{again}".rstrip()
        yield from _listed(calls, evidence, shown, caller=position, depth=depth + 1)
    if left_out := shown[caller].left_out:
        yield f"{'  ' * depth}- and {markdown.counted(left_out, 'more call')}"


def _diagram(calls: CallHierarchyReply, root: GraphNode, shown: Mapping[int, _Calls]) -> list[str]:
    def id_of(node: GraphNode) -> str:
        return f"{node.file_path}:{node.line}:{node.symbol}"

    made = {
        position: calls.branches[position].node for found in shown.values() for position in found.positions
    }
    labels = {id_of(node): node.symbol or node.file_path for node in (root, *made.values())}
    edges = [
        (id_of(made.get(caller, root)), id_of(made[position]), "")
        for caller, found in shown.items()
        for position in found.positions
    ]
    return diagrams.flowchart(list(dict.fromkeys(edges)), labels)


def _name(node: GraphNode) -> str:
    return markdown.code(node.symbol or node.file_path)


def _documented(node: GraphNode, evidence: Evidence) -> str:
    symbol = evidence.symbol(node.file_path, node.symbol)
    return markdown.text(first_sentence(symbol.docstring)) if symbol else ""
