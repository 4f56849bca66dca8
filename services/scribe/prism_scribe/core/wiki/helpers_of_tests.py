"""What tests can use: helpers that several tests name, and a short test as an example."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol
from prism_scribe.core.wiki import declarations, excerpts, markdown
from prism_scribe.core.wiki.orientation import Evidence, Orientation

# What tests read is not a test.
DATA = re.compile(r"(?:^|/)(?:testdata|fixtures|snapshots|__snapshots__|data)(?:/|$)", re.IGNORECASE)
# Files beside tests that hold helpers and no tests.
_HELPER = re.compile(
    r"(?:^|/)(?:conftest|_?helpers?|_?utils?|common|support|fixtures?|mocks?|fakes?|stubs?|base|"
    r"\w*test(?:ing)?(?:utils?|helpers?|support|base|case)|testing_\w+|(?:Abstract|Base)\w*Tests?|(?:spec|test)_helper)"
    r"(?:/[^/]+)?\.\w+$"
)
HELPER_FILES_MAX = 24
HELPERS_MAX = 40
# Lines of tests that name a helper.
USED_MIN = 4
EXAMPLE_LINES_MIN, EXAMPLE_LINES_MAX = 4, 16
_WORD = re.compile(r"[A-Za-z_]\w+")
# What makes a function a test in Rust, Java, Kotlin and C#, and a test inside of a class.
_TEST_MARK = re.compile(r"^\s*(?:#\[(?:\w+::)?test\b|@\w*Test\b|\[(?:Fact|Theory|Test|TestMethod)\b)")
_TEST_INSIDE = re.compile(
    r"^\s*(?:async\s+)?(?:def\s+test_|(?:public\s+)?(?:void|fun|function)\s+test|@\w*Test\b|\[(?:Fact|Theory|Test)\b)"
)
_IS_TEST = re.compile(r"^(?:test_|Test[A-Z_]|Benchmark|Example)")


def helper_files(orientation: Orientation) -> list[str]:
    """Returns test files to look for helpers in: those that are named for them first, then those in the upper folders."""
    found = [path for path in orientation.files if orientation.is_test(path) and not DATA.search(path)]
    found.sort(key=lambda path: (not _HELPER.search(path), path.count("/"), path))
    return found[:HELPER_FILES_MAX]


def lines(orientation: Orientation, evidence: Evidence) -> list[str]:
    """Returns a table of the helpers that several tests use, and a short test."""
    texts = {path: evidence.texts.get(path, ()) for path in helper_files(orientation)}
    used = Counter(name for text in texts.values() for line in text for name in set(_WORD.findall(line)))
    rows = []
    for path, text in texts.items():
        least = 0 if _HELPER.search(path) else USED_MIN
        for symbol in evidence.outlines[path].symbols if path in evidence.outlines else ():
            is_helper = symbol.parent < 0 and symbol.kind in CALLABLE_KINDS | TYPE_KINDS
            if is_helper and used[symbol.name] >= least and not _is_test(symbol, text):
                said = markdown.text(declarations.said_of(symbol))
                place = markdown.place(path, symbol.name_line)
                rows.append(
                    (-used[symbol.name], (markdown.code(symbol.signature or symbol.name), said, place))
                )
    shown = [row for _, row in sorted(rows, key=lambda item: item[0])[:HELPERS_MAX]]
    table = markdown.table(("helper", "what it says of itself", "defined in"), shown)
    return [*table, *_example(evidence, texts, used)]


def _is_test(symbol: Symbol, text: Sequence[str]) -> bool:
    """Whether a definition is a test by its name, the mark above it or the tests in it."""
    if _IS_TEST.match(symbol.name):
        return True
    above = text[symbol.start_line - 1 : symbol.name_line - 1]
    inside = text[symbol.name_line : symbol.end_line] if symbol.kind in TYPE_KINDS else ()
    return any(map(_TEST_MARK.match, above)) or any(map(_TEST_INSIDE.match, inside))


def _example(evidence: Evidence, texts: Mapping[str, Sequence[str]], used: Mapping[str, int]) -> list[str]:
    """Returns a test that uses as many helpers as possible; of those, the shortest."""
    found = []
    for path, text in texts.items():
        outline = evidence.outlines.get(path)
        for symbol in outline.symbols if outline else ():
            code = excerpts.quoted(evidence, path, symbol)
            is_short = EXAMPLE_LINES_MIN <= len(code.lines) <= EXAMPLE_LINES_MAX
            if symbol.kind in CALLABLE_KINDS and is_short and _is_test(symbol, text):
                names = {name for number in code.lines for name in _WORD.findall(text[number - 1])}
                known = sum(used[name] >= USED_MIN for name in names)
                found.append((-known, len(code.lines), path, symbol.qualified_name, code.lines, code))
    return ["A short test:", "", *excerpts.excerpt(min(found)[-1]._replace(said=""))] if found else []
