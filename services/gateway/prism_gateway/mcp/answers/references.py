"""References as text: groups of places, then the comparison with the text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from types import MappingProxyType
from typing import NamedTuple

from prism_contracts.code import EdgeStatus, Strategy, Symbol
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.symbols import (
    Definition,
    OverloadChoice,
    Reconciliation,
    ReferenceEntry,
    ReferenceGroup,
    ReferencePage,
    ReferencesReply,
    ReferencesRequest,
    SymbolReferences,
    TextLine,
)
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.places import (
    PlaceLine,
    file_label,
    place_lines,
    several,
    symbol_name,
    test_group,
    with_form,
)
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.answers.reference_bodies import (
    NO_BODIES,
    Bodies,
    BodyPlace,
    are_tests,
    bodies_that_fit,
)
from prism_gateway.mcp.answers.symbols import imported_lines, no_definition_line
from prism_gateway.mcp.tool import Answer, Json

# The cost of a definition or an unexplained line without its own text, in text and data.
PLACE_CHARS = 80
# The same for an entry, with its status and strategy.
ENTRY_CHARS = 160
# More lines of tests are listed without their text.
TESTS_WITH_TEXT_MAX = 10
# How many lines that may mean another symbol are shown with their text, so that a reader can judge.
UNSURE_WITH_TEXT_MAX = 20
# The same if nothing but tests is asked for.
ONLY_TESTS_WITH_TEXT_MAX = 40
# What a line of a group is, in headings and counts.
COUNTED = {
    ReferenceGroup.CALLERS: "call",
    ReferenceGroup.SUBTYPES: "subtype",
    ReferenceGroup.TYPES: "type use",
    ReferenceGroup.VALUES: "other use",  # passed or read
    ReferenceGroup.ASSIGNMENTS: "write",
    ReferenceGroup.IMPORTS: "import",
    ReferenceGroup.OVERRIDES: "override",
    ReferenceGroup.TESTS: "test line",
}
# The fields of a request that filter references.
FILTER = {"path_filter", "reference_type", "source_only", "include_candidates"}


class _Layout(NamedTuple):
    """How places are shown."""

    with_repo: bool
    bodies: Bodies = NO_BODIES
    with_mentions: bool = True
    overloads: Mapping[str, int] = {}


def fit_entries(reply: ReferencesReply, page: ReferencePage, max_tokens: int) -> int:
    """Returns the number of lines of each symbol that fit."""
    rest = sum(
        len(line.text) + PLACE_CHARS
        for answer in reply.answers
        for line in (answer.reconciliation.unexplained_lines if answer.reconciliation else ())
        if page is not ReferencePage.UNRESOLVED
    )
    rest += sum(
        len(definition.symbol.signature) + 2 * PLACE_CHARS
        for answer in reply.answers
        for definition in answer.definitions
    )
    # Round-robin over the symbols, so that each gets an equal share.
    paged = [paged_lines(answer, page) for answer in reply.answers]
    rows = [
        sum(len(line.text) + ENTRY_CHARS for line in row if line is not None) for row in zip_longest(*paged)
    ]
    return fit([0] * len(rows), rows, chars(max_tokens) - rest, 0).kept if rows else 0


def paged_lines(found: SymbolReferences, page: ReferencePage) -> Sequence[ReferenceEntry | TextLine]:
    """Returns the lines that the limit bounds, of which a cursor continues those of a symbol."""
    if page is ReferencePage.MAIN and found.definitions:
        return found.entries
    if found.reconciliation is None:
        return ()
    is_unresolved = page is ReferencePage.UNRESOLVED
    return found.reconciliation.unexplained_lines if is_unresolved else found.reconciliation.other


def answer(
    reply: ReferencesReply,
    request: ReferencesRequest,
    texts: Mapping[BodyPlace, str] | None = None,
    max_tokens: int = 0,
) -> Answer:
    """Returns all symbols, each with its filtered groups and its unfiltered reconciliation.

    `texts` are bodies to show with the uses that they contain, as far as `max_tokens` allow.
    """
    kept = request.model_dump(mode="json", include=FILTER, exclude_defaults=True)
    result = [symbol_json(found, kept) for found in reply.answers]
    structured: Json = {"answers": result, "receipt": receipt_json(reply.receipt)}
    text = _text(reply, request, [NO_BODIES] * len(reply.answers))
    if texts is not None:
        bodies, left_out = bodies_that_fit(reply, texts, chars(max_tokens) - len(text))
        text = _text(reply, request, bodies, left_out)
        structured["bodies"] = [
            _body(place, lines) for one in bodies for (place, _), lines in one.texts.items()
        ]
    return Answer(structured, text)


def _text(
    reply: ReferencesReply, request: ReferencesRequest, bodies: Sequence[Bodies], left_out: int = 0
) -> str:
    words, with_mentions = _filter_words(request), request.reference_type is None
    blocks = [
        "\n".join(_lines(*one, words, with_mentions=with_mentions))
        for one in zip(reply.answers, bodies, strict=True)
    ]
    if left_out:
        blocks.append(f"{several(left_out, 'body')} did not fit: a higher max_tokens shows more.")
    return "\n\n".join([*blocks, receipt_line(reply.receipt)])


def _body(place: BodyPlace, lines: Mapping[int, str]) -> Json:
    shown = place.lines.model_dump(mode="json", include={"file_path", "start_line", "end_line"})
    return {"repo": place.repo, **shown, "lines": {str(number): line for number, line in lines.items()}}


def _filter_words(request: ReferencesRequest) -> str:
    words = (
        f"in {request.path_filter}" if request.path_filter else "",
        f"{request.reference_type.value} only" if request.reference_type else "",
        "without tests" if request.source_only else "",
        "" if request.include_candidates else "without those by name only",
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
    if found.helped:
        result["helped"] = [one.model_dump(mode="json") for one in found.helped]
    if found.overload:
        result["overload"] = found.overload.model_dump(mode="json")
    for field in ("imported_from", "other_repositories", "unread_repositories"):
        if getattr(found, field):
            result[field] = found.model_dump(mode="json", include={field})[field]
    if found.defined_elsewhere:
        result["defined_elsewhere"] = [definition_json(one) for one in found.defined_elsewhere]
    if kept:
        result["filter"] = kept
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
        "name_line": symbol.name_line,
        "name": symbol.qualified_name,
        "kind": symbol.kind.value,
        "signature": symbol.signature,
        **({"parameters": definition.parameters} if definition.parameters else {}),
    }


def is_anonymous_export(symbol: Symbol) -> bool:
    """Whether a symbol of JavaScript has no name of its own, and is named after its file."""
    is_whole = symbol.signature.startswith(("module.exports", "export default", "exports = module.exports"))
    return is_whole and symbol.name not in symbol.signature.replace("module.exports", "")


def _entry(entry: ReferenceEntry) -> Json:
    left_out = {"group", "enclosing"} if entry.reaches else {"group", "enclosing", "reaches"}
    shown = entry.model_dump(mode="json", exclude=left_out)
    if entry.enclosing and entry.enclosing.name:
        shown["symbol_lines"] = [entry.enclosing.start_line, entry.enclosing.end_line]
        if outer := entry.enclosing.outer:
            shown["outer"], shown["outer_lines"] = outer.name, [outer.start_line, outer.end_line]
    return shown


def _by_group(entries: Iterable[ReferenceEntry]) -> dict[str, list[ReferenceEntry]]:
    groups: dict[str, list[ReferenceEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.group.value, []).append(entry)
    return groups


def _lines(found: SymbolReferences, bodies: Bodies, kept: str, *, with_mentions: bool) -> Iterator[str]:
    if not found.definitions and found.imported_from:
        yield from imported_lines(found)
    elif not found.definitions:
        yield no_definition_line(found.symbol, found.suggestions, found.unparsed)
    numbers = overload_numbers(found.definitions)
    for definition in found.definitions:
        symbol = definition.symbol
        place = f"{definition.file_path}:{symbol.start_line}-{symbol.end_line}"
        anonymous = ", anonymous export" if is_anonymous_export(symbol) else ""
        number = f"#{numbers[_name_place(definition)]} " if numbers else ""
        yield f"{number}{symbol.qualified_name}{definition.parameters} ({symbol.kind.value}{anonymous}) {place}"
    if found.overload or numbers:
        yield _overload_line(found.overload, len(set(numbers.values())))
    if found.total_definitions > len(found.definitions):
        yield f"… and {found.total_definitions - len(found.definitions)} more definitions: give a qualified name or file_path."
    if kept and found.definitions and not found.counts:
        yield f"none {kept}"
    yield from group_lines(found, kept, bodies, with_mentions=with_mentions)
    yield from _other_repositories(found)


def _other_repositories(found: SymbolReferences) -> Iterator[str]:
    """Yields how often other repositories use a symbol."""
    used = [f"{name} ({several(count, 'line')})" for name, count in found.other_repositories.items()]
    unread = [
        f"{name} ({several(count, 'file')} to look at)" for name, count in found.unread_repositories.items()
    ]
    if used or unread:
        yield f"Other repositories import it: {', '.join([*used, *unread])}. Without repo, the answer lists their lines."


def overload_numbers(definitions: Sequence[Definition]) -> Mapping[str, int]:
    """Returns the numbers of overloads by the place of their names; none unless there are several."""
    numbers: dict[tuple[str, str], int] = {}
    for one in definitions:
        if one.parameters:
            numbers.setdefault((one.symbol.qualified_name, one.parameters), len(numbers) + 1)
    if len(numbers) <= 1:
        return {}
    return {
        _name_place(one): numbers.get((one.symbol.qualified_name, one.parameters), 0) for one in definitions
    }


def _name_place(definition: Definition) -> str:
    return f"{definition.file_path}:{definition.symbol.name_line}"


def _overload_line(overload: OverloadChoice | None, count: int) -> str:
    """Returns which overloads the uses are of."""
    if overload is None:
        return f"A use that surely calls one of the {count} overloads names it (#): its parameters or its place in `symbols` list its uses alone."
    if overload.parameters:
        return f"None of the {overload.total} overloads has the parameters {overload.parameters}: these are the uses of all."
    return f"1 of {overload.total} overloads: calls of the others are not listed."


def group_lines(
    found: SymbolReferences, kept: str = "", bodies: Bodies = NO_BODIES, *, with_mentions: bool = True
) -> Iterator[str]:
    """Returns the places by group, sure ones first, then whether they are complete, for readers.

    `kept` names the filter of the groups. A line stands in the first of its groups. Without `with_mentions`,
    the lines of comments, strings and data are only counted.
    """
    numbers = overload_numbers(found.definitions)
    layout = _Layout(len({line.repo for line in _all_lines(found)}) > 1, bodies, with_mentions, numbers)
    for certainty, entries in groupby(sorted(_each_line_once(found.entries), key=_certainty), key=_certainty):
        if certainty:
            yield _UNCERTAIN[certainty]
        for group, uses in _by_group(entries).items():
            yield from _group(ReferenceGroup(group), uses, found, kept, layout)
    yield from _helped_lines(found)
    if found.next_cursor:
        yield f"more: cursor={found.next_cursor}"
    if found.reconciliation:
        yield from _text_check(found, found.reconciliation, layout)


# What lines of a certainty are, above them.
_UNCERTAIN = {
    1: "of this overload or another one (?):",
    2: "by name only (?), another symbol may be meant:",
    3: "calls of a field in which it is stored (?), another function may run:",
    4: "calls of a member that it overrides (?), another one may run:",
}
# The same, in an account of lines.
_UNCERTAIN_LINES = {
    1: "of this overload or another one",
    2: "by name only",
    3: "through a field in which it is stored",
    4: "through a member that it overrides",
}
_CERTAINTY_OF = {Strategy.OVERLOAD: 1, Strategy.STORED: 3, Strategy.OVERRIDDEN: 4}


def _certainty(entry: ReferenceEntry) -> int:
    """Returns 0 for a sure reference, else how it is uncertain, as in `_UNCERTAIN`."""
    if entry.status is not EdgeStatus.CANDIDATE:
        return 0
    return _CERTAINTY_OF.get(entry.strategy, 2)


def text_check(found: SymbolReferences) -> Iterator[str]:
    """Returns the lines of text that no reference explains, then whether the references are complete."""
    if found.reconciliation:
        layout = _Layout(len({line.repo for line in _all_lines(found)}) > 1, NO_BODIES)
        yield from _text_check(found, found.reconciliation, layout)


def _text_check(found: SymbolReferences, text: Reconciliation, layout: _Layout) -> Iterator[str]:
    yield from _text_lines(text, layout, has_definition=bool(found.definitions))
    yield _completeness(found, text)


def _group(
    group: ReferenceGroup,
    entries: Sequence[ReferenceEntry],
    found: SymbolReferences,
    kept: str,
    layout: _Layout,
) -> Iterator[str]:
    """Returns the lines of a group: imports on one line, many tests by file."""
    total = _total_lines(group, entries, found, kept)
    title = heading(group, len(entries), total)
    callers = {
        (entry.repo, entry.file_path, entry.symbol, entry.enclosing and entry.enclosing.start_line)
        for entry in entries
        if entry.symbol
    }
    if group is ReferenceGroup.CALLERS and total == len(entries) > len(callers) > 1:
        title += f" in {len(callers)} functions"
    if kept:
        title += f", {kept}"
    if group is ReferenceGroup.IMPORTS:
        yield f"{title}: {places_line(entries, layout.with_repo)}"
        return
    yield f"{title}:"
    if group is not ReferenceGroup.TESTS:
        yield from _places(entries, layout)
    elif entries[0].status is EdgeStatus.CANDIDATE:
        yield from _with_text_first(entries, UNSURE_WITH_TEXT_MAX, layout)
    elif _are_many(entries, found, layout):
        yield from _rows_by_file(entries, layout.with_repo, layout.overloads)
    else:
        yield from _places(entries, layout)


def _are_many(entries: Sequence[ReferenceEntry], found: SymbolReferences, layout: _Layout) -> bool:
    """Whether lines of tests are listed without their text."""
    if any(layout.bodies.around(entry) for entry in entries):
        return False
    return len(entries) > (ONLY_TESTS_WITH_TEXT_MAX if are_tests(found.entries) else TESTS_WITH_TEXT_MAX)


def _helped_lines(found: SymbolReferences) -> Iterator[str]:
    """Returns the tests that use the symbol through fixtures and helpers, a line for each of these."""
    if found.helped:
        yield "tests that run it through a fixture, a hook or a helper:"
    for one in found.helped:
        path, tests = one.helper.file_path, []
        for test in one.tests:
            shown = symbol_name(test.symbol)
            tests.append(shown if test.file_path == path else f"{test.file_path} {shown}")
            path = test.file_path
        more = f", … {one.total - len(tests)} more" if one.total > len(tests) else ""
        group = test_group(one.helper.symbol)
        helper = f"{symbol_name(one.helper.symbol)}{f' of {group}' if group else ''}"
        yield f"  {one.helper.file_path} {helper}: {', '.join(tests)}{more}"
    if found.helped_left_out:
        yield f"  … and {several(found.helped_left_out, 'more helper')} that tests run: narrow with path_filter"


def heading(group: ReferenceGroup, shown: int, total: int) -> str:
    """Returns `3 calls`, or `3 of 40 calls` if there are more."""
    counted = several(total, COUNTED[group])
    return counted if shown == total else f"{shown} of {counted}"


def _total_lines(
    group: ReferenceGroup, entries: Sequence[ReferenceEntry], found: SymbolReferences, kept: str
) -> int:
    """Returns the lines of a group on all pages, as far as they are known."""
    if not found.next_cursor or entries[0].status is EdgeStatus.CANDIDATE:
        return len(entries)
    lines = found.reconciliation.lines_by_group if found.reconciliation and not kept else {}
    return max(len(entries), (lines or found.counts).get(group, 0))


def _all_lines(found: SymbolReferences) -> Iterator[ReferenceEntry | TextLine]:
    yield from found.entries
    if found.reconciliation:
        yield from found.reconciliation.unexplained_lines
        yield from found.reconciliation.mention_lines
        yield from found.reconciliation.other


def _each_line_once(entries: Iterable[ReferenceEntry]) -> list[ReferenceEntry]:
    first: dict[tuple[str, str, int], ReferenceEntry] = {}
    for entry in entries:
        first.setdefault((entry.repo, entry.file_path, entry.line), entry)
    return list(first.values())


def _places(lines: Iterable[ReferenceEntry | TextLine], layout: _Layout) -> Iterator[str]:
    places = (_place(line, layout) for line in lines)
    return (f"  {line}" for line in place_lines(places) if line)


def _place(line: ReferenceEntry | TextLine, layout: _Layout) -> PlaceLine:
    """Returns a line; with its body as neighbors, if that is shown."""
    text = (
        f"{line.text}{_mark(line, layout.overloads)}" if isinstance(line, ReferenceEntry) else with_form(line)
    )
    place = PlaceLine(_file(line, layout.with_repo), line.line, text, enclosing_of(line))
    around = layout.bodies.around(line) if isinstance(line, ReferenceEntry) else {}
    if line.line not in around:
        return place
    first, last = line.line, line.line
    while first - 1 in around:
        first -= 1
    while last + 1 in around:
        last += 1
    return place._replace(
        text=around[line.line],
        before=[around[number] for number in range(first, line.line)],
        after=[around[number] for number in range(line.line + 1, last + 1)],
    )


def _mark(entry: ReferenceEntry, overloads: Mapping[str, int]) -> str:
    """Returns what follows a line: that it stores the symbol, and the overloads that it calls."""
    stored = " (stored)" if entry.stored else ""
    return f"{stored}{_overloads_of(entry, overloads, ' ')}"


def _overloads_of(line: ReferenceEntry | TextLine, overloads: Mapping[str, int], space: str = "") -> str:
    """Returns the numbers of the overloads that a line calls: `#2`."""
    if not isinstance(line, ReferenceEntry) or not overloads:
        return ""
    numbers = dict.fromkeys(overloads.get(place, 0) for place in line.reaches)
    return "".join(f"{space}#{number}" for number in numbers if number)


def _with_text_first(
    lines: Sequence[ReferenceEntry | TextLine], shown_max: int, layout: _Layout
) -> Iterator[str]:
    """Returns the first lines with their text, the others by file."""
    yield from _places(lines[:shown_max], layout)
    yield from _rows_by_file(lines[shown_max:], layout.with_repo, layout.overloads)


def _rows_by_file(
    lines: Iterable[ReferenceEntry | TextLine],
    with_repo: bool,
    overloads: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[str]:
    """Returns a row per file, without the text of the lines: `a.py: add (1-9) 3/5, pop (11-20) 12`."""
    for file, of_file in groupby(lines, key=lambda line: _file(line, with_repo)):
        groups: dict[str, dict[str, list[str]]] = {}
        for line in of_file:
            around = enclosing_of(line)
            number = f"{line.line}{_overloads_of(line, overloads)}"
            symbols = groups.setdefault(test_group(around), {})
            symbols.setdefault(symbol_name(around) if around else "", []).append(number)
        rows = []
        for group, symbols in groups.items():
            places = (f"{symbol} {'/'.join(numbers)}".strip() for symbol, numbers in symbols.items())
            rows.append(f"{group}: {', '.join(places)}" if group else ", ".join(places))
        yield f"  {file}: {'; '.join(rows)}"


def _file(line: ReferenceEntry | TextLine, with_repo: bool) -> str:
    return file_label(line.file_path, line.repo if with_repo else "")


def enclosing_of(line: ReferenceEntry | TextLine) -> EnclosingSymbol | None:
    """Returns the symbol around a line; only its name, if the index does not know its range."""
    if line.enclosing is None and isinstance(line, ReferenceEntry) and line.symbol:
        return EnclosingSymbol(name=line.symbol)
    return line.enclosing


def _text_lines(text: Reconciliation, layout: _Layout, *, has_definition: bool) -> Iterator[str]:
    if text.unexplained_lines:
        counted = _of(len(text.unexplained_lines), text.unexplained)
        yield f"code that contains the name and was not resolved ({counted}):"
        tests = [line for line in text.unexplained_lines if line.test]
        sources = [line for line in text.unexplained_lines if not line.test]
        yield from _places(sources, layout)
        if tests:
            yield " in tests:"
            yield from _with_text_first(tests, max(0, UNSURE_WITH_TEXT_MAX - len(sources)), layout)
    if text.other:
        title = "another symbol of the name" if has_definition else "code that contains the name"
        yield f"{title} ({_of(len(text.other), text.other_lines)}):"
        yield from _places(text.other, layout)
    if text.mention_lines and layout.with_mentions:
        yield f"in comments, strings and data ({_of(len(text.mention_lines), text.mentions)}): {places_line(text.mention_lines, layout.with_repo)}"
    if text.prose_lines:
        yield f"in prose, such as Markdown: {several(text.prose_lines, 'line')} in {several(text.prose_files, 'file')}"


def _of(shown: int, total: int) -> str:
    return f"{total}" if shown == total else f"{shown} of {total}"


def places_line(lines: Iterable[ReferenceEntry | TextLine], with_repo: bool) -> str:
    """Returns places on one line, each file once: `a.py:3/9, b.py:7`."""
    by_file: dict[str, list[str]] = {}
    for line in lines:
        by_file.setdefault(_file(line, with_repo), []).append(str(line.line))
    return ", ".join(f"{file}:{'/'.join(dict.fromkeys(numbers))}" for file, numbers in by_file.items())


def _completeness(found: SymbolReferences, text: Reconciliation) -> str:
    """Returns one sentence: the list is complete, or what it lacks."""
    uncertain = _uncertain(found, text)
    lacks = [
        f"{_uncertain_lines(text.candidate_lines, uncertain)} (?){_later(found)}"
        if text.candidate_lines
        else "",
        f"{several(text.unexplained, 'line')} of code could not be resolved ({_where(text)})"
        if text.unexplained
        else "",
        f"{several(text.files_left_out, 'file')} that may contain it were not read: narrow with repo or path_filter"
        if text.files_left_out
        else "",
    ]
    name = found.definitions[0].symbol.name if found.definitions else found.symbol
    lines = f"{several(text.text_lines, 'line')} of code in {several(text.files, 'file')}"
    account = ", ".join(line_account(text, name, uncertain or "uncertain"))
    if text.outside_lines:
        account += f"; {_outside(text)}"
    alias = f" {several(text.alias_lines, 'more line')} use it without its name." if text.alias_lines else ""
    if text.other_lines and not found.definitions and not found.counts:
        return f"No definition, so no line was resolved: {lines} contain {name}.{alias}"
    if any(lacks):
        nothing_else = "a text search finds nothing else: " if _is_all_listed(found, text, uncertain) else ""
        whole = f"{nothing_else}{lines} contain {name}"
        return f"Not complete: {'; '.join(filter(None, lacks))}. {whole[:1].upper()}{whole[1:]}: {account}.{alias}"
    if not text.text_lines:
        return f"Complete: no line of code contains {name}.{alias}"
    return f"Complete: all {lines} that contain {name} are accounted for: {account}.{alias}"


def _is_all_listed(found: SymbolReferences, text: Reconciliation, uncertain: str) -> bool:
    """Whether this page lists each use, sure or not, so that its reader can judge the uncertain ones."""
    sure = {(one.repo, one.file_path, one.line) for one in found.entries if one.status is EdgeStatus.RESOLVED}
    is_listed = len(sure) >= sum(text.lines_by_group.values()) and bool(uncertain or not text.candidate_lines)
    is_unexplained_listed = len(text.unexplained_lines) == text.unexplained
    return is_listed and is_unexplained_listed and not (text.files_left_out or text.outside_lines)


def _uncertain_lines(count: int, uncertain: str) -> str:
    return f"{several(count, 'line')} {uncertain}" if uncertain else several(count, "uncertain line")


def _later(found: SymbolReferences) -> str:
    """Says that lines by name only follow the others, where a page has none of them."""
    is_shown = any(entry.status is EdgeStatus.CANDIDATE for entry in found.entries)
    return ", on the last pages" if found.next_cursor and not is_shown else ""


def _outside(text: Reconciliation) -> str:
    """Returns how many lines the filter leaves out, and whether they are in tests."""
    lines, tests = several(text.outside_lines, "line"), text.outside_test_lines
    if tests == text.outside_lines:
        return f"{lines} outside the filter, in tests"
    return f"{lines} outside the filter{f', {tests} of them in tests' if tests else ''}"


def _where(text: Reconciliation) -> str:
    is_listed = len(text.unexplained_lines) == text.unexplained
    return "listed above" if is_listed else "find_references with page=unresolved lists them"


def _uncertain(found: SymbolReferences, text: Reconciliation) -> str:
    """Returns how the uncertain lines are, in words that fit all of them; empty if not all are listed."""
    listed = {
        (one.repo, one.file_path, one.line): _certainty(one)
        for one in found.entries
        if one.status is EdgeStatus.CANDIDATE
    }
    if len(listed) < text.candidate_lines:
        return ""
    return " or ".join(_UNCERTAIN_LINES[certainty] for certainty in sorted(set(listed.values())))


def line_account(text: Reconciliation, name: str, uncertain: str = "by name only") -> Iterator[str]:
    """Returns how the lines that contain a name divide. The numbers add up to `text_lines`."""
    yield from (several(count, COUNTED[group]) for group, count in text.lines_by_group.items())
    if text.definition_lines:
        yield several(text.definition_lines, "definition")
    if text.candidate_lines:
        yield f"{text.candidate_lines} {uncertain}"
    if text.other_lines:
        listed = "" if text.other else " (page=other lists them)"
        yield f"{text.other_lines} another {name}{listed}"
    if text.mentions:
        yield f"{text.mentions} in comments, strings or data"
    if text.unexplained:
        yield f"{text.unexplained} not resolved"
