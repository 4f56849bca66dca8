"""The impact of a change as text: files, call sites, what is further away, tests by file, completeness."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from prism_contracts.code import EdgeKind, EdgeStatus
from prism_contracts.rpc.graph import AffectedNode, DiffFile, ImpactReply, RunCommand
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.graph_parts import (
    EDGE_CHARS,
    LineTexts,
    answer,
    call_lines,
    enclosing,
    lines_cost,
    node_cost,
    node_line,
    other_meaning_lines,
    others_lines,
    plain,
    sentence,
    stop_lacks,
    tests_account,
    text_account,
    text_lacks,
    texts_of,
    unresolved_lines,
    within_file,
)
from prism_gateway.mcp.answers.level_parts import (
    cut_text,
    levels_account,
    levels_cost,
    levels_lack,
    levels_left_out,
    levels_lines,
)
from prism_gateway.mcp.answers.places import (
    TOP_LEVEL,
    PlaceLine,
    place_lines,
    several,
    symbol_name,
    test_group,
)
from prism_gateway.mcp.answers.receipts import receipt_json
from prism_gateway.mcp.tool import Answer

FILES_NAMED_MAX = 12
COMMAND_CHARS_MAX = 600
# The cost of a row without its names and text, in characters: depth, range, line number.
ROW_CHARS = 24


def fit_impact(reply: ImpactReply, max_tokens: int) -> int:
    """Returns the number of affected symbols, and of tests, that fit."""
    texts = texts_of(reply.source_lines)
    rest = min(sum(node_cost(one.node) for one in reply.changed), chars(max_tokens) // 2)
    sources = [
        node_cost(one.node) + EDGE_CHARS + lines_cost(one.node.file_path, one.via.lines, texts)
        for one in reply.affected
    ]
    tests = [len(one.node.symbol) + EDGE_CHARS + _unsure_cost(one, texts) for one in reply.tests]
    rest += sum(min(len(one.command), COMMAND_CHARS_MAX) for one in reply.test_commands)
    rest += levels_cost(reply.levels_in_text)
    return fit_rows([sources, tests], max_tokens, min(rest, chars(max_tokens) * 2 // 3))


def _unsure_cost(one: AffectedNode, texts: LineTexts) -> int:
    return lines_cost(one.node.file_path, one.via.lines[:1], texts) + len(one.node.symbol)


def fit_rows(columns: Sequence[Sequence[int]], max_tokens: int, rest: int) -> int:
    """Returns the number of rows that fit, each with one item of every column."""
    longest = max(map(len, columns))
    rows = [sum(sum(column[row : row + 1]) for column in columns) for row in range(longest)]
    return fit([0] * longest, rows, chars(max_tokens) - rest, 0).kept if rows else 0


def impact(reply: ImpactReply, max_tokens: int) -> Answer:
    """Returns the changed symbols, the affected ones, and the tests that reach them."""
    costs = [node_cost(one.node) for one in reply.changed]
    kept = fit([0] * len(costs), costs, chars(max_tokens) // 2, 0).kept if costs else 0
    cut = reply.model_copy(update={"changed": reply.changed[:kept]})
    structured = plain(cut, exclude={"receipt", "source_lines"}) | {"receipt": receipt_json(reply.receipt)}
    if kept < len(reply.changed):
        structured["truncated"] = True
    head = [*map(_diff_file_line, reply.files), *_files_line(reply), *reply.notes, *_changed_lines(cut)]
    foot = [
        *_test_lines(reply),
        *unresolved_lines(reply.in_text),
        *other_meaning_lines(reply.in_text),
        *levels_lines(reply.levels_in_text),
        *others_lines(reply.others, reply.matched),
        _completeness(reply),
    ]
    texts = texts_of(reply.source_lines)
    direct = list(_direct_lines(reply, texts))
    room = chars(max_tokens) - sum(map(len, (*head, *direct, *foot)))
    lines = [*head, *direct, *_further_lines(reply, texts, room), *foot]
    return answer(structured, lines, reply.receipt, reply.next_cursor)


def _diff_file_line(file: DiffFile) -> str:
    applied = ", as indexed" if file.applied else ""
    return f"{file.file_path}: {file.state.value}{applied}" + (f" ({file.detail})" if file.detail else "")


def _files_line(reply: ImpactReply) -> Iterator[str]:
    if reply.by_file:
        named = [f"{path} {count}" for path, count in islice(reply.by_file.items(), FILES_NAMED_MAX)]
        more = " …" if len(reply.by_file) > FILES_NAMED_MAX else ""
        yield f"source files affected: {', '.join(named)}{more}"


def _changed_lines(reply: ImpactReply) -> Iterator[str]:
    """Returns the symbols that the diff changes; of a requested symbol, that a change of it is assumed."""
    yield f"changed by the diff ({reply.total_changed}):" if reply.files else "if this changes:"
    for one in reply.changed:
        notes = [
            "public" if one.exported else "",
            "its signature changes" if one.signature and reply.files else "",
            f"used directly by {one.used_by}",
        ]
        yield f"  {node_line(one.node)} ({', '.join(filter(None, notes))})"


def _direct_lines(reply: ImpactReply, texts: LineTexts) -> Iterator[str]:
    for title, found in _by_certainty(one for one in reply.affected if one.distance == 1):
        yield f"uses it directly{title}:"
        for path, nodes in groupby(sorted(found, key=_place), key=lambda one: one.node.file_path):
            yield f"  {path}"
            for one in nodes:
                if one.via.edge is EdgeKind.OVERRIDES:
                    yield f"    {within_file(one.node)} (override)"
                    continue
                behind, below = call_lines(one.via, path, texts, "    ")
                yield f"    {within_file(one.node)}{behind}"
                yield from below


def _further_lines(reply: ImpactReply, texts: LineTexts, room: int) -> Iterator[str]:
    """Returns the users of users by file, nearest first, with the line of their use as long as there is room."""
    for title, found in _by_certainty(one for one in reply.affected if one.distance > 1):
        yield f"further away, within {reply.depth} uses, each with its depth{title}:"
        room -= sum(len(one.node.symbol) + len(one.uses.symbol) + ROW_CHARS for one in found)
        for path, nodes in _by_file(found):
            yield f"  {path}"
            for one in nodes:
                text = texts.get((path, one.via.lines[0]), "")
                is_shown = bool(text) and len(text) <= room and one.via.edge is not EdgeKind.OVERRIDES
                room -= len(text) if is_shown else 0
                use = f"{one.via.lines[0]}: {text}" if is_shown else f"through {_used(one)}"
                yield f"    {one.distance} {within_file(one.node)} {use}"


def _used(one: AffectedNode) -> str:
    if one.via.edge is EdgeKind.OVERRIDES:
        return f"its override {one.uses.title}"
    return f"{_last(one.uses.symbol or TOP_LEVEL)}{one.uses.parameters}"


def _by_certainty(nodes: Iterable[AffectedNode]) -> Iterator[tuple[str, list[AffectedNode]]]:
    """Returns the sure ones, then those by name only, each with the end of their title; nothing if there are none."""
    chosen = list(nodes)
    for title, status in (("", EdgeStatus.RESOLVED), (", by name only (?)", EdgeStatus.CANDIDATE)):
        found = [one for one in chosen if one.status is status]
        if found:
            yield title, found


def _by_file(nodes: Iterable[AffectedNode]) -> list[tuple[str, list[AffectedNode]]]:
    """Returns the nodes by file: the file with the nearest first, and the nearest of a file first."""
    files: dict[str, list[AffectedNode]] = {}
    for one in sorted(nodes, key=lambda one: (one.distance, _place(one))):
        files.setdefault(one.node.file_path, []).append(one)
    return list(files.items())


def _test_lines(reply: ImpactReply) -> Iterator[str]:
    if not reply.tests:
        return
    yield f"tests that reach it, nearest first ({reply.total_tests}):"
    for path, found in _by_file(reply.tests):
        levels = [
            f"depth {distance}: {' | '.join(_tests_by_way(tests))}"
            for distance, tests in groupby(found, key=lambda one: one.distance)
        ]
        yield f"  {path}: {'; '.join(levels)}"
    yield from _unsure_test_lines(reply)
    yield from command_lines(reply.test_commands)


def _tests_by_way(tests: Iterable[AffectedNode]) -> Iterator[str]:
    """Returns tests; in front of the first of several, the group around them and the hook or fixture that they run."""
    for (group, way), found in groupby(tests, key=lambda one: (test_group(enclosing(one.node)), _way(one))):
        before = ", ".join(filter(None, [group, way]))
        yield f"{f'{before}: ' if before else ''}{'; '.join(map(_test, found))}"


def _way(one: AffectedNode) -> str:
    """Returns what leads to a test and is in tests itself: a hook, a fixture or a helper."""
    if one.hook:
        return f"through {symbol_name(one.hook)}"
    is_helped = one.distance > 1 and one.uses.test and one.uses.symbol
    return f"through {one.uses.symbol} ({one.uses.start_line}-{one.uses.end_line})" if is_helped else ""


def _unsure_test_lines(reply: ImpactReply) -> Iterator[str]:
    """Returns the lines that connect tests by a name only, with their text, as far as it is known."""
    texts = texts_of(reply.source_lines)
    places = [
        PlaceLine(one.node.file_path, line, cut_text(text), enclosing(one.node))
        for one in reply.tests
        for line in one.via.lines[:1]
        if one.via.status is EdgeStatus.CANDIDATE and (text := texts.get((one.node.file_path, line)))
    ]
    if places:
        yield "lines of tests by name only (?):"
        yield from (line for line in place_lines(places) if line)


def command_lines(commands: Sequence[RunCommand]) -> Iterator[str]:
    """Returns the commands that run the listed tests; a long one is left to the structured answer."""
    for one in commands:
        is_short = len(one.command) <= COMMAND_CHARS_MAX
        yield (
            f"run: {one.command}"
            if is_short
            else f"run: {one.command[:COMMAND_CHARS_MAX]}… (in test_commands)"
        )


def _test(one: AffectedNode) -> str:
    node = one.node
    lines = f" {node.start_line}-{node.end_line}" if node.end_line else ""
    unsure = "?" if one.status is EdgeStatus.CANDIDATE else ""
    # A title of a test has dots of its own.
    name = _last(node.symbol) if node.kind else node.symbol
    marks = "".join(f" ({mark})" for mark in node.marks)
    return f"{unsure}{name or TOP_LEVEL}{node.parameters}{lines}{marks}"


def _completeness(reply: ImpactReply) -> str:
    shown = len(reply.affected) + len(reply.tests)
    total = reply.total_affected + reply.total_tests
    lacks = [
        *_unsure(reply),
        f"{total - shown} of {total} are on other pages" if shown < total else "",
        *stop_lacks(reply.stops),
    ]
    tests = tests_account(reply.tests_left_out, "user")
    counts = [f"{reply.total_affected} affected", "" if tests else several(reply.total_tests, "test")]
    account = [f"{' and '.join(filter(None, counts))} in the graph", tests]
    root = reply.changed[0].node.symbol if reply.changed and not reply.files else ""
    is_deep = any(one.distance > 1 for one in (*reply.affected, *reply.tests))
    levels = reply.levels_in_text
    if root:
        lacks += text_lacks(reply.in_text)
        account.append(text_account(reply.in_text, _last(root)))
    if root and levels and is_deep:
        lacks += levels_lack(levels)
        account.append(levels_account(levels))
        left_out = levels_left_out(levels)
        if not left_out:
            return sentence(lacks, "; ".join(filter(None, account)), reply.stops)
        compared = f"uses within {levels.levels + 1} levels" if levels.levels else "direct uses"
        return sentence(lacks, "; ".join(filter(None, account)), reply.stops, compared, left_out)
    proved = "direct uses" if root and is_deep else ""
    return sentence(lacks, "; ".join(filter(None, account)), reply.stops, proved)


def _unsure(reply: ImpactReply) -> Iterator[str]:
    """Returns how many match by name only, and where they are."""
    unsure = reply.total_affected - reply.resolved_affected
    if unsure:
        shown = sum(one.status is EdgeStatus.CANDIDATE for one in reply.affected)
        where = "marked ?" if shown == unsure else f"{shown} of them listed, the others follow by next_cursor"
        yield f"{unsure} of the {reply.total_affected} affected match by name only ({where})"
    unsure = reply.total_tests - reply.resolved_tests
    if unsure:
        yield f"{several(unsure, 'test')} by name only (?)"


def _place(one: AffectedNode) -> tuple[str, int]:
    return one.node.file_path, one.node.line


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]
