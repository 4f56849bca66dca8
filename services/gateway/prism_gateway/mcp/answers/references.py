"""References as text: groups of places, then the comparison with the text."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from prism_contracts.code import EdgeStatus
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.symbols import (
    Definition,
    Reconciliation,
    ReferenceEntry,
    ReferenceGroup,
    ReferencesReply,
    ReferencesRequest,
    SymbolReferences,
    TextLine,
)
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.places import PlaceLine, file_label, place_lines, several
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
    result = [symbol_json(found, kept) for found in reply.answers]
    blocks = ["\n".join(_lines(found, _filter_words(request))) for found in reply.answers]
    structured: Json = {"answers": result, "receipt": receipt_json(reply.receipt)}
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
    result: Json = {
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
        result["reconciliation"] = found.reconciliation.model_dump(mode="json")
    if kept:
        result["filter"] = kept
        result.get("reconciliation", {})["filtered"] = False
    if found.matched:
        result["matched"] = found.matched
    if found.unparsed:
        result["unparsed"] = list(found.unparsed)
    return result


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
    shown = entry.model_dump(mode="json", exclude={"group", "enclosing"})
    if entry.enclosing and entry.enclosing.name:
        shown["symbol_lines"] = [entry.enclosing.start_line, entry.enclosing.end_line]
    return shown


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
    """Returns the places by group, then whether they are complete, for readers.

    `kept` names the filter of the groups.
    """
    with_repo = len({line.repo for line in _all_lines(found)}) > 1
    for group, entries in _by_group(found.entries).items():
        count = found.counts.get(ReferenceGroup(group), len(entries))
        yield f"{group} ({count} {kept}):" if kept else f"{group} ({count}):"
        for status, uses in groupby(entries, key=lambda entry: entry.status):
            if status is EdgeStatus.CANDIDATE:
                yield " by name only (?):"
            yield from _places(uses, with_repo)
    if found.next_cursor:
        yield f"next_cursor: {found.next_cursor}"
    if found.reconciliation:
        if kept:
            yield f"Without the filter ({kept}):"
        yield from _text_lines(found.reconciliation, with_repo)
        yield _completeness(found, found.reconciliation)


def _all_lines(found: SymbolReferences) -> Iterator[ReferenceEntry | TextLine]:
    yield from found.entries
    if found.reconciliation:
        yield from found.reconciliation.unexplained_lines
        yield from found.reconciliation.mention_lines


def _places(lines: Iterable[ReferenceEntry | TextLine], with_repo: bool) -> Iterator[str]:
    places = (PlaceLine(_file(line, with_repo), line.line, line.text, _enclosing(line)) for line in lines)
    return (f"  {line}" for line in place_lines(places) if line)


def _file(line: ReferenceEntry | TextLine, with_repo: bool) -> str:
    return file_label(line.file_path, line.repo if with_repo else "")


def _enclosing(line: ReferenceEntry | TextLine) -> EnclosingSymbol | None:
    """Returns the symbol around a line; only its name, if the index does not know its range."""
    if line.enclosing is None and isinstance(line, ReferenceEntry) and line.symbol:
        return EnclosingSymbol(name=line.symbol)
    return line.enclosing


def _text_lines(text: Reconciliation, with_repo: bool) -> Iterator[str]:
    if text.unexplained:
        yield f"other code that contains the name ({text.unexplained}):"
        yield from _places(text.unexplained_lines, with_repo)
        if text.unexplained > len(text.unexplained_lines):
            rest = text.unexplained - len(text.unexplained_lines)
            yield f"  … and {rest} more: grep_code with word=true lists them."
    if text.mentions:
        places = ", ".join(f"{_file(line, with_repo)}:{line.line}" for line in text.mention_lines)
        rest = text.mentions - len(text.mention_lines)
        yield f"in comments and strings ({text.mentions}): {places}{f' and {rest} more' if rest else ''}"
    if text.prose_lines:
        yield f"in prose, such as Markdown: {several(text.prose_lines, 'line')} in {several(text.prose_files, 'file')}"


def _completeness(found: SymbolReferences, text: Reconciliation) -> str:
    """Returns one sentence: the list is complete, or what it lacks."""
    lacks = [
        f"{text.candidates} of them match by name only (?)" if text.candidates else "",
        f"{several(text.unexplained, 'line')} of code could not be resolved (listed above)"
        if text.unexplained
        else "",
        f"{several(text.files_left_out, 'file')} that may contain it were not read: narrow with repo or path_filter"
        if text.files_left_out
        else "",
    ]
    lacks = [part for part in lacks if part]
    name = found.definitions[0].symbol.name if found.definitions else found.symbol
    lines = f"{several(text.text_lines, 'line')} of code in {several(text.files, 'file')}"
    parts = [
        several(text.resolved, "reference"),
        f"{text.elsewhere} to another {name}" if text.elsewhere else "",
        f"{text.mentions} in comments or strings" if text.mentions else "",
        "its definition" if found.definitions else "",
    ]
    account = ", ".join(part for part in parts if part)
    if lacks:
        return f"Not complete: {'; '.join(lacks)}. {lines} contain {name}: {account}."
    if not text.text_lines:
        return f"Complete: no line of code contains {name}."
    return f"Complete: all {lines} that contain {name} are accounted for: {account}."
