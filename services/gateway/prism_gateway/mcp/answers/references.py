"""References as text: groups of places, then the comparison with the text."""

from collections.abc import Iterable, Iterator

from prism_contracts.code import EdgeStatus
from prism_contracts.rpc.symbols import (
    Definition,
    Reconciliation,
    ReferenceEntry,
    ReferenceGroup,
    ReferencesReply,
    ReferencesRequest,
    SymbolReferences,
)
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.answers.symbols import no_definition_line
from prism_gateway.mcp.tool import Answer, Json

# The cost of a definition or an unexplained line without its own text, in text and data.
PLACE_CHARS = 80
# The same for an entry, with its status and strategy.
ENTRY_CHARS = 160
# The fields of a request that filter references.
FILTER = {"path_filter", "reference_type", "source_only"}


def fit_entries(reply: ReferencesReply, max_tokens: int) -> int:
    """Returns the number of entries of each symbol that fit."""
    rest = sum(
        len(line.text) + PLACE_CHARS
        for answer in reply.answers
        for line in (answer.reconciliation.unexplained_lines if answer.reconciliation else ())
    )
    rest += sum(
        len(definition.symbol.signature) + 2 * PLACE_CHARS
        for answer in reply.answers
        for definition in answer.definitions
    )
    # Round-robin over the symbols, so that each gets an equal share.
    longest = max(len(answer.entries) for answer in reply.answers)
    rows = [
        sum(
            len(entry.text) + ENTRY_CHARS
            for answer in reply.answers
            for entry in answer.entries[row : row + 1]
        )
        for row in range(longest)
    ]
    return fit([0] * longest, rows, chars(max_tokens) - rest, 0).kept if rows else 0


def answer(reply: ReferencesReply, request: ReferencesRequest) -> Answer:
    """Returns all symbols, each with its filtered groups and its unfiltered reconciliation."""
    kept = request.model_dump(mode="json", include=FILTER, exclude_defaults=True)
    told = [symbol_json(found, kept) for found in reply.answers]
    blocks = ["\n".join(_lines(found, _filter_words(request))) for found in reply.answers]
    structured: Json = {"answers": told, "receipt": receipt_json(reply.receipt)}
    return Answer(structured, "\n\n".join([*blocks, receipt_line(reply.receipt)]))


def _filter_words(request: ReferencesRequest) -> str:
    words = (
        f"in {request.path_filter}" if request.path_filter else "",
        f"{request.reference_type.value} only" if request.reference_type else "",
        "without tests" if request.source_only else "",
    )
    return ", ".join(filter(None, words))


def symbol_json(found: SymbolReferences, kept: Json | None = None) -> Json:
    """Returns the references of one symbol, for programs. `kept` names the filter of groups and counts."""
    told: Json = {
        "symbol": found.symbol,
        "definitions": [definition_json(definition) for definition in found.definitions],
        "total_definitions": found.total_definitions,
        "groups": {
            group: [_entry(entry) for entry in entries] for group, entries in _by_group(found.entries).items()
        },
        "counts": {group.value: count for group, count in found.counts.items()},
        "next_cursor": found.next_cursor,
        "suggestions": list(found.suggestions),
    }
    if found.reconciliation:
        told["reconciliation"] = found.reconciliation.model_dump(mode="json")
    if kept:
        told["filter"] = kept
        told.get("reconciliation", {})["filtered"] = False
    if found.matched:
        told["matched"] = found.matched
    if found.unparsed:
        told["unparsed"] = list(found.unparsed)
    return told


def definition_json(definition: Definition) -> Json:
    """Returns a definition and its place, for programs."""
    symbol = definition.symbol
    return {
        "repo": definition.repo,
        "file_path": definition.file_path,
        "start_line": symbol.start_line,
        "end_line": symbol.end_line,
        "name": symbol.qualified_name,
        "kind": symbol.kind.value,
        "signature": symbol.signature,
    }


def _entry(entry: ReferenceEntry) -> Json:
    return entry.model_dump(mode="json", exclude={"group"})


def _by_group(entries: Iterable[ReferenceEntry]) -> dict[str, list[ReferenceEntry]]:
    groups: dict[str, list[ReferenceEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.group.value, []).append(entry)
    return groups


def _lines(found: SymbolReferences, kept: str) -> Iterator[str]:
    if not found.definitions:
        yield no_definition_line(found.symbol, found.suggestions, found.unparsed)
    for definition in found.definitions:
        symbol = definition.symbol
        yield f"{symbol.qualified_name} ({symbol.kind.value}) defined at {definition.file_path}:{symbol.name_line}"
    if found.total_definitions > len(found.definitions):
        yield f"… and {found.total_definitions - len(found.definitions)} more definitions: give a qualified name or file_path."
    if kept and found.definitions and not found.counts:
        yield f"none {kept}"
    yield from group_lines(found, kept)


def group_lines(found: SymbolReferences, kept: str = "") -> Iterator[str]:
    """Returns the places by group and the comparison with the text, for readers.

    `kept` names the filter of the groups.
    """
    for group, entries in _by_group(found.entries).items():
        count = found.counts.get(ReferenceGroup(group), len(entries))
        yield f"{group} ({count} {kept}):" if kept else f"{group} ({count}):"
        yield from map(_entry_line, entries)
    if found.next_cursor:
        yield f"next_cursor: {found.next_cursor}"
    if found.reconciliation:
        if kept:
            yield f"Without the filter ({kept}):"
        yield from _reconciliation_lines(found.reconciliation)


def _entry_line(entry: ReferenceEntry) -> str:
    mark = "?" if entry.status is EdgeStatus.CANDIDATE else " "
    within = f" in {entry.symbol}" if entry.symbol else ""
    return f"{mark} {entry.file_path}:{entry.line}{within} [{entry.edge.value}, {entry.strategy.value}] {entry.text}"


def _reconciliation_lines(told: Reconciliation) -> Iterator[str]:
    yield (
        f"{told.resolved} references resolved, {told.candidates} candidates (?), {told.elsewhere} references of the name to other symbols; "
        f"{told.text_lines} lines in {told.files} files contain the name, "
        f"{told.unexplained} of them outside definitions and references" + (":" if told.unexplained else ".")
    )
    for line in told.unexplained_lines:
        yield f"  {line.file_path}:{line.line} {line.text}"
    if told.unexplained > len(told.unexplained_lines):
        yield f"  … and {told.unexplained - len(told.unexplained_lines)} more: grep_code with word=true lists them."
    if told.prose_lines:
        yield f"{told.prose_lines} more lines in {told.prose_files} prose files (such as Markdown) contain it."
    if told.files_left_out:
        yield f"{told.files_left_out} more files may contain the name and were not read: narrow with repo or path_filter."
