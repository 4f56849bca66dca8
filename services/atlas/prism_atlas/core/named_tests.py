"""Tests as they are listed and run: symbols, or calls with a title such as `it("weighs", …)` in the text of a file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from prism_atlas.core.graph import NONE, Graph
from prism_atlas.core.reaching_tests import ReachedTest
from prism_atlas.core.rendering import UsingLine, render_edge, render_node
from prism_atlas.core.run_commands import NamedTest
from prism_atlas.core.traversal import other_end
from prism_contracts.code import EdgeStatus
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.graph import AffectedNode, GraphNode
from prism_resolver.test_blocks import LANGUAGES, TestBlock, blocks_of, innermost_block, tests_around

# Files whose text is read for the titles of their tests, nearest first. Further ones are run as a whole.
FILES_READ_MAX = 20
# The lines of files that are read for the titles around lines of an answer.
ROWS_READ_MAX = 12_000


@dataclass
class TitleTexts:
    """The lines of test files by path, and the paths of those whose lines would name tests."""

    lines: dict[str, Sequence[str]] = field(default_factory=dict)
    wanted: list[str] = field(default_factory=list)


class ListedTest(NamedTuple):
    """A test with how it was reached, as a reply shows it and as a command names it."""

    reached: ReachedTest
    node: GraphNode
    named: NamedTest
    hook: EnclosingSymbol | None = None  # through which it was reached


def listed_tests(graph: Graph, tests: Sequence[ReachedTest], texts: TitleTexts) -> list[ListedTest]:
    """Returns the tests, those of calls by their titles as far as `texts` has their files; others are wanted."""
    found: dict[NamedTest, ListedTest] = {}
    blocks: dict[str, Sequence[TestBlock]] = {}
    for one in tests:
        path = graph.path(graph.file_of(one.node))
        if path in texts.lines and path not in blocks:
            blocks[path] = blocks_of(texts.lines[path])
        elif one.lines and _language(graph, one.node) in LANGUAGES and path not in texts.wanted:
            texts.wanted.append(path)
        for listed in _listed(graph, one, blocks.get(path, ())):
            found.setdefault(listed.named, listed)
    del texts.wanted[FILES_READ_MAX:]
    return list(found.values())


def titled_test_files(graph: Graph, lines: Iterable[UsingLine]) -> list[str]:
    """Returns the paths of the files of tests with titles among those of some lines, as many as are read at once."""
    found: list[str] = []
    rows = 0
    for path in dict.fromkeys(line.path for line in lines):
        file = graph.find_file(path)
        if file == NONE or graph.strings[graph.files.language[file]] not in LANGUAGES:
            continue
        if not graph.is_in_test(graph.file_node(file)):
            continue
        rows += int(graph.files.lines[file])
        if rows > ROWS_READ_MAX or len(found) == FILES_READ_MAX:
            break
        found.append(path)
    return found


def rendered_test(graph: Graph, one: ListedTest) -> AffectedNode:
    """Returns a test of a reply. It must have been reached by an edge."""
    reached = one.reached
    return AffectedNode(
        node=one.node,
        distance=reached.distance,
        status=EdgeStatus.RESOLVED if reached.resolved else EdgeStatus.CANDIDATE,
        via=render_edge(graph, reached.edge),
        uses=render_node(graph, _used(graph, reached)),
        hook=one.hook,
    )


def _listed(graph: Graph, one: ReachedTest, blocks: Sequence[TestBlock]) -> Iterator[ListedTest]:
    node = render_node(graph, one.node)
    language = _language(graph, one.node)
    around: dict[TestBlock, EnclosingSymbol | None] = {}
    for line in one.lines:
        inner = innermost_block(blocks, line)
        hook = inner.symbol() if inner and inner.is_hook else None
        for block in tests_around(blocks, line):
            around[block] = hook and around.get(block, hook)
    if around and (graph.is_file(one.node) or node.kind is None or language in LANGUAGES):
        for block, hook in around.items():
            shown = node.model_copy(
                update={
                    "line": block.start,
                    "start_line": block.start,
                    "end_line": block.end,
                    "symbol": block.title or block.name,
                    "kind": None,
                    "outer": block.outer.symbol() if block.outer else None,
                    "marks": block.marks,
                }
            )
            named = NamedTest(node.file_path, language, block.start, title=block.title or block.name)
            yield ListedTest(one, shown, named, hook)
        return
    if language in LANGUAGES and one.lines:  # a helper, or the top level, of tests that are calls
        shown = render_node(graph, graph.file_node(graph.file_of(one.node)))
        yield ListedTest(one, shown, NamedTest(node.file_path, language, 1))
        return
    path, symbol = node.file_path, node.symbol
    if one.run.type != NONE:
        path = graph.path(graph.file_of(one.run.type))
        owner = graph.strings[graph.symbols.qualified_name[one.run.type]]
        symbol = f"{owner}.{symbol.rpartition('.')[2]}"
    if one.run.file != NONE:
        path = graph.path(graph.file_of(one.run.file))
    is_own = path == node.file_path
    shown = node.model_copy(
        update={"symbol": symbol, "file_path": path}
        | ({} if is_own else {"line": 1, "start_line": 0, "end_line": 0})
    )
    yield ListedTest(one, shown, NamedTest(path, language, node.line, symbol))


def _used(graph: Graph, reached: ReachedTest) -> int:
    """Returns the node that the last edge leads to; for what runs before a test, the end that is not the test."""
    source, target = int(graph.edges.source[reached.edge]), int(graph.edges.target[reached.edge])
    if reached.every:
        return source if source != reached.node else target
    return other_end(graph, reached.edge, reached.node)


def _language(graph: Graph, node: int) -> str:
    return graph.strings[graph.files.language[graph.file_of(node)]]
