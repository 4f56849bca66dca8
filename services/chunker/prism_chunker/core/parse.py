"""A source text and a language's queries in, matches out: the only module that uses tree-sitter's parser.

Grammars and queries are loaded on first use and cached. Limits bound the query: deeply nested input parses
fast and is queried in quadratic time, so slow sources are rejected before and after the query.

To a grammar, a macro's arguments are bare tokens. Where the query captures `@items`, they are parsed again at
their offset, and what parses as items counts as if the macro were absent. C and C# that do not parse are parsed
again without the conditionals that cut through them, and the removed branches are parsed on their own.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import process_time
from typing import cast

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Point, Query, QueryCursor, Range, Tree
from tree_sitter_language_pack import SupportedLanguage, get_language

from prism_chunker.core.conditionals import Span, blank_directives, resolve_conditionals
from prism_chunker.core.languages.table import Language
from prism_chunker.core.preprocessor import blank_macros, blank_rare_macros

QUERIES = Path(__file__).parent / "languages" / "queries"
# States that a query may keep open at once; beyond this, tree-sitter drops the oldest.
OPEN_MATCHES_MAX = 4_096
# A query over n levels, or over n children of one error, takes n² steps: 100,000 brackets would take half a
# minute. The query's own progress callback is not usable: it crashes the process (tree-sitter 0.26.1).
QUERY_DEPTH_MAX = 100
ERROR_CHILDREN_MAX = 20_000
# The nesting limit of parsed macros: every level parses the source within it once more.
MACRO_DEPTH_MAX = 4
# Branches of C's conditionals that are parsed on their own.
BRANCHES_MAX = 200
# Rows reported to a tree as changed: each is looked up among all children of a node. With more, the whole
# source is parsed again.
EDITS_MAX = 200

_CAPTURE = re.compile(rb"@([\w.]+)")

Captures = dict[str, list[Node]]


@dataclass(frozen=True, slots=True)
class Syntax:
    """A parsed source: its root, and the matches of the language's query."""

    source: bytes
    text: bytes  # the source as it was parsed first: with blanks for macros
    root: Node
    patterns: Mapping[str, Sequence[int]]  # positions of the query's patterns with a capture, by its name
    # The matches of each pattern that has any, in order of appearance.
    matches: dict[int, list[Captures]] = field(default_factory=lambda: defaultdict(list))
    # The roots of macro arguments that were parsed as items, by the id of their node.
    items: dict[int, Node] = field(default_factory=dict)
    # The ids of macro arguments that were parsed as expressions.
    expressions: set[int] = field(default_factory=set)

    @property
    def has_tokens(self) -> bool:
        """Whether the arguments of macros are bare tokens to the grammar."""
        return "expressions" in self.patterns

    def add(self, matches: Iterable[tuple[int, Captures]]) -> None:
        """Add matches, each with the position of its pattern."""
        for pattern, captures in matches:
            self.matches[pattern].append(captures)

    def matches_with(self, *names: str) -> list[Captures]:
        """Returns the matches with one of the captures, in the order of the patterns in the query."""
        if len(names) == 1:  # the common case
            (name,) = names
            return [
                captures
                for pattern in self.patterns.get(name, ())
                for captures in self.matches.get(pattern, ())
                if name in captures
            ]
        patterns = sorted({pattern for name in names for pattern in self.patterns.get(name, ())})
        found = [
            captures for pattern in patterns if pattern in self.matches for captures in self.matches[pattern]
        ]
        # A pattern may have a capture in one of its alternatives only.
        return [captures for captures in found if not captures.keys().isdisjoint(names)]

    def children(self, node: Node) -> list[Node]:
        """Returns the children of a node; those of macro arguments are their items."""
        return self.items.get(node.id, node).children


