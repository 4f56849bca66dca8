"""The documentation that a source file has of itself, as a document: its lines keep their numbers.

`@moduledoc` of Elixir, `//!` of Rust, the package comment of Go, the docstring of a module of Python, and the block
comment that opens a file in other languages.
"""

import re
from collections.abc import Iterator, Sequence

from prism_contracts.code import Symbol, SymbolKind
from prism_scribe.core.wiki.orientation import Evidence, Prose

HEADINGS_MIN = 1
LINES_MIN = 4
LINES_MAX = 1_500
_HEADING = re.compile(r"^(?P<marks>#{1,4})\s+(?P<title>\S.*?)\s*#*$")
_UNDERLINE = re.compile(r"^(?:={3,}|-{3,}|~{3,})\s*$")
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")


def documents(paths: Sequence[str], evidence: Evidence) -> list[Prose]:
    """Returns the source files with documentation of several lines, those with headings first."""
    found = [one for path in paths if (one := document(path, evidence))]
    return sorted(found, key=lambda one: not one.headings)


def document(path: str, evidence: Evidence) -> Prose | None:
    """Returns the documentation of a file; None if it has none, or only a few lines."""
    outline = evidence.outlines.get(path)
    text = evidence.texts.get(path, ())
    if outline is None or not text:
        return None
    numbered = dict(_READERS.get(outline.language, _nothing)(text))
    said = [line for line in numbered.values() if line.strip()]
    if len(said) < LINES_MIN:
        return None
    shown = tuple(numbered.get(number, "") for number in range(1, max(numbered) + 1))
    return Prose(path, None, shown, headings=tuple(_headings(shown)))


def _nothing(_: Sequence[str]) -> Iterator[tuple[int, str]]:
    yield from ()


def _elixir(text: Sequence[str]) -> Iterator[tuple[int, str]]:
    start = next((n for n, line in enumerate(text) if re.match(r'\s*@moduledoc\s+(?:~[sS])?"""', line)), -1)
    if start < 0:
        return
    margin = len(text[start]) - len(text[start].lstrip())
    for number, line in enumerate(text[start + 1 : start + LINES_MAX], start=start + 2):
        if line.strip().startswith('"""'):
            return
        yield number, line[margin:]


def _rust(text: Sequence[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text[:LINES_MAX], start=1):
        if line.startswith("//!"):
            yield number, line[3:].removeprefix(" ")


def _go(text: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The comment directly above the package clause."""
    package = next((n for n, line in enumerate(text[:LINES_MAX]) if line.startswith("package ")), -1)
    start = package
    while start > 0 and text[start - 1].startswith("//"):
        start -= 1
    for number in range(start, package):
        yield number + 1, text[number][2:].removeprefix(" ")


def _python(text: Sequence[str]) -> Iterator[tuple[int, str]]:
    first = next((n for n, line in enumerate(text) if line.strip() and not line.startswith("#")), -1)
    opened = re.match(r"[rRuU]?(\"\"\"|''')(.*)$", text[first]) if first >= 0 else None
    if opened is None:
        return
    if opened[1] in opened[2]:
        yield first + 1, opened[2].partition(opened[1])[0]
        return
    yield first + 1, opened[2]
    for number, line in enumerate(text[first + 1 : first + LINES_MAX], start=first + 2):
        if opened[1] in line:
            yield number, line.partition(opened[1])[0]
            return
        yield number, line


_READERS = {"elixir": _elixir, "rust": _rust, "go": _go, "python": _python}


def _headings(lines: Sequence[str]) -> Iterator[Symbol]:
    """Yields the sections of Markdown, and of text with underlined titles."""
    found: list[tuple[int, int, str]] = []
    in_fence = False
    for number, line in enumerate(lines, start=1):
        if _FENCE.match(line):
            in_fence = not in_fence
        elif not in_fence and (heading := _HEADING.match(line)):
            found.append((number, len(heading["marks"]), heading["title"]))
        elif not in_fence and number > 1 and _UNDERLINE.match(line) and lines[number - 2].strip():
            found.append((number - 1, 2, lines[number - 2].strip()))
    for position, (number, depth, title) in enumerate(found):
        after = (start for start, level, _ in found[position + 1 :] if level <= depth)
        yield Symbol(
            name=title, qualified_name=title.replace(".", " "), kind=SymbolKind.SECTION, start_line=number,
            end_line=max(number, next(after, len(lines) + 1) - 1), name_line=number,
        )  # fmt: skip
