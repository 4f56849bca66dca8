"""Markdown with text from a repository. The text stays text: no heading, link, image, HTML or diagram comes of it.

Source: CommonMark 0.31, "Backslash escapes" and "Code spans"; GFM, "Tables" and "Autolinks".
"""

import re
from collections.abc import Iterable, Sequence

TEXT_CHARS_MAX = 400
CODE_CHARS_MAX = 160
BLOCK_LINES_MAX = 30
BLOCK_COLUMNS_MAX = 160
ELLIPSIS = "…"
ROUGH_MIN = 1_000

# Control characters, line separators, and the marks that reverse the direction of text (Trojan Source).
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
# A code span of Markdown or reStructuredText with its role, an address, or a reference without its backticks.
_SPECIAL_RUN = re.compile(
    r"(?::[\w:+-]{1,40}:)?(?P<ticks>`{1,2})(?P<code>[^`]+)(?P=ticks)_{0,2}"
    r"|(?P<url>\b[a-z][a-z0-9+.-]{1,20}://[^\s)>\]]+|\bwww\.[^\s)>\]]+|\b(?:javascript|data|mailto):[^\s)>\]]+)",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*]+?)(?<=\S)\1(?![\w*])")
# A directive that a docstring contains, up to its end, and the colons before a literal block.
_DIRECTIVE = re.compile(r"\s*\.\.\s+[\w-]+::.*$")
_LITERAL_LEAD = re.compile(r"\s*::$")
_LINK = re.compile(r"!?(?<!\w)\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])?")
_ROLE = re.compile(r"(?<![\w:]):(?:\w+:)?\w+:(?=[A-Za-z_~])(?!\w+:`)")
_CODE_SPAN = re.compile(r"(`{1,2})(?!`)[^`]+\1")
_LESS, _GREATER = "\ufdd0", "\ufdd1"  # not characters: no text has them
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>|<!--.{0,300}?-->")
_ESCAPED = re.compile(r"[\\`*\[\]~]|(?<!\w)_|_(?!\w)")
_ENTITIES = {"<": "&lt;", ">": "&gt;"}
# An ampersand alone is text: it is escaped only where it would begin a character reference.
_REFERENCE = re.compile(r"&(?=#?\w+;)")
# What would begin a block at the start of a line or of a list item.
_BLOCK_START = re.compile(r"^(?:(?P<mark>[#+=:-])|(?P<number>\d{1,9})(?P<dot>[.)]))")
_TICKS = re.compile(r"`+")
_FENCE_LANGUAGE = re.compile(r"[^a-z0-9_+-]")


def text(value: str, chars_max: int = TEXT_CHARS_MAX) -> str:
    """Returns prose of a repository as one line of Markdown. Code spans stay; addresses become code, not links."""
    plain = shortened(_without_markup(_one_line(value)), chars_max)
    parts, at = [], 0
    for run in _SPECIAL_RUN.finditer(plain):
        parts += [_escaped(plain[at : run.start()]), code(run["code"] or run["url"])]
        at = run.end()
    return _guarded("".join([*parts, _escaped(plain[at:])]).strip())


def code(value: str, chars_max: int = CODE_CHARS_MAX) -> str:
    """Returns a code span; empty for an empty value."""
    plain = shortened(_one_line(value), chars_max)
    if not plain:
        return ""
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(plain)), default=0))
    pad = " " if "`" in (plain[0], plain[-1]) else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}"


def place(path: str, line: int = 0, end_line: int = 0) -> str:
    """Returns a link to lines: `path:12` or `path:12-40` as a code span, which editors and agents open."""
    lines = f":{line}" if line else ""
    lines += f"-{end_line}" if line and end_line > line else ""
    return code(f"{_one_line(path)}{lines}", chars_max=len(path) + len(lines) + 1)


def block(lines: Sequence[str], language: str = "", *, lines_max: int = BLOCK_LINES_MAX) -> list[str]:
    """Returns lines of a repository as a fenced block, which no line of them can close."""
    shown = [_CONTROL.sub(" ", line.expandtabs(4).rstrip())[:BLOCK_COLUMNS_MAX] for line in lines]
    if len(shown) > lines_max:
        shown = [*shown[:lines_max], ELLIPSIS]
    longest = max((len(run) for line in shown for run in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + _FENCE_LANGUAGE.sub("", language.lower()), *shown, fence]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Returns a table of finished Markdown cells, with an empty line after it; nothing without rows."""
    lines = [_row(row) for row in rows]
    return [_row(heads), _row(["---"] * len(heads)), *lines, ""] if lines else []


def section(title: str, lines: Sequence[str]) -> list[str]:
    """Returns a section with a title of our own; nothing if it has no lines."""
    return [f"## {title}", "", *lines, ""] if any(lines) else []


def quote(said: str, path: str, line: int) -> list[str]:
    """Returns a quotation with its place."""
    return [f"> {text(said)}", ">", f"> — {place(path, line)}", ""]


def page_link(key: str, title: str) -> str:
    """Returns a link to another page of the wiki. Its target is the key of that page."""
    return f"[{_escaped(shortened(_one_line(title), CODE_CHARS_MAX))}]({key})"


def shortened(value: str, chars_max: int) -> str:
    """Returns at most so many characters, with an ellipsis if some are missing."""
    return value if len(value) <= chars_max else value[: chars_max - 1].rstrip() + ELLIPSIS


def joined(parts: Sequence[str], total: int = 0) -> str:
    """Returns a list in a sentence: `a, b and c`, or `a, b and 7 more` of a longer one."""
    more = total - len(parts)
    items = [*parts, f"{more} more"] if more > 0 else list(parts)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def counted(count: int, noun: str, plural: str = "") -> str:
    """Returns a number with its noun: `1 file`, `1,200 files`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def roughly(count: int) -> str:
    """Returns a number as it is up to 1,000, and with two digits above: it changes with few edits only."""
    if count < ROUGH_MIN:
        return f"{count}"
    unit = 10 ** (len(str(count)) - 2)
    return f"{round(count / unit) * unit:,}"


def _one_line(value: str) -> str:
    return " ".join(_CONTROL.sub(" ", value).split())


def _without_markup(value: str) -> str:
    # `<depot>` in code is a part of it, not a tag.
    value = _CODE_SPAN.sub(lambda span: span[0].replace("<", _LESS).replace(">", _GREATER), value)
    bare = _LINK.sub(r"\1", _TAG.sub("", _LITERAL_LEAD.sub(":", _DIRECTIVE.sub("", value))))
    plain = _ROLE.sub("", _EMPHASIS.sub(r"\2", bare))
    return plain.replace(_LESS, "<").replace(_GREATER, ">")


def _escaped(value: str) -> str:
    escaped = _ESCAPED.sub(lambda found: "\\" + found[0], _REFERENCE.sub("&amp;", value))
    return "".join(_ENTITIES.get(char, char) for char in escaped)


def _guarded(line: str) -> str:
    """Keeps a line from beginning a heading, a list or a rule."""
    start = _BLOCK_START.match(line)
    if start is None:
        return line
    if start["mark"]:
        return "\\" + line
    return f"{start['number']}\\{line[len(start['number']) :]}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
