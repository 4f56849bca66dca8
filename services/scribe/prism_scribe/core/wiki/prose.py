"""Finds in documents what a wiki quotes: the first paragraph, sections by title, and lines that name a path."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.rpc.files import FileEntry
from prism_scribe.core.wiki.orientation import Prose

PARAGRAPH_CHARS_MIN = 40
# The same for what ends as a sentence does.
SENTENCE_CHARS_MIN = 20
PARAGRAPH_LINES_MAX = 12
UNDERLINE_CHARS_MIN = 3
# Lines of a document that are read for a quote.
LINES_MAX = 3_000

# Titles and their underlines, badges, images, directives, HTML, lists, quotes, tables, fences.
_NO_PROSE = re.compile(
    r"^\s*(?:#|=|-{3}|\*{3}|~{3}|`{3}|\^{3}|!\[|\[!\[|\[?\|\w*\|?|\.\.\s|:\w|<|>|[-*+]\s|\d+[.)]\s|\||@|%|import\s|export\s)"
)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_IMAGE = re.compile(r"!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])?|\[\]\([^()]*\)|<[^<>]*>")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*([\w+-]*)")
_DIRECTIVE = re.compile(r"^\.\.\s+(?:code-block|code|sourcecode|parsed-literal)::\s*([\w+-]*)")


# Code, directives and addresses that stand in comments, and rulers.
_NO_SENTENCE = re.compile(
    r"^(?:go:|import\b|export\b|use\b|type\s+\w+\s*=|https?:|specs?:|see:\s|todo\b|eslint|[@#])|\b(?-i:TODO|FIXME|XXX)\b|[;{]\s*$|(?<!:)//|=>",
    re.IGNORECASE,
)
SENTENCE_WORDS_MIN = 3
_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,3}[.)])\s+(?P<text>\S.*)$")
_RULE_OF_TABLE = re.compile(r"^[\s|:-]+$")
_NESTED_ITEM = re.compile(r"^ {0,9}(?:[-*+]|\d{1,3}[.)])\s+(?P<text>\S.*)$")
# An item of a list, or a comment or directive of reStructuredText.
_BEGINS = re.compile(r"^(?: {0,3}(?:[-*+]|\d{1,3}[.)])\s+\S|\.\.(?:\s|$))")
_LANGUAGES = r"(?:ar|bn|cn|cs|de|el|es|fa|fr|he|hi|hu|id|it|ja|jp|ko|kr|nl|pl|pt|ro|ru|th|tr|tw|uk|ur|vi|zh)"
_TRANSLATION = re.compile(
    rf"[._-]{_LANGUAGES}(?:[-_][a-z]{{2,4}})?\.\w+$"
    rf"|(?:^|/)(?:docs?|i18n|locales?|translations?)/{_LANGUAGES}/|(?:^|/){_LANGUAGES}[-_][a-z]{{2,4}}/",
    re.IGNORECASE,
)


_GUIDE = re.compile(
    r"(?:^|/)(?:docs?|guides?|documentation|manual|handbook)/.*\.(?:md|mdx|markdown|rst|adoc|txt)$",
    re.IGNORECASE,
)
# Documents that are about the project's past, its law or its site.
_ASIDE = re.compile(
    r"(?:^|/)(?:change(?:s|log)?|history|news|licen[cs]e|releases?|requirements|authors|code[_-]of[_-]conduct)[^/]*$"
    r"|(?:^|/)(?:node_modules|templates?|_templates|release-?notes|blog|adrs?|decisions|rfcs?)/",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"(?:^|/)(?:index|readme|intro\w*|overview|getting[-_]?started|quick[-_]?start|tutorial|usage|guide)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_]\w+")
# A call, and a decorator.
_CALLED = re.compile(r"([A-Za-z_]\w+[!?]?)\(|@(?:\w+\.)*([a-z_]\w+)")
_QUALIFIED_CALL = re.compile(r"\b[A-Z]\w*(?:\.|::)([A-Za-z_]\w+[!?]?)\(")  # `Depot.send(`
_DEFINED = re.compile(r"\b(?:def|defp|func|fn|function|fun)\s+([A-Za-z_]\w+[!?]?)")
TOP_WEIGHT = 4
_SPAN = re.compile(r"`([^`\n]+)`")


class Quote(NamedTuple):
    """Prose of a document, joined to one line, with its place."""

    path: str
    line: int
    text: str


class Passage(NamedTuple):
    """A paragraph, an item of a list or a block of code, with its first line. `text` of a block is empty."""

    line: int
    text: str
    is_item: bool = False
    block: "CodeBlock | None" = None


class CodeBlock(NamedTuple):
    """A block of code in a document. `line` is its first line, 1-based."""

    path: str
    line: int
    language: str
    lines: tuple[str, ...]


def first_paragraph(document: Prose, start: int = 1, end: int = 0) -> Quote | None:
    """Returns the first paragraph of prose in a range of lines, without titles, badges and lists."""
    last = min(end or len(document.lines), len(document.lines), start + LINES_MAX)
    paragraph: list[str] = []
    began = 0
    closing = ""
    in_item = False
    for number in range(start, last + 1):
        line = document.lines[number - 1]
        # An item of a list and a comment go on, with an indentation, up to an empty line.
        in_item = (in_item and bool(line.strip()) and line.startswith(" ")) or _BEGINS.match(line) is not None
        fence = _FENCE.match(line)
        if closing or fence:
            closing = _after_fence(closing, fence, line)
            paragraph = []
            continue
        is_prose = (
            bool(line.strip())
            and not in_item
            and not _NO_PROSE.match(line)
            and not line.startswith(("    ", "\t"))
        )
        if is_prose and not _is_title(document.lines, number):
            began = began if paragraph else number
            paragraph.append(line.strip())
        elif paragraph:
            if quote := _quote(document.path, began, paragraph):
                return quote
            paragraph = []
    return _quote(document.path, began, paragraph) if paragraph else None


def passages(document: Prose, start: int, end: int) -> Iterator[Passage]:
    """Yields the paragraphs, list items, table rows and code blocks of a range of lines, without titles and badges."""
    blocks = {block.line: block for block in code_blocks(document, start, end)}
    inside = {
        number for block in blocks.values() for number in range(block.line, block.line + len(block.lines))
    }
    words: list[str] = []
    began, is_item = start, False
    for number in range(start, min(end, len(document.lines)) + 1):
        line = document.lines[number - 1]
        if number not in inside and (row := _table_row(line)):
            if words:
                yield Passage(began, " ".join(words), is_item)
                words = []
            yield Passage(number, row, is_item=True)
            continue
        item = None if number in inside else _NESTED_ITEM.match(line)
        is_text = item is not None or _goes_on(document.lines, number, bool(words))
        if words and (item is not None or number in inside or not is_text):
            yield Passage(began, " ".join(words), is_item)
            words = []
        if number in blocks:
            yield Passage(number, "", block=blocks[number])
        elif number not in inside and is_text:
            if not words:
                began, is_item = number, item is not None
            words.append(item["text"] if item else line.strip())
    if words:
        yield Passage(began, " ".join(words), is_item)


def _table_row(line: str) -> str:
    """Returns the cells of a row of a table in Markdown; empty for other lines and for the rule below the heads."""
    if not line.lstrip().startswith("|") or _RULE_OF_TABLE.match(line):
        return ""
    return " — ".join(cell.strip() for cell in line.strip().strip("|").split("|") if cell.strip())


def _goes_on(lines: Sequence[str], number: int, is_open: bool) -> bool:
    """Whether a line is text. An indented line is text only after a line of its paragraph."""
    line = lines[number - 1]
    if not line.strip() or _is_title(lines, number) or _FENCE.match(line):
        return False
    return is_open or not (_NO_PROSE.match(line) or line.startswith(("    ", "\t")))


def is_mark(text: str) -> bool:
    """Whether a passage is of links and pictures alone, such as a row of badges."""
    return not any(char.isalpha() for char in _IMAGE.sub("", text))


def sentence(said: str) -> str:
    """Returns what a comment says, if it is a sentence; empty for code, directives, addresses and single words."""
    is_sentence = len(said.split()) >= SENTENCE_WORDS_MIN and not _NO_SENTENCE.search(said)
    return said if is_sentence else ""


def guides(files: Mapping[str, FileEntry]) -> list[str]:
    """Returns the documents in folders of documents, those that a reader begins with first."""
    found = [
        path for path in files if _GUIDE.search(path) and not _ASIDE.search(path) and not is_translation(path)
    ]
    return sorted(found, key=lambda path: (not _FIRST.search(path), path.count("/"), path))


def names_in_code(documents: Sequence[Prose]) -> Counter[str]:
    """Returns the names in the code of documents, blocks and spans, with the number of documents that have each."""
    counts: Counter[str] = Counter()
    for document in documents:
        blocks = [line for block in code_blocks(document, 1, LINES_MAX) for line in block.lines]
        spans = [span for line in document.lines[:LINES_MAX] for span in _SPAN.findall(line)]
        counts.update({name for text in (*blocks, *spans) for name in _NAME.findall(text)})
    return counts


def calls_in_code(documents: Sequence[Prose]) -> Counter[str]:
    """Returns the names that the code blocks of documents call or decorate with, by their weight.

    The introductions at the top of a repository weigh more than other documents.
    """
    counts: Counter[str] = Counter()
    for document in documents:
        lines = [line for block in code_blocks(document, 1, LINES_MAX) for line in block.lines]
        names = {name for line in lines for found in _CALLED.findall(line) for name in found if name}
        defined = {name for line in lines for name in _DEFINED.findall(line)}
        # An example often defines `start_link`, and calls that of a module in it.
        defined -= {name for line in lines for name in _QUALIFIED_CALL.findall(line)}
        weight = TOP_WEIGHT if "/" not in document.path else 1
        counts.update(dict.fromkeys(names - defined, weight))
    return counts


def is_translation(path: str) -> bool:
    """Whether a document is a translation, such as `README_KO.md` or `README.zh-CN.md`."""
    return _TRANSLATION.search(path) is not None


def list_items(document: Prose, start: int, end: int, items_max: int) -> list[Quote]:
    """Returns the items of the first list in a range of lines, each with its first line."""
    found: list[Quote] = []
    for number in range(start, min(end, len(document.lines)) + 1):
        if item := _ITEM.match(document.lines[number - 1]):
            found.append(Quote(document.path, number, item["text"]))
        elif found and document.lines[number - 1].lstrip().startswith("#"):
            break
    return found[:items_max]


def sections(document: Prose, wanted: re.Pattern[str]) -> list[Symbol]:
    """Returns the outermost sections whose title matches, without the title of the whole document."""
    headings = [one for one in document.headings if one.kind is SymbolKind.SECTION]
    if sum(one.parent < 0 for one in headings) == 1:
        headings = [one for one in headings if one.parent >= 0]
    found: list[Symbol] = []
    for one in headings:
        if wanted.search(one.name) and not (found and one.start_line <= found[-1].end_line):
            found.append(one)
    return found


def code_blocks(document: Prose, start: int, end: int) -> Iterator[CodeBlock]:
    """Yields the blocks of code in a range of lines: fenced ones, and those of reStructuredText."""
    number, last = start, min(end, len(document.lines))
    while number <= last:
        line = document.lines[number - 1]
        if fence := _FENCE.match(line):
            closing = _closing(document.lines, number, fence[1], last)
            body = document.lines[number : closing - 1]
            yield CodeBlock(document.path, number + 1, fence[2], dedented(body))
            number = closing
        elif (directive := _DIRECTIVE.match(line)) or _is_literal_lead(line):
            body_start, body_end = _indented(document.lines, number, last)
            if body_end > body_start:
                language = directive[1] if directive else ""
                body = document.lines[body_start:body_end]
                yield CodeBlock(document.path, body_start + 1, language, dedented(body))
            number = max(body_end, number)
        number += 1


def mentions(documents: Sequence[Prose], path: str, quotes_max: int) -> list[Quote]:
    """Returns what documents say of a path: the lines of prose that name it, each once.

    A section with the path in its title is quoted by its first paragraph.
    """
    name = re.compile(rf"(?<![\w/.-]){re.escape(path.rstrip('/'))}(?![\w-])")
    found: list[Quote] = []
    for document in documents:
        for heading in document.headings:
            if name.search(heading.name) and len(found) < quotes_max:
                quote = first_paragraph(document, heading.start_line + 1, heading.end_line)
                found += [quote] if quote else []
        for number, line in enumerate(document.lines[:LINES_MAX], start=1):
            if len(found) >= quotes_max:
                return found
            said = line.strip().strip("-*| ").strip()
            if (
                name.search(line)
                and len(said) >= len(path) + 20
                and not line.lstrip().startswith(("#", "```"))
            ):
                found.append(Quote(document.path, number, said.replace("|", " — ", 1).replace("|", " ")))
    return found


def _after_fence(closing: str, fence: re.Match[str] | None, line: str) -> str:
    if not closing:
        return fence[1] if fence else ""
    return "" if line.strip().startswith(closing) else closing


def _is_title(lines: Sequence[str], number: int) -> bool:
    """Whether the next line underlines this one."""
    following = lines[number].strip() if number < len(lines) else ""
    return (
        len(following) >= UNDERLINE_CHARS_MIN and len(set(following)) == 1 and following[0] in "=-~^*#\"'+."
    )


def _quote(path: str, line: int, paragraph: Sequence[str]) -> Quote | None:
    joined = " ".join(paragraph[:PARAGRAPH_LINES_MAX])
    least = SENTENCE_CHARS_MIN if joined.endswith((".", ":")) else PARAGRAPH_CHARS_MIN
    # A line of links to translations is as long as its addresses.
    read = _LINK.sub(r"\1", joined)
    if len(read) < least or not any(char.isalpha() for char in read):
        return None
    return Quote(path, line, joined)


def _closing(lines: Sequence[str], opened: int, fence: str, last: int) -> int:
    for number in range(opened + 1, last + 1):
        if lines[number - 1].strip().startswith(fence):
            return number
    return last + 1


def _is_literal_lead(line: str) -> bool:
    return line.rstrip().endswith("::") and not line.lstrip().startswith("..")


def _indented(lines: Sequence[str], after: int, last: int) -> tuple[int, int]:
    """Returns the range of indented lines after a lead, as positions from 0; options and empty lines are skipped."""
    start = after
    while start < last and (not lines[start].strip() or lines[start].lstrip().startswith(":")):
        start += 1
    end = start
    while end < last and (not lines[end].strip() or lines[end][0] in " \t"):
        end += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def dedented(lines: Sequence[str]) -> tuple[str, ...]:
    """Returns lines without the indentation that all of them have."""
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(indents, default=0)
    return tuple(line[margin:].rstrip() for line in lines)
