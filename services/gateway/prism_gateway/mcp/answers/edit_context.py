"""The context of an edit in one answer.

Its parts share the budget: short parts leave their share to long ones. A part that is cut keeps its first
items.
"""

from collections.abc import Iterator, Sequence

from prism_contracts.code import EdgeStatus
from prism_contracts.records import Anchor
from prism_contracts.rpc.anchors import Concerning, ConcerningReply
from prism_contracts.rpc.guidance import EditContextReply, ReachingTest, RulesDocument
from prism_contracts.rpc.symbols import SymbolReferences
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers import edit_uses, quotes, references
from prism_gateway.mcp.answers.files import numbered
from prism_gateway.mcp.answers.impacts import command_lines
from prism_gateway.mcp.answers.places import test_group
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.answers.stale import since
from prism_gateway.mcp.tool import Answer, Json
from prism_gateway.search import shorten_lines

# The cost of an item without its text, in characters: a name, numbers, spaces.
ITEM_CHARS = 40
# The cost of a line without its text, in characters.
LINE_CHARS = 6
# Headings, and the sentences about the uses and the tests.
FIXED_CHARS = 400
PART_FLOOR_CHARS = 200
# A document names most places once; the first ones are enough to find the paragraph.
ANCHORS_SHOWN = 3
COMMIT_CHARS = 10
# The share of the documents and tasks that name the place.
CONCERNING_SHARE = 8
# The share of rules: most callers know them from the start of their session.
RULES_SHARE = 8


