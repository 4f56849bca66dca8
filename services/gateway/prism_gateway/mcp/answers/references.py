"""References as text: groups of places, then the comparison with the text."""

from collections.abc import Iterable, Iterator, Sequence
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
# Headings of groups, and what one line of them is.
TITLES = {
    ReferenceGroup.CALLERS: "calls",
    ReferenceGroup.SUBTYPES: "subtypes",
    ReferenceGroup.TYPES: "type uses",
    ReferenceGroup.VALUES: "passed or read",
    ReferenceGroup.ASSIGNMENTS: "written or renamed",
    ReferenceGroup.IMPORTS: "imports",
    ReferenceGroup.TESTS: "in tests",
}
COUNTED = {
    ReferenceGroup.CALLERS: "call",
    ReferenceGroup.SUBTYPES: "subtype",
    ReferenceGroup.TYPES: "type use",
    ReferenceGroup.VALUES: "other use",
    ReferenceGroup.ASSIGNMENTS: "write",
    ReferenceGroup.IMPORTS: "import",
    ReferenceGroup.TESTS: "test line",
}
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
        place = f"{definition.file_path}:{symbol.start_line}-{symbol.end_line}"
        yield f"{symbol.qualified_name} ({symbol.kind.value}) {place}"
    if found.total_definitions > len(found.definitions):
        yield f"… and {found.total_definitions - len(found.definitions)} more definitions: give a qualified name or file_path."
    if kept and found.definitions and not found.counts:
        yield f"none {kept}"
    yield from group_lines(found, kept)


def group_lines(found: SymbolReferences, kept: str = "") -> Iterator[str]:
    """Returns the places by group, sure ones first, then whether they are complete, for readers.

    `kept` names the filter of the groups.
    """
    with_repo = len({line.repo for line in _all_lines(found)}) > 1
    for status, entries in groupby(found.entries, key=lambda entry: entry.status):
        if status is EdgeStatus.CANDIDATE:
            yield "by name only (?), another symbol may be meant:"
        for group, uses in _by_group(entries).items():
            yield from _group(ReferenceGroup(group), uses, found, kept, with_repo)
    if found.next_cursor:
        yield f"more: cursor={found.next_cursor}"
    if found.reconciliation:
        if kept:
            yield f"Without the filter ({kept}):"
        yield from _text_lines(found.reconciliation, with_repo)
        yield _completeness(found, found.reconciliation)


def _group(
    group: ReferenceGroup,
    entries: Sequence[ReferenceEntry],
    found: SymbolReferences,
    kept: str,
    with_repo: bool,
) -> Iterator[str]:
    """Returns the lines of a group; imports on one line."""
    # Counts include candidates, so they say more than the list only while there are further pages.
    total = found.counts.get(group, len(entries)) if found.next_cursor else len(entries)
    count = _of(len(entries), total)
    title = f"{TITLES[group]} ({count} {kept})" if kept else f"{TITLES[group]} ({count})"
    if group is ReferenceGroup.IMPORTS:
        yield f"{title}: {_places_line(entries, with_repo)}"
        return
    yield f"{title}:"
    yield from _places(entries, with_repo)


def _all_lines(found: SymbolReferences) -> Iterator[ReferenceEntry | TextLine]:
    yield from found.entries
    if found.reconciliation:
        yield from found.reconciliation.unexplained_lines
        yield from found.reconciliation.mention_lines
        yield from found.reconciliation.other


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
    if text.unexplained_lines or (text.unexplained and not text.other):
        yield f"code that contains the name and was not resolved ({text.unexplained}):"
        yield from _places(text.unexplained_lines, with_repo)
        if text.unexplained > len(text.unexplained_lines):
            rest = text.unexplained - len(text.unexplained_lines)
            yield f"  … and {rest} more: grep_code with word=true lists them."
    if text.other:
        yield f"another symbol of the name ({_of(len(text.other), text.other_lines)}):"
        yield from _places(text.other, with_repo)
    if text.mention_lines:
        yield f"in comments and strings ({_of(len(text.mention_lines), text.mentions)}): {_places_line(text.mention_lines, with_repo)}"
    if text.prose_lines:
        yield f"in prose, such as Markdown: {several(text.prose_lines, 'line')} in {several(text.prose_files, 'file')}"


def _of(shown: int, total: int) -> str:
    return f"{total}" if shown == total else f"{shown} of {total}"


def _places_line(lines: Iterable[ReferenceEntry | TextLine], with_repo: bool) -> str:
    """Returns places on one line, each file once: `a.py:3/9, b.py:7`."""
    by_file: dict[str, list[str]] = {}
    for line in lines:
        by_file.setdefault(_file(line, with_repo), []).append(str(line.line))
    return ", ".join(f"{file}:{'/'.join(dict.fromkeys(numbers))}" for file, numbers in by_file.items())


def _completeness(found: SymbolReferences, text: Reconciliation) -> str:
    """Returns one sentence: the list is complete, or what it lacks."""
    lacks = [
        f"{several(text.candidate_lines, 'line')} by name only (?)" if text.candidate_lines else "",
        f"{several(text.unexplained, 'line')} of code could not be resolved (listed above)"
        if text.unexplained
        else "",
        f"{several(text.files_left_out, 'file')} that may contain it were not read: narrow with repo or path_filter"
        if text.files_left_out
        else "",
    ]
    name = found.definitions[0].symbol.name if found.definitions else found.symbol
    lines = f"{several(text.text_lines, 'line')} of code in {several(text.files, 'file')}"
    account = ", ".join(line_account(text, name))
    alias = f" {several(text.alias_lines, 'more line')} use it without its name." if text.alias_lines else ""
    if any(lacks):
        return f"Not complete: {'; '.join(filter(None, lacks))}. {lines} contain {name}: {account}.{alias}"
    if not text.text_lines:
        return f"Complete: no line of code contains {name}.{alias}"
    return f"Complete: all {lines} that contain {name} are accounted for: {account}.{alias}"


def line_account(text: Reconciliation, name: str) -> Iterator[str]:
    """Returns how the lines that contain a name divide. The numbers add up to `text_lines`."""
    yield from (several(count, COUNTED[group]) for group, count in text.lines_by_group.items())
    if text.definition_lines:
        yield several(text.definition_lines, "definition")
    if text.candidate_lines:
        yield f"{text.candidate_lines} by name only"
    if text.other_lines:
        listed = "" if text.other else " (page=other lists them)"
        yield f"{text.other_lines} another {name}{listed}"
    if text.mentions:
        yield f"{text.mentions} in comments or strings"
    if text.unexplained:
        yield f"{text.unexplained} not resolved"
