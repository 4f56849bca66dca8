"""Uses of a symbol before an edit: one row per function, and the tests that reach it.

Only the first uses of a common name are listed: an edit follows what is sure.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from prism_contracts.code import EdgeStatus
from prism_contracts.rpc.guidance import ReachingTest
from prism_contracts.rpc.symbols import ReferenceEntry, ReferenceGroup, SymbolReferences
from prism_gateway.mcp.answers import references
from prism_gateway.mcp.answers.places import TOP_LEVEL, symbol_name, test_group

# A name with more matches is common; only COMMON_SHOWN_MAX of them are listed.
CANDIDATES_MAX = 10
COMMON_SHOWN_MAX = 5
# The cost of a row without its texts, in characters: line numbers, the range, spaces.
ROW_CHARS = 24
LINE_CHARS = 6


def without_common(found: SymbolReferences) -> SymbolReferences:
    """Returns the references with only the first of those that share a common name."""
    sure = [entry for entry in found.entries if entry.status is EdgeStatus.RESOLVED]
    unsure = [entry for entry in found.entries if entry.status is EdgeStatus.CANDIDATE]
    if len(unsure) <= CANDIDATES_MAX:
        return found
    return found.model_copy(update={"entries": (*sure, *unsure[:COMMON_SHOWN_MAX])})


def sizes(entries: Sequence[ReferenceEntry]) -> Iterator[int]:
    """Returns the cost of each entry after those before it, in characters."""
    last: ReferenceEntry | None = None
    for entry in entries:
        if last and _row(entry) == _row(last):
            yield LINE_CHARS
        else:
            is_same_file = last is not None and last.file_path == entry.file_path
            path = 0 if is_same_file else len(entry.file_path) + LINE_CHARS
            yield path + len(entry.symbol) + len(entry.text) + ROW_CHARS
        last = entry


def use_lines(found: SymbolReferences) -> Iterator[str]:
    """Returns the uses, sure ones first, how many more there are, and whether they are complete."""
    total = sum(count for group, count in found.counts.items() if group is not ReferenceGroup.TESTS)
    yield f"uses of {found.symbol}:{'' if found.entries or total else ' none found'}"
    for status, of_status in groupby(found.entries, key=lambda entry: entry.status):
        if status is EdgeStatus.CANDIDATE:
            yield "by name only (?), another symbol may be meant:"
        for group, entries in groupby(of_status, key=lambda entry: entry.group):
            yield from _group(group, list(entries))
    if total > len(found.entries):
        yield f"… and {total - len(found.entries)} more: find_references(symbols=[{found.symbol!r}]) lists them"
    yield from references.text_check(found)


def test_lines(tests: Iterable[ReachingTest]) -> Iterator[str]:
    """Returns a line per file, caller and group of tests, with the tests."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for test in tests:
        mark = "? " if test.status is EdgeStatus.CANDIDATE else ""
        shown = symbol_name(test.around) if test.around else f"{test.symbol or TOP_LEVEL}:{test.line}"
        rows.setdefault((test.file_path, test.via, test_group(test.around)), []).append(f"{mark}{shown}")
    for (path, via, group), found in rows.items():
        inside = f", {group}" if group else ""
        yield f"  {path}{inside}{f' through {via}' if via else ''}: {'; '.join(found)}"


def _group(group: ReferenceGroup, entries: Sequence[ReferenceEntry]) -> Iterator[str]:
    title = references.heading(group, len(entries), len(entries))
    if group is ReferenceGroup.IMPORTS:
        yield f"{title}: {references.places_line(entries, with_repo=False)}"
        return
    yield f"{title}:"
    for file, of_file in groupby(entries, key=lambda entry: entry.file_path):
        yield f"  {file}"
        for _, calls in groupby(of_file, key=_row):
            first, *more = calls
            symbol = references.enclosing_of(first)
            numbers = "/".join(str(line) for line in dict.fromkeys(one.line for one in (first, *more)))
            yield f"    {symbol_name(symbol) if symbol else TOP_LEVEL} {numbers}: {first.text}"


def _row(entry: ReferenceEntry) -> tuple[object, ...]:
    return entry.status, entry.group, entry.file_path, entry.symbol