def parse(language: Language, source: bytes, time_ms_max: int) -> Syntax:
    """Parse and query. Raises TimeoutError past the budget."""
    query = _query(language)  # its first compilation may take a second, which does not count against the file
    if language.conditionals == "whole":
        source = blank_directives(source)
    # CPU time: a file keeps its symbols on a busy machine.
    deadline = process_time() + time_ms_max / 1_000
    text = blank_macros(source) if language.c_family else source
    root, *branches = _roots(language, text, deadline)
    found = _matches(query, root, deadline)
    syntax = Syntax(source, text, root, _patterns(language))
    syntax.add(found)
    for branch in branches:
        syntax.add(match for match in _matches(query, branch, deadline) if _is_sound(match[1]))
    _add_items(language, syntax, _arguments(found), deadline)
    if syntax.has_tokens:
        _add_expressions(language, syntax, deadline)
    return syntax


def _roots(language: Language, text: bytes, deadline: float) -> list[Node]:
    """Returns the root of a text; where conditionals cut through it, of one without, and the roots of the removed branches."""
    tree = _parse(language, text, deadline)
    if not (tree.root_node.has_error and language.conditionals == "anywhere"):
        return [tree.root_node]
    resolved = resolve_conditionals(blank_rare_macros(text) if language.c_family else text)
    if resolved.source == text:
        return [tree.root_node]
    branches = [_range(text, span) for span in resolved.gone[:BRANCHES_MAX]]
    trees = [
        _parse(language, resolved.source, deadline, edited=_edited(tree, text, resolved.source)),
        *(_parse(language, resolved.branches, deadline, [branch]) for branch in branches),
    ]
    return [tree.root_node for tree in trees]


def _edited(tree: Tree, before: bytes, after: bytes) -> Tree | None:
    """Returns an edited tree: rows changed, none in length, so that the others are not parsed again."""
    rows = zip(before.split(b"\n"), after.split(b"\n"), strict=True)
    changed = {row: len(old) for row, (old, new) in enumerate(rows) if old != new}
    if len(changed) > EDITS_MAX:
        return None
    starts = [0, *(found.end() for found in re.finditer(rb"\n", before))]
    for row, size in changed.items():
        last, end = Point(row, size), starts[row] + size
        tree.edit(starts[row], end, end, Point(row, 0), last, last)
    return tree


def _is_sound(captures: Captures) -> bool:
    """Whether a match adds nothing to a branch: inside a statement, an apparent definition may be none."""
    is_definition = "name" in captures or "path" in captures
    return not is_definition or not any(node.has_error for nodes in captures.values() for node in nodes)


def _parse(
    language: Language,
    source: bytes,
    deadline: float,
    ranges: list[Range] | None = None,
    edited: Tree | None = None,
) -> Tree:
    # The source as bytes, in one piece: a read callback, which alone could be stopped midway, leaks every
    # block that it returns (tree-sitter 0.26.1), gigabytes where a grammar's scanner seeks a lot. The parent
    # kills a loop.
    parser = Parser(_grammar(language.grammar), included_ranges=ranges)
    tree = parser.parse(source, edited) if edited else parser.parse(source)
    if process_time() > deadline:
        raise TimeoutError(f"parse of {language.id}")
    return tree


def _matches(query: Query, root: Node, deadline: float) -> list[tuple[int, Captures]]:
    if root.is_error and root.child_count > ERROR_CHILDREN_MAX:
        raise TimeoutError("query of a heap of errors")
    cursor = QueryCursor(query, match_limit=OPEN_MATCHES_MAX)
    cursor.set_max_start_depth(QUERY_DEPTH_MAX)
    found = cursor.matches(root)
    if process_time() > deadline:
        raise TimeoutError("query")
    return found


def _range(source: bytes, span: Span) -> Range:
    """Returns the points of bytes that begin and end with a row."""
    first = source.count(b"\n", 0, span.start)
    last = first + source.count(b"\n", span.start, span.end)
    return Range(Point(first, 0), Point(last, 0), span.start, span.end)


