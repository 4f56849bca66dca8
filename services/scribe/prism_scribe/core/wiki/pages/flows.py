"""What happens from each entry point on: the calls of the first levels, as a list and as a diagram."""

from collections.abc import Iterator

from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.graph import CallHierarchyReply, GraphNode
from prism_resolver.prose import first_sentence
from prism_scribe.core.wiki import diagrams, markdown
from prism_scribe.core.wiki.orientation import Evidence, Orientation

CALLS_MAX = 32
FLOWS_MAX = 8


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    begun = [calls for calls in evidence.calls if calls.roots]
    # Two entry points may lead to one function.
    by_root = {(calls.roots[0].file_path, calls.roots[0].line): calls for calls in begun if calls.branches}
    with_calls = list(by_root.values())[:FLOWS_MAX]
    flows = [line for calls in with_calls for line in _flow(orientation, calls, evidence)]
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


def _flow(orientation: Orientation, calls: CallHierarchyReply, evidence: Evidence) -> Iterator[str]:
    root = calls.roots[0]
    yield f"## From {_name(root)}"
    yield ""
    yield f"Defined in {markdown.place(root.file_path, root.line, root.end_line)}. {_documented(root, evidence)}".rstrip()
    yield ""
    shown = [
        position
        for position, branch in enumerate(calls.branches)
        if not orientation.is_test(branch.node.file_path)
    ][:CALLS_MAX]
    if not shown:
        yield "It calls nothing that the repository defines, as far as its calls are resolved."
        yield ""
        return
    by_parent: dict[int, list[int]] = {}
    for position in shown:
        by_parent.setdefault(calls.branches[position].parent, []).append(position)
    yield from _listed(calls, evidence, by_parent, parent=-1, depth=0)
    yield ""
    yield from _diagram(calls, root, shown)


def _listed(
    calls: CallHierarchyReply, evidence: Evidence, by_parent: dict[int, list[int]], *, parent: int, depth: int
) -> Iterator[str]:
    for position in by_parent.get(parent, ()):
        branch = calls.branches[position]
        node = branch.node
        said = _documented(node, evidence)
        again = " It calls itself, directly or through others." if branch.recursive else ""
        yield f"{'  ' * depth}- {_name(node)}, {markdown.place(node.file_path, node.line)}. {said}{again}".rstrip()
        yield from _listed(calls, evidence, by_parent, parent=position, depth=depth + 1)
    left_out = (
        calls.branches[parent].left_out if parent >= 0 else max(0, calls.total - len(by_parent.get(-1, ())))
    )
    if left_out and parent in by_parent:
        yield f"{'  ' * depth}- and {markdown.counted(left_out, 'more call')}"


def _diagram(calls: CallHierarchyReply, root: GraphNode, shown: list[int]) -> list[str]:
    def id_of(node: GraphNode) -> str:
        return f"{node.file_path}:{node.line}:{node.symbol}"

    nodes = [root, *(calls.branches[position].node for position in shown)]
    labels = {id_of(node): node.symbol or node.file_path for node in nodes}
    edges = []
    for position in shown:
        branch = calls.branches[position]
        caller = calls.branches[branch.parent].node if branch.parent >= 0 else root
        edges.append((id_of(caller), id_of(branch.node), ""))
    return diagrams.flowchart(list(dict.fromkeys(edges)), labels)


def _name(node: GraphNode) -> str:
    return markdown.code(node.symbol or node.file_path)


def _documented(node: GraphNode, evidence: Evidence) -> str:
    symbol = evidence.symbol(node.file_path, node.symbol)
    return markdown.text(first_sentence(symbol.docstring)) if symbol else ""
