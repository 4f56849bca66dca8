"""No text that a caller may send takes long to read: CPU time at the longest allowed length, for shapes that make bad code slow."""

import contextlib
import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from cpu_time import idle_cpu_s

from prism_atlas.core.diffs import read_diff
from prism_contracts.errors import PrismError
from prism_gateway.webhooks.payloads import read_hook
from prism_resolver.symbol_names import SymbolName
from prism_runtime.cursors import read_cursor
from prism_search.core.existing import read_intent
from prism_search.core.near_paths import near_paths
from prism_search.core.patterns import compile_pattern
from prism_search.core.query import parse_query
from prism_source.clone_url import CloneRules, check_url
from prism_source.gittree import is_ref_name
from prism_source.paths import path_problem
from prism_store.globs import compile_glob

CPU_SECONDS_MAX = 0.1
# The longest texts of each kind that a caller may send.
QUERY_CHARS, NAME_CHARS, PATH_CHARS, URL_CHARS = 4_000, 500, 4_096, 2_000
DIFF_CHARS, WEBHOOK_CHARS = 30_000, 100_000
RULES = CloneRules(schemes=frozenset({"https"}), allow_private=True)
FRAGMENTS = (
    "a", "A", "1", " ", "\t", "\n", ".", "/", "-", "_", ":", "*", "<", "(", "[", "{", "\\", '"', "'", "@", "#", "🦀", "é",
    " as a", "a.", "a ", "a_", "aA", "a/", "a::", "a(", "(a", "<a", "[a-", "[[", "**/", "{a,", "a|", "(a|", "\\d+", "a{9}",
    "\n+", "\n-", "@@ -1 +1 @@\n", "--- a/b\n+++ b/b\n", "rename from a\n", ":param", "self, ",
)  # fmt: skip
ENDS = ("!", ")")
# Modules whose patterns a caller's text meets before anything has shortened it, with the longest such text.
MET_BY = {
    "prism_search.core.query": QUERY_CHARS,
    "prism_search.core.words": QUERY_CHARS,
    "prism_search.core.existing": QUERY_CHARS,
    "prism_search.core.clauses": QUERY_CHARS,
    "prism_resolver.symbol_names": NAME_CHARS,
    "prism_atlas.core.lookup": NAME_CHARS,
    "prism_atlas.core.relevance": QUERY_CHARS,
    "prism_source.unified_diff": PATH_CHARS,  # each line by itself
    "prism_store.globs": NAME_CHARS,
    "prism_catalog.layers": NAME_CHARS,
    "prism_source.gittree": NAME_CHARS,
    "prism_source.clone_url": URL_CHARS,
    "prism_ingest.operations.branch_layers": NAME_CHARS,
}


class Reader(NamedTuple):
    """Code that reads a caller's text, and how long the text may be."""

    name: str
    read: Callable[[str], object]
    chars_max: int


def grep(text: str, *, regex: bool) -> object:
    compile_pattern.cache_clear()
    return compile_pattern(text, regex=regex, case_sensitive=False, word=True)


READERS = [
    Reader("a query", parse_query, QUERY_CHARS),
    Reader("an intent", read_intent, QUERY_CHARS),
    Reader("a literal", lambda text: grep(text, regex=False), QUERY_CHARS),
    Reader("a regex", lambda text: grep(text, regex=True), QUERY_CHARS),
    Reader("a symbol", SymbolName.read, NAME_CHARS),
    Reader("a glob", compile_glob, NAME_CHARS),
    Reader("a path", path_problem, PATH_CHARS),
    Reader("a wrong path", lambda text: near_paths(text, NEAR), PATH_CHARS),
    Reader("a ref", is_ref_name, NAME_CHARS),
    Reader("a cursor", lambda text: read_cursor("question", text, (str, int)), QUERY_CHARS),
    Reader(
        "a URL",
        lambda text: check_url(text, RULES),
        URL_CHARS,
    ),
    Reader("a diff", read_diff, DIFF_CHARS),
    Reader("a webhook", lambda text: read_hook({"x-github-event": "push"}, text.encode()), WEBHOOK_CHARS),
]
NEAR = [f"src/package_{number % 50}/module_{number}.py" for number in range(2_000)]


def hostile(chars: int) -> Iterator[str]:
    for fragment in FRAGMENTS:
        run = (fragment * (chars // len(fragment) + 1))[:chars]
        yield from (run[: chars - len(end)] + end for end in ENDS)


def is_slow(work: Callable[[], object]) -> bool:
    def answer() -> None:
        with contextlib.suppress(PrismError, ValueError):  # a refusal is an answer
            work()

    return idle_cpu_s(answer, CPU_SECONDS_MAX) > CPU_SECONDS_MAX


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_the_longest_hostile_text_is_read_quickly(reader: Reader) -> None:
    slow = [
        text[:20]
        for text in hostile(reader.chars_max)
        if is_slow(lambda text=text: reader.read(text))  # type: ignore[misc]
    ]
    assert not slow


@pytest.mark.parametrize("module", MET_BY)
def test_patterns_applied_to_caller_text_are_quick(module: str) -> None:
    slow = [
        (name, text[:20])
        for name, pattern in vars(importlib.import_module(module)).items()
        if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, str)
        for text in hostile(MET_BY[module])
        if is_slow(lambda pattern=pattern, text=text: _use(pattern, text))  # type: ignore[misc]
    ]
    assert not slow


def _use(pattern: re.Pattern[str], text: str) -> Any:
    return pattern.search(text), pattern.fullmatch(text)
