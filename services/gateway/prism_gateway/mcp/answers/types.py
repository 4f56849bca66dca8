"""Supertypes and subtypes as text, with the lines that may declare further ones."""

import re
from collections.abc import Iterator, Sequence

from prism_contracts.code import EdgeStatus
from prism_contracts.rpc.graph import TreeBranch, TypeHierarchyReply
from prism_contracts.rpc.symbols import TextLine
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.graph_parts import (
    EDGE_CHARS,
    LineTexts,
    answer,
    cut_branches,
    node_cost,
    node_line,
    nodes_line,
    others_lines,
    plain_all,
    sentence,
    text_account,
    text_places,
    texts_of,
    tree_lines,
)
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.answers.receipts import receipt_json
from prism_gateway.mcp.tool import Answer, Json

# Words of a declaration that names supertypes, and a line that continues one.
HEADER = re.compile(
    r"\b(class|struct|interface|trait|record|enum|object|protocol|impl|implements|extends|with|include|type)\b"
    r"|^\s*[:,+]|^[\w.:<>\[\], ]+[,{]?$"
)


def type_hierarchy(reply: TypeHierarchyReply, max_tokens: int) -> Answer:
    """Returns both trees, each cut to half of the budget."""
    texts = _informative(texts_of(reply.source_lines), reply.subtypes)
    trees = {
        "supertypes": (reply.supertypes, reply.total_supertypes),
        "subtypes": (reply.subtypes, reply.total_subtypes),
    }
    structured: Json = {"roots": plain_all(reply.roots), "others": plain_all(reply.others)}
    lines = [f"types around {nodes_line(reply.roots)}"]
    cut = False
    for name, (tree, total) in trees.items():
        branches = cut_branches(tree, _fit(tree, max_tokens // 2)) if tree else ()
        structured[name] = plain_all(branches)
        cut = cut or len(branches) < len(tree)
        if total:
            lines += [f"{name} ({total} direct):", *tree_lines(branches, texts)]
    if cut:
        structured["truncated"] = True
    if reply.note and reply.structural:
        structured |= {"note": reply.note, "structural": plain_all(reply.structural)}
        lines += [reply.note, *(f"? {node_line(node)}" for node in reply.structural)]
    headers = _headers(reply)
    if headers:
        lines += ["other lines that may declare a subtype:", *text_places(headers)]
    if reply.in_text:
        structured["in_text"] = reply.in_text.model_dump(mode="json")
    structured["receipt"] = receipt_json(reply.receipt)
    lines += [
        *others_lines(reply.others, reply.matched),
        sentence(_lacks(reply, headers, cut), _account(reply)),
    ]
    return answer(structured, lines, reply.receipt)


def _informative(texts: LineTexts, subtypes: Sequence[TreeBranch]) -> LineTexts:
    """Returns the texts without the declarations of the subtypes themselves: their place says as much."""
    own = {
        (branch.node.file_path, line)
        for branch in subtypes
        for line in branch.via.lines
        if branch.node.start_line <= line <= branch.node.end_line
    }
    return {place: text for place, text in texts.items() if place not in own}


def _fit(branches: Sequence[TreeBranch], max_tokens: int) -> int:
    """Returns the number of branches that fit. Parents come first, so the fitting branches form a tree."""
    costs = [
        node_cost(branch.node) + EDGE_CHARS + sum(map(node_cost, branch.overrides)) for branch in branches
    ]
    return fit([0] * len(costs), costs, chars(max_tokens), 0).kept


def _headers(reply: TypeHierarchyReply) -> list[TextLine]:
    """Returns the unresolved lines of code that look like a declaration."""
    lines = reply.in_text.unexplained_lines if reply.in_text else ()
    return [line for line in lines if HEADER.search(line.text)]


def _lacks(reply: TypeHierarchyReply, headers: Sequence[TextLine], cut: bool) -> Iterator[str]:
    unsure = sum(branch.via.status is EdgeStatus.CANDIDATE for branch in (*reply.supertypes, *reply.subtypes))
    if unsure:
        yield f"{several(unsure, 'type')} of these match by name only (?)"
    if cut or any(branch.left_out for branch in (*reply.supertypes, *reply.subtypes)):
        yield "not all fit: raise limit or max_tokens"
    if headers:
        yield f"{several(len(headers), 'line')} may declare a subtype (listed above)"
    if reply.note:
        fitting = several(reply.total_structural, "type")
        yield f"{fitting} {'fits' if reply.total_structural == 1 else 'fit'} by method names only"
    if reply.in_text is None:
        yield "it was not compared with the text"
        return
    rest = reply.in_text.unexplained - len(reply.in_text.unexplained_lines)
    if rest:
        yield f"{several(rest, 'line')} of code with the name could not be resolved (find_references)"
    if reply.in_text.files_left_out:
        yield f"{several(reply.in_text.files_left_out, 'file')} that may contain the name were not read"


def _account(reply: TypeHierarchyReply) -> str:
    name = reply.roots[0].symbol.rpartition(".")[2]
    above, below = len(reply.supertypes), len(reply.subtypes)
    declared = " declared" if reply.note else ""
    counts = [
        several(above, "supertype") if above else f"no{declared} supertype",
        several(below, "subtype") if below else f"no{declared} subtype",
    ]
    return "; ".join(filter(None, [", ".join(counts), text_account(reply.in_text, name)]))
