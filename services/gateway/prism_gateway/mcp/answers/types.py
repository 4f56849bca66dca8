"""Supertypes and subtypes as text, with the lines that may declare further ones."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from prism_contracts.code import EdgeStatus, SymbolKind
from prism_contracts.rpc.graph import (
    WALK_LIMIT_MAX,
    MacroSubtypes,
    OutsideType,
    SourceLine,
    TreeBranch,
    TypeHierarchyReply,
)
from prism_contracts.rpc.symbols import TextLine
from prism_gateway.budget import chars
from prism_gateway.mcp.answers.graph_parts import (
    LineTexts,
    answer,
    cut_branches,
    node_line,
    nodes_line,
    others_lines,
    plain_all,
    sentence,
    tests_account,
    text_account,
    text_places,
    texts_of,
)
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.answers.receipts import receipt_json
from prism_gateway.mcp.answers.type_rows import RowDetail, TypeRow, fitting_rows, kind_of, rows_of
from prism_gateway.mcp.tool import Answer, Json

SCOPES = frozenset({SymbolKind.MODULE, SymbolKind.NAMESPACE})
# `impl<T: Gate> Open for T`: the type parameters, and what it is for.
BLANKET = re.compile(
    r"(?:unsafe )?impl\s*(<.*>)\s+.*\sfor\s+(?:&(?:'\w+\s+)?(?:mut\s+)?)?(\w+)\s*(?:where\b.*)?$"
)
# The first and the last lines of the answer.
HEAD_CHARS = 400
# Words of a declaration that names supertypes.
DECLARATION = re.compile(
    r"\b(class|struct|interface|trait|record|enum|object|protocol|impl|implements|extends|include)\b"
)
# The same, and a line that continues one.
HEADER = re.compile(
    r"\b(class|struct|interface|trait|record|enum|object|protocol|impl|implements|extends|with|include|type)\b"
    r"|^\s*[:,+]|^[\w.:<>\[\], ]+[,{]?$"
)


def type_hierarchy(reply: TypeHierarchyReply, max_tokens: int) -> Answer:
    """Returns both trees; the supertypes take at most half of the budget."""
    texts = _informative(texts_of(map(_with_range, reply.source_lines)), reply.subtypes)
    above, below = rows_of(reply.supertypes), rows_of(reply.subtypes)
    headers = _headers(reply)
    below_rows = [*_structural_lines(reply), *_macro_lines(reply.by_macros), *_header_lines(headers)]
    room = chars(max_tokens) - HEAD_CHARS - sum(map(len, below_rows))
    shown_above = fitting_rows(above, texts, room // 2)
    shown_below = fitting_rows(below, texts, room - sum(map(len, shown_above.lines)))
    structured: Json = {"roots": plain_all(reply.roots), "others": plain_all(reply.others)}
    lines = [_outside_line(reply.outside) if reply.outside else f"types around {nodes_line(reply.roots)}"]
    if reply.outside:
        structured["outside"] = reply.outside.model_dump(mode="json")
    trees = (
        ("supertypes", reply.supertypes, above, shown_above),
        ("subtypes", reply.subtypes, below, shown_below),
    )
    for name, tree, rows, shown in trees:
        is_whole = shown.kept == len(rows)
        structured[name] = plain_all(tree if is_whole else cut_branches(tree, shown.kept))
        if rows:
            lines += [f"{name} ({_counts(rows)}):", *shown.lines]
    cut = len(above) + len(below) - shown_above.kept - shown_below.kept
    if cut:
        structured["truncated"] = True
    detail = min(shown_above.detail, shown_below.detail)
    if reply.note and reply.structural:
        structured |= {"note": reply.note, "structural": plain_all(reply.structural)}
    if reply.by_macros:
        structured["by_macros"] = plain_all(reply.by_macros)
    lines += below_rows
    if reply.in_text:
        structured["in_text"] = reply.in_text.model_dump(mode="json")
    structured["receipt"] = receipt_json(reply.receipt)
    lines += [
        *others_lines(reply.others, reply.matched),
        sentence(
            _lacks(reply, headers, cut, without_members=detail < RowDetail.MEMBERS),
            _account(reply, len(above), len(below)),
        ),
    ]
    return answer(structured, lines, reply.receipt)


def _outside_line(outside: OutsideType) -> str:
    """Returns what the type is, and from which modules files import it."""
    known = [f"{one.module} ({several(one.types, 'type')})" for one in outside.modules if one.module]
    unknown = sum(one.types for one in outside.modules if not one.module)
    if known and unknown:
        known.append(f"{several(unknown, 'type')} without a module")
    origin = f", imported from {', '.join(known)}" if known else ""
    return f"{outside.name} is not defined in this repository{origin}"


def _counts(rows: Sequence[TypeRow]) -> str:
    indirect = sum(bool(row.over) for row in rows)
    direct = f"{len(rows) - indirect} direct"
    kinds = Counter(kind_of(row.branch.node) for row in rows if row.branch.node.kind)
    named = ", ".join(several(count, kind) for kind, count in kinds.most_common())
    return "".join([direct, f", {indirect} indirect" if indirect else "", f": {named}" if named else ""])


def _with_range(line: SourceLine) -> SourceLine:
    """Returns the header of an `impl` block with its range, and whether it is for any type that fits."""
    if not line.end_line:
        return line
    generic = BLANKET.match(line.text)
    blanket = ", blanket" if generic and re.search(rf"[<,]\s*{generic[2]}\b", generic[1]) else ""
    return line.model_copy(update={"text": f"{line.text} ({line.line}-{line.end_line}{blanket})"})


def _informative(texts: LineTexts, subtypes: Sequence[TreeBranch]) -> LineTexts:
    """Returns the texts without the declarations of the subtypes themselves: their place says as much.

    The `impl` blocks of a module may be for types of other crates, which only the text names.
    """
    own = {
        (branch.node.file_path, line)
        for branch in subtypes
        for line in branch.via.lines
        if branch.node.start_line <= line <= branch.node.end_line and branch.node.kind not in SCOPES
    }
    return texts.without(own)


def _headers(reply: TypeHierarchyReply) -> list[TextLine]:
    """Returns the unresolved lines of code that look like a declaration, without those of listed macros."""
    lines = reply.in_text.unexplained_lines if reply.in_text else ()
    listed = {(one.macro.file_path, one.line) for one in reply.by_macros}
    if not reply.outside:
        return [
            line for line in lines if HEADER.search(line.text) and (line.file_path, line.line) not in listed
        ]
    listed |= {(branch.node.file_path, line) for branch in reply.subtypes for line in branch.via.lines}
    return [
        line for line in lines if DECLARATION.search(line.text) and (line.file_path, line.line) not in listed
    ]


def _structural_lines(reply: TypeHierarchyReply) -> Iterator[str]:
    if reply.note and reply.structural:
        yield reply.note
        yield from (f"  {node_line(node)}" for node in reply.structural)


def _header_lines(headers: Sequence[TextLine]) -> Iterator[str]:
    if headers:
        yield "other lines that may declare a subtype:"
        yield from text_places(headers)


def _macro_lines(macros: Sequence[MacroSubtypes]) -> Iterator[str]:
    """Returns the subtypes that calls of macros declare, by file, with the lines of each call."""
    for one in macros:
        shown = f", the first {len(one.calls)}" if one.total > len(one.calls) else ""
        yield f"by calls of macro {node_line(one.macro)} ({one.total}{shown}), which has {one.line}: {one.text}"
        for path, calls in groupby(one.calls, key=lambda call: call.file_path):
            named = (f"{call.name} ({call.start_line}-{call.end_line})".strip() for call in calls)
            yield f"  {path}: {', '.join(named)}"


def _lacks(
    reply: TypeHierarchyReply, headers: Sequence[TextLine], cut: int, *, without_members: bool
) -> Iterator[str]:
    every = (*reply.supertypes, *reply.subtypes)
    unsure = sum(branch.via.status is EdgeStatus.CANDIDATE for branch in every)
    if unsure:
        yield f"{several(unsure, 'type')} of these match by name only (?)"
    if cut:
        yield f"{several(cut, 'type')} not listed: raise max_tokens"
    if beyond := _beyond_limit(reply):
        is_at_most = max(map(_direct, (reply.supertypes, reply.subtypes))) >= WALK_LIMIT_MAX
        advice = "find_references with path_filter narrows" if is_at_most else "raise limit"
        yield f"{several(beyond, 'direct type')} beyond the limit: {advice}"
    if below := reply.below_left_out + sum(branch.left_out for branch in every):
        yield f"{several(below, 'type')} of further levels beyond the limit: ask about a type listed above"
    if without_members and any(branch.overrides for branch in every):
        yield "overriding members are not listed: raise max_tokens"
    if headers:
        yield f"{several(len(headers), 'line')} may declare a subtype (listed above)"
    yield from _lacks_by_methods(reply)
    if reply.in_text is None:
        yield "it was not compared with the text"
        return
    rest = reply.in_text.unexplained - len(reply.in_text.unexplained_lines)
    if rest:
        yield f"{several(rest, 'line')} of code with the name could not be resolved (find_references)"
    if reply.in_text.files_left_out:
        yield f"{several(reply.in_text.files_left_out, 'file')} that may contain the name were not read"


def _lacks_by_methods(reply: TypeHierarchyReply) -> Iterator[str]:
    if _is_by_name(reply):
        by_name = f"{several(reply.total_structural, 'type')} by the names of methods only (?)"
        yield by_name if reply.total_structural else "types that satisfy it by attributes are not listed"
    if unlisted := reply.total_structural - len(reply.structural):
        yield f"{several(unlisted, 'type')} with all methods not listed"
    if reply.embedded_outside:
        yield f"methods of {', '.join(reply.embedded_outside)} are not in the index"


def _is_by_name(reply: TypeHierarchyReply) -> bool:
    return "(?)" in reply.note


def _by_methods(reply: TypeHierarchyReply) -> str:
    if reply.total_structural and not _is_by_name(reply):
        return f"{several(reply.total_structural, 'type')} by methods"
    return "no type has all of its methods" if reply.outside and reply.note else ""


def _beyond_limit(reply: TypeHierarchyReply) -> int:
    """Returns the number of direct types that the limit left out."""
    direct = _direct(reply.supertypes) + _direct(reply.subtypes)
    return reply.total_supertypes + reply.total_subtypes - direct


def _direct(tree: Sequence[TreeBranch]) -> int:
    return sum(branch.parent < 0 for branch in tree)


def _account(reply: TypeHierarchyReply, above: int, below: int) -> str:
    named = reply.outside.name if reply.outside else reply.roots[0].symbol
    name = named.rpartition(".")[2]
    declared = " declared" if reply.note else ""
    counts = [
        "" if reply.outside else several(above, "supertype") if above else f"no{declared} supertype",
        several(below, "subtype") if below else f"no{declared} subtype",
        _by_methods(reply),
        *([f"{sum(one.total for one in reply.by_macros)} by macros"] if reply.by_macros else []),
    ]
    tests = tests_account(reply.tests_left_out, "direct subtype")
    filtered = (
        f"{several(reply.filtered_out, 'direct subtype')} outside the filter" if reply.filtered_out else ""
    )
    in_text = reply.in_text
    if in_text and reply.outside:  # its other uses are no concern of this answer
        in_text = in_text.model_copy(update={"other_lines": 0})
    return "; ".join(
        filter(None, [", ".join(filter(None, counts)), tests, filtered, text_account(in_text, name)])
    )
