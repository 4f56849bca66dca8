"""One file through all stages: detect the language, build an outline, cut it into chunks."""

from collections.abc import Callable
from dataclasses import replace

from prism_chunker.core import components, headings, module_exports, syntax
from prism_chunker.core.chunks import make_chunks
from prism_chunker.core.detect import detect_language
from prism_chunker.core.languages.table import LANGUAGES, Language, Reader
from prism_chunker.core.lines import TextRows
from prism_chunker.core.model import Budget, Parsed, ParsedFile
from prism_chunker.core.project_usings import is_project_file, read_project_usings

# A file with a longer average line is minified or data: its syntax is of no use.
MEAN_LINE_CHARS_MAX = 300
MINIFIED_CHARS_MIN = 10_000

DEFAULT_BUDGET = Budget()

READERS: dict[Reader, Callable[[Language, TextRows, Budget], ParsedFile]] = {
    "syntax": syntax.read,
    "markdown": headings.read_markdown,
    "rst": headings.read_rst,
    "asciidoc": headings.read_asciidoc,
    "component": components.read,
}


def chunk_file(
    path: str, text: str, language_override: str = "", *, budget: Budget = DEFAULT_BUDGET
) -> Parsed:
    """Chunk a file. Every line is in exactly one chunk, in order; `parse` reports any problem."""
    language = language_override.lower() or detect_language(path, text)
    lines = TextRows(text)
    outline = _read(LANGUAGES.get(language), lines, budget)
    if language in module_exports.LANGUAGES:
        outline = module_exports.name_exports(path, outline)
    elif is_project_file(path) and len(text) <= budget.size_chars_max:
        outline = replace(outline, bindings=read_project_usings(text))
    chunks = make_chunks(lines, outline)
    return Parsed(
        language, lines.count, outline.parse, chunks, outline.symbols, outline.references, outline.bindings
    )


def _read(language: Language | None, lines: TextRows, budget: Budget) -> ParsedFile:
    if language is None or language.reader == "lines" or _is_minified(lines):
        return ParsedFile("lines")
    if len(lines.text) > budget.size_chars_max:
        return ParsedFile("too_large")
    try:
        return READERS[language.reader](language, lines, budget)
    except TimeoutError:
        return ParsedFile("timeout")
    except Exception:  # noqa: BLE001  # the file stays searchable by its lines, whatever a grammar does
        return ParsedFile("crashed")


def _is_minified(lines: TextRows) -> bool:
    size = len(lines.text)
    return size > MINIFIED_CHARS_MIN and size > MEAN_LINE_CHARS_MAX * lines.count
