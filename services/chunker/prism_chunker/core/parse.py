"""A source text and a language's queries in, matches out: the one place that touches tree-sitter's parser.

Grammars and queries are loaded when first needed and kept. The query is kept short by limits, for deeply nested input
parses fast and is queried in quadratic time; what took too long is given up before and after it.
"""

from functools import cache
from pathlib import Path
from time import process_time
from typing import NamedTuple, cast

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor
from tree_sitter_language_pack import SupportedLanguage, get_language

from prism_chunker.core.languages.table import Language

QUERIES = Path(__file__).parent / "languages" / "queries"
# States a query may keep open at once; beyond, tree-sitter drops the oldest.
OPEN_MATCHES_MAX = 4_096
# A query over n levels, or over n children of one error, takes n² steps: 100,000 brackets would take half a minute, and
# the query's own progress callback cannot be used, it crashes the process (tree-sitter 0.26.1).
QUERY_DEPTH_MAX = 100
ERROR_CHILDREN_MAX = 20_000

Captures = dict[str, list[Node]]


class Syntax(NamedTuple):
    """A parsed source: its root and what the language's query found in it, in order of appearance."""

    source: bytes
    root: Node
    matches: list[tuple[int, Captures]]  # with the position of the pattern in the query


def parse(language: Language, source: bytes, time_ms_max: int) -> Syntax:
    """Parse and query, or raise TimeoutError."""
    query = _query(language)  # its first compilation may take a second, which is not the file's fault
    # CPU time: a busy machine costs no file its symbols.
    deadline = process_time() + time_ms_max / 1_000
    root = _parse(language, source)
    if process_time() > deadline:
        raise TimeoutError(f"parse of {language.id}")
    return Syntax(source, root, _matches(query, root, deadline))


def _parse(language: Language, source: bytes) -> Node:
    # The source as bytes, in one piece: a read callback, which alone could be stopped midway, leaks every block that it
    # gives (tree-sitter 0.26.1), gigabytes where a grammar's scanner seeks a lot. Who loops is killed from outside.
    return Parser(_grammar(language.grammar)).parse(source).root_node


def _matches(query: Query, root: Node, deadline: float) -> list[tuple[int, Captures]]:
    if root.is_error and root.child_count > ERROR_CHILDREN_MAX:
        raise TimeoutError("query of a heap of errors")
    cursor = QueryCursor(query, match_limit=OPEN_MATCHES_MAX)
    cursor.set_max_start_depth(QUERY_DEPTH_MAX)
    found = cursor.matches(root)
    if process_time() > deadline:
        raise TimeoutError("query")
    return found


@cache
def _grammar(name: str) -> Grammar:
    return get_language(cast("SupportedLanguage", name))


@cache
def _query(language: Language) -> Query:
    sources = [(QUERIES / f"{name}.scm").read_text(encoding="utf-8") for name in language.queries]
    return Query(_grammar(language.grammar), "\n".join(sources))
