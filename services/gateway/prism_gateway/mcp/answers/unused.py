"""Unused code as text: by group and file, each definition with how sure it is, and what stands in the way."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from prism_contracts.rpc.unused import DoubtReason, UnusedDefinition, UnusedGroup, UnusedReply, UseDoubt
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.graph_parts import answer, node_cost, plain, within_file
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.answers.receipts import receipt_json
from prism_gateway.mcp.tool import Answer

# The cost of a definition without its names: evidence and group.
ROW_CHARS = 60
USERS_NAMED_MAX = 2
TITLES: Mapping[UnusedGroup, str] = {
    UnusedGroup.UNUSED: "unused: no use in the graph, and no other line of code has the name",
    UnusedGroup.TESTS_ONLY: "used by tests only",
    UnusedGroup.EXPORTED: "exported, unused inside this repository",
    UnusedGroup.UNCLEAR: "unclear: no use in the graph, but this may be one",
}
# The text of each doubt. Namesakes and lookups have a text elsewhere.
DOUBTS: Mapping[DoubtReason, str] = {
    DoubtReason.EXPORTED: "exported",
    DoubtReason.TEXT: "the name is also at {place}{more}",
    DoubtReason.COMPUTED_NAME: "a string at {place}{more} may be part of the name",
    DoubtReason.CROWDED: "too many lines have the name to compare them",
    DoubtReason.NAMESAKE: "",
    DoubtReason.REGISTERED: "{text} at line {line} may register it",
    DoubtReason.INHERITED: "supertype {text} is outside of the repository",
    DoubtReason.IMPLICIT: "may be called through {text}",
    DoubtReason.DYNAMIC: "Not certain: names are looked up at run time, as at {place} ({text}).",
    DoubtReason.NOT_READ: "its text could not be read",
}


def fit_unused(reply: UnusedReply, max_tokens: int) -> int:
    """Returns the number of definitions that fit."""
    costs = [_cost(one) for one in reply.definitions]
    return fit([0] * len(costs), costs, chars(max_tokens), 0).kept if costs else 0


def unused(reply: UnusedReply) -> Answer:
    """Returns the definitions by group, then what was examined and what was not."""
    structured = plain(reply, exclude={"receipt"}) | {"receipt": receipt_json(reply.receipt)}
    lines: list[str] = []
    for group, found in groupby(reply.definitions, key=lambda one: one.group):
        lines += [f"{TITLES[group]} ({reply.counts[group]}):", *_rows(list(found), reply.definitions)]
    if not reply.definitions:
        lines.append("no definition without a use")
    return answer(structured, [*lines, *_scope(reply)], reply.receipt, reply.next_cursor)


def _cost(one: UnusedDefinition) -> int:
    doubts = sum(len(doubt.file_path) + len(doubt.text) + ROW_CHARS for doubt in one.doubts)
    return node_cost(one.node) + sum(map(node_cost, one.users)) + doubts + ROW_CHARS


def _rows(found: Sequence[UnusedDefinition], page: Sequence[UnusedDefinition]) -> Iterator[str]:
    path = ""
    for one in found:
        if one.node.file_path != path:
            path = one.node.file_path
            yield f"  {path}"
        inner = "  " if one.below >= 0 else ""
        notes = "; ".join(filter(None, _notes(one, page)))
        yield f"    {inner}{within_file(one.node)}: {notes}"


def _notes(one: UnusedDefinition, page: Sequence[UnusedDefinition]) -> Iterator[str]:
    yield one.node.kind.value if one.node.kind else ""
    if one.group is UnusedGroup.UNUSED:
        yield "certain" if one.certain else "likely"
    yield f"with {several(one.members, 'definition')} in it" if one.members else ""
    if one.users:
        named = ", ".join(user.symbol or user.file_path for user in one.users[:USERS_NAMED_MAX])
        more = f" and {one.total_users - USERS_NAMED_MAX} more" if one.total_users > USERS_NAMED_MAX else ""
        yield f"only used by {named}{more}"
    elif one.below >= 0:
        yield f"reached from {page[one.below].node.symbol}"
    if one.references_elsewhere:
        yield f"{several(one.references_elsewhere, 'use')} of the name mean another definition"
    yield from (_doubt(doubt) for doubt in one.doubts if doubt.reason is not DoubtReason.DYNAMIC)
    yield f"{several(one.mentions, 'mention')} in comments or prose" if one.mentions else ""


def _doubt(doubt: UseDoubt) -> str:
    place = f"{doubt.file_path}:{doubt.line}" if doubt.file_path else "an unknown place"
    more = f" and {doubt.total - 1} more" if doubt.total > 1 else ""
    return DOUBTS[doubt.reason].format(place=place, more=more, text=doubt.text, line=doubt.line)


def _scope(reply: UnusedReply) -> Iterable[str]:
    counts = ", ".join(
        f"{reply.counts[group]} {group.value}" for group in UnusedGroup if reply.counts.get(group)
    )
    yield f"{several(reply.examined, 'definition')} examined: {counts or 'all used'}."
    yield from dict.fromkeys(
        _doubt(doubt)
        for one in reply.definitions
        for doubt in one.doubts
        if doubt.reason is DoubtReason.DYNAMIC
    )
    if reply.not_compared:
        yield f"Not complete: {several(reply.not_compared, 'definition')} could not be compared with the text."
    if reply.other_languages:
        named = ", ".join(f"{language} ({files})" for language, files in reply.other_languages.items())
        yield f"Not examined, by language and files: {named}."
    yield "Members of a listed type are part of it. Definitions in tests and generated code are not examined."