def answer(reply: EditContextReply, max_tokens: int, concerning: ConcerningReply | None = None) -> Answer:
    """Returns the reply within the budget, for programs and for readers.

    `concerning`: the documents and open tasks that name the place; None if they are not known.
    """
    uses = edit_uses.without_common(reply.references) if reply.references else None
    reply = reply.model_copy(update={"references": uses, "tests": _listed_tests(reply)})
    named_by = _concerning(concerning, chars(max_tokens) // CONCERNING_SHARE)
    shown = shorten(reply, max_tokens, len(named_by))
    structured = _structured(shown)
    structured["concerning"] = [
        _concerning_json(one) for one in (concerning.concerning if concerning else ())
    ]
    foot = [*(f"note: {note}" for note in shown.notes), receipt_line(shown.receipt)]
    if concerning is None:
        foot.insert(
            0, "note: which documents and tasks name this place is not known: workspace did not answer."
        )
    if _sizes(shown) != _sizes(reply):
        structured["truncated"] = True
        foot.append(f"note: cut to max_tokens={max_tokens}: raise it, or ask find_references and read_file.")
    source = numbered(shown.content, shown.start_line) if shown.content else ""
    uses_lines = "\n".join(edit_uses.use_lines(shown.references)) if shown.references else ""
    blocks = [f"{_head(shown)}\n{source}", uses_lines, _tests(shown), _siblings(shown), _warnings(shown)]
    blocks += [_changes(shown), named_by]
    text = "\n\n".join(filter(None, [*blocks, quotes.rules_block(shown.rules), "\n".join(foot)]))
    return Answer(structured, text)


def shorten(reply: EditContextReply, max_tokens: int, taken: int = 0) -> EditContextReply:
    """Returns the reply cut to the budget, of which `taken` characters are used already.

    Short parts stay whole; long parts are cut to the same length.
    """
    uses, parts = reply.references, _sizes(reply)
    foot = sum(len(note) + LINE_CHARS for note in reply.notes)
    foot += sum(map(len, command_lines(reply.test_commands)))
    fixed = len(_head(reply)) + len(_warnings(reply)) + len(_changes(reply)) + foot + taken + FIXED_CHARS
    room_for_all = max(chars(max_tokens) - fixed, 0)
    sizes = [sum(part) for part in parts.values()]
    fits = fit(sizes, [0] * len(sizes), room_for_all, PART_FLOOR_CHARS)
    room = dict(zip(parts, [fits.text_chars_max] * fits.kept + [0] * len(parts), strict=False))
    kept = {name: _count(sizes_of, room[name]) for name, sizes_of in parts.items()}
    rules_room = min(room["rules"], chars(max_tokens) // RULES_SHARE)
    return reply.model_copy(
        update={
            "content": shorten_lines(reply.content, _source_room(reply, room["content"]), reply.start_line),
            "references": _cut_uses(uses, kept["entries"], kept["unexplained"]) if uses else None,
            "tests": reply.tests[: kept["tests"]],
            "siblings": reply.siblings[: kept["siblings"]],
            "rules": quotes.fit_documents(_without_headings(reply.rules), rules_room),
        }
    )


def _sizes(reply: EditContextReply) -> dict[str, list[int]]:
    """Returns the cost of each item of the parts that share the budget, in characters."""
    uses = reply.references
    unexplained = uses.reconciliation.unexplained_lines if uses and uses.reconciliation else ()
    return {
        "content": [len(reply.content) + LINE_CHARS * _line_count(reply)],
        "entries": list(edit_uses.sizes(uses.entries)) if uses else [],
        "unexplained": [len(line.text) + len(line.file_path) + ITEM_CHARS for line in unexplained],
        "tests": list(_test_sizes(reply.tests)),
        "siblings": [len(one.definition.file_path) + ITEM_CHARS for one in reply.siblings],
        "rules": [quotes.size(document) for document in reply.rules],
    }


def _line_count(reply: EditContextReply) -> int:
    return reply.content.count("\n") + 1


def _source_room(reply: EditContextReply, room: int) -> int:
    """Returns the room for the source without its line numbers."""
    chars_of_lines = len(reply.content) + LINE_CHARS * _line_count(reply)
    return room * len(reply.content) // chars_of_lines


def _test_sizes(tests: Sequence[ReachingTest]) -> Iterator[int]:
    seen: set[tuple[str, str, str]] = set()
    for test in tests:
        row = (test.file_path, test.via, test_group(test.around))
        yield len(test.symbol) + 2 * LINE_CHARS + (0 if row in seen else sum(map(len, row)) + LINE_CHARS)
        seen.add(row)


def _listed_tests(reply: EditContextReply) -> tuple[ReachingTest, ...]:
    """Returns the tests; if many match by name only, those that are known to use it."""
    is_ordered = bool(reply.graph_tests)  # by the graph, which follows no common name
    if is_ordered or reply.test_counts.get(EdgeStatus.CANDIDATE, 0) <= edit_uses.CANDIDATES_MAX:
        return reply.tests
    return tuple(test for test in reply.tests if test.status is EdgeStatus.RESOLVED)


def _without_headings(rules: Sequence[RulesDocument]) -> list[RulesDocument]:
    return [document.model_copy(update={"headings": ()}) for document in rules]


def _count(sizes: Sequence[int], room: int) -> int:
    used = 0
    for index, size in enumerate(sizes):
        used += size
        if used > room:
            return index
    return len(sizes)


def _cut_uses(uses: SymbolReferences, entries: int, unexplained: int) -> SymbolReferences:
    result = uses.reconciliation
    if result:
        result = result.model_copy(update={"unexplained_lines": result.unexplained_lines[:unexplained]})
    return uses.model_copy(update={"entries": uses.entries[:entries], "reconciliation": result})


def _structured(reply: EditContextReply) -> Json:
    result: Json = {
        "repo": reply.repo,
        "file_path": reply.file_path,
        "start_line": reply.start_line,
        "end_line": reply.end_line,
        "language": reply.language,
        "content": reply.content,
        "warnings": [warning.model_dump(mode="json") for warning in reply.warnings],
        "tests": [test.model_dump(mode="json") for test in reply.tests],
        "test_counts": {status.value: count for status, count in reply.test_counts.items()},
        **_test_reach(reply),
        "test_commands": [one.model_dump(mode="json") for one in reply.test_commands],
        "test_files": list(reply.test_files),
        "siblings": [
            {"relation": one.kind.value, **references.definition_json(one.definition)}
            for one in reply.siblings
        ],
        "rules": [document.model_dump(mode="json") for document in reply.rules],
        "notes": list(reply.notes),
        "receipt": receipt_json(reply.receipt),
    }
    if reply.symbol:
        result["symbol"] = {
            "name": reply.symbol.qualified_name,
            "kind": reply.symbol.kind.value,
            "signature": reply.symbol.signature,
            "docstring": reply.symbol.docstring,
        }
        result["others"] = [references.definition_json(other) for other in reply.others]
    if reply.changes:
        result["changes"] = reply.changes.model_dump(mode="json")
    if reply.matched:
        result["matched"] = reply.matched
    if reply.references:
        result["uses"] = references.symbol_json(reply.references)
    return result


def _head(reply: EditContextReply) -> str:
    place = f"{reply.repo} {reply.file_path}:{reply.start_line}-{reply.end_line}"
    if not reply.symbol:
        return f"{place}: these lines belong to no function or class, so their callers are unknown."
    lines = [f"{place} {reply.symbol.kind.value} {reply.symbol.qualified_name}"]
    if reply.matched:
        lines.append(
            f"Found by the name {reply.matched}; its qualifier did not match, so this may be another symbol."
        )
    if reply.total_others:
        places = (
            f"{other.file_path}:{other.symbol.name_line} {other.symbol.qualified_name}"
            for other in reply.others
        )
        lines.append(
            f"{reply.total_others} more definitions of the name were not searched (give a qualified name or file_path): {', '.join(places)}"
        )
    return "\n".join(lines)


def _warnings(reply: EditContextReply) -> str:
    return "\n".join(
        f"! {warning.text}{' ' if warning.places else ''}{'; '.join(warning.places)}"
        for warning in reply.warnings
    )


def _test_reach(reply: EditContextReply) -> Json:
    """Returns how deep tests were searched and how many more exist, for programs."""
    if not reply.symbol:
        return {}
    result: Json = {
        "test_depth": reply.test_depth,
        "next_actions": [action] if (action := _more_tests(reply)) else [],
    }
    if reply.graph_tests is not None:
        result["graph_tests"] = {"total": reply.graph_tests, "depth": reply.graph_test_depth}
    return result


def _more_tests(reply: EditContextReply) -> str:
    """Returns the call that lists the missing tests; empty if none are missing."""
    result = reply.references
    total = sum(reply.test_counts.values())
    are_all_here = total == len(reply.tests) and reply.graph_tests is not None and reply.graph_tests <= total
    if result is None or are_all_here:
        return ""
    action = f"impact_of_change(symbol={result.symbol!r}, file_path={reply.file_path!r})"
    if reply.graph_tests is None:
        return f"Tests further away were not searched: {action} does that."
    if reply.graph_tests <= total:
        return f"{action} lists all."
    return f"{reply.graph_tests} tests reach it within {reply.graph_test_depth} uses: {action} lists them."


def _tests(reply: EditContextReply) -> str:
    named = [f"tests named after the file: {', '.join(reply.test_files)}"] if reply.test_files else []
    if not reply.symbol:
        return "\n".join(named)
    more = list(filter(None, [_more_tests(reply)]))
    if not reply.test_counts:
        return "\n".join([f"tests: none uses it or its callers. {' '.join(more)}".rstrip(), *named])
    known, perhaps = (reply.test_counts.get(status, 0) for status in EdgeStatus)
    unsure = f", {perhaps} by name only (?)" if perhaps else ""
    left_out = known + perhaps - len(reply.tests)
    cut = [f"  … and {left_out} more"] if left_out else []
    far = "reach it, nearest first" if reply.graph_tests is not None else "use it or its callers"
    head = f"tests that {far} ({known}{unsure}):"
    run = command_lines(reply.test_commands) if reply.tests else ()
    return "\n".join([head, *edit_uses.test_lines(reply.tests), *cut, *run, *more, *named])


def _siblings(reply: EditContextReply) -> str:
    lines = [
        f"  {one.definition.file_path}:{one.definition.symbol.name_line} {one.definition.symbol.qualified_name} ({one.kind.value})"
        for one in reply.siblings
    ]
    return "\n".join(["probably need the same change:", *lines]) if lines else ""


def _changes(reply: EditContextReply) -> str:
    result = reply.changes
    if not result:
        return ""
    counts = f"{result.commits_12_months} commits in 12 months, {result.commits_90_days} of them in 90 days"
    note = f" ({result.note})" if result.note else ""
    return f"file changed: {counts}{note}; last {result.last.commit} {result.last.at.date()} > {result.last.message}"


def _concerning(reply: ConcerningReply | None, room: int) -> str:
    """Returns the documents and tasks within some characters, those that name the place most closely first."""
    if reply is None or not reply.concerning:
        return ""
    lines = list(map(_concerning_line, reply.concerning))
    lines = lines[: _count([len(line) for line in lines], room)]
    left_out = reply.total - len(lines)
    more = [f"  … and {left_out} more"] if left_out else []
    return "\n".join(["documents and open tasks that name it:", *lines, *more])


def _concerning_line(one: Concerning) -> str:
    where = one.path or f"{one.status} {one.subject}".strip()
    return f"  {one.kind} {one.title!r} ({where}): {'; '.join(map(_anchor, one.anchors[:ANCHORS_SHOWN]))}"


def _anchor(anchor: Anchor) -> str:
    lines = f"{anchor.path}:{anchor.start_line}-{anchor.end_line}" if anchor.start_line else anchor.path
    stale = anchor.stale
    state = f", stale {since(stale.commit, stale.reason)}" if stale else ""
    return f"{anchor.symbol or lines}{state}"


def _concerning_json(one: Concerning) -> Json:
    anchors = [
        anchor.model_dump(mode="json", include={"path", "symbol", "start_line", "end_line", "stale"})
        for anchor in one.anchors[:ANCHORS_SHOWN]
    ]
    return one.model_dump(mode="json", exclude={"anchors"}) | {"anchors": anchors}