def _add_items(language: Language, syntax: Syntax, pending: list[Node], deadline: float) -> None:
    """Add the matches inside macro arguments, where they parse as items."""
    for _ in range(MACRO_DEPTH_MAX):
        found: list[tuple[int, Captures]] = []
        inner: list[Node] = []
        for node in pending:
            root = _parse(language, syntax.source, deadline, [_between_brackets(node)]).root_node
            if root.has_error:
                inner += _blocks(node)
            else:
                syntax.items[node.id] = root
                found += _matches(_query(language), root, deadline)
        syntax.add(found)
        pending = inner + _arguments(found)


def _add_expressions(language: Language, syntax: Syntax, deadline: float) -> None:
    """Add the matches inside macro arguments that parse as a list of expressions, without definitions."""
    # An expression ends with a semicolon, for which a byte behind the source has room.
    source = syntax.source + b";"
    end = syntax.root.end_point
    semicolon = Range(end, Point(end[0], end[1] + 1), len(syntax.source), len(source))
    pending = [captures["expressions"][0] for captures in syntax.matches_with("expressions")]
    for _ in range(MACRO_DEPTH_MAX):
        found: list[tuple[int, Captures]] = []
        for node in pending:
            if node.has_error or node.id in syntax.items or node.children[0].type == "{":
                continue
            root = _parse(language, source, deadline, [*_without_names(node), semicolon]).root_node
            if not root.has_error:
                syntax.expressions.add(node.id)
                found += [
                    one for one in _matches(_query(language), root, deadline) if _defines_nothing(one[1])
                ]
        syntax.add(found)
        pending = [captures["expressions"][0] for _, captures in found if "expressions" in captures]


def _without_names(arguments: Node) -> Iterator[Range]:
    """Yields the parts of macro arguments between their names: `size =` of `format!("{size}", size = 3)` is no assignment."""
    point, byte = arguments.start_point, arguments.start_byte
    tokens = arguments.children
    for before, name, sign in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.type in {"(", ","} and name.type == "identifier" and sign.type == "=":
            yield Range(point, name.start_point, byte, name.start_byte)
            point, byte = sign.end_point, sign.end_byte
    yield Range(point, arguments.end_point, byte, arguments.end_byte)


def _defines_nothing(captures: Captures) -> bool:
    return captures.keys().isdisjoint(("name", "path", "items"))


def _arguments(matches: list[tuple[int, Captures]]) -> list[Node]:
    """Returns the macro arguments between two brackets; a missing bracket is an error."""
    nodes = [node for _, captures in matches if "items" in captures for node in captures["items"]]
    return [node for node in nodes if not node.has_error]


def _between_brackets(node: Node) -> Range:
    (first, column), (last, end) = node.start_point, node.end_point
    return Range(Point(first, column + 1), Point(last, end - 1), node.start_byte + 1, node.end_byte - 1)


def _blocks(node: Node) -> list[Node]:
    """Returns the sibling blocks in macro arguments, as in `cfg_if!`."""
    return [child for child in node.children if child.type == node.type and child.children[0].type == "{"]


@cache
def _grammar(name: str) -> Grammar:
    return get_language(cast("SupportedLanguage", name))


@cache
def _query(language: Language) -> Query:
    return Query(_grammar(language.grammar), _query_source(language).decode())


@cache
def _query_source(language: Language) -> bytes:
    return b"\n".join((QUERIES / f"{name}.scm").read_bytes() for name in language.queries)


@cache
def _patterns(language: Language) -> dict[str, list[int]]:
    """Returns the positions of the patterns with a capture, by its name."""
    source = _query_source(language)
    query = _query(language)
    found: dict[str, list[int]] = defaultdict(list)
    for pattern in range(query.pattern_count):
        text = source[query.start_byte_for_pattern(pattern) : query.end_byte_for_pattern(pattern)]
        for name in dict.fromkeys(_CAPTURE.findall(text)):
            found[name.decode()].append(pattern)
    return found
