"""The header of a definition on one line: what stands before its body, white space squeezed."""

import re

from prism_chunker.core.definitions import Definition

SIGNATURE_CHARS_MAX = 300
# Bytes looked at: a header longer than this is cut.
HEADER_BYTES_MAX = 1_200
LINE_PREFIX_BYTES_MAX = 80
TAIL_CHARS_MAX = len(" begin")

_WORDS = re.compile(rb"[\w\s]*\Z")
_ANNOTATIONS = re.compile(
    rb"\s*(?:(?:\"{3}[^\"]*\"{3}|\"[^\"\n]*\"|@(?!interface|protocol|property|class|implementation)[\w.]+(?:\((?:[^()]|\([^()]*\))*\))?|#?\[[^\]]*\]+)\s+)+"
)
_BRACKETS = re.compile(rb"[(\[]|[)\]]|\n|\{")
_TAIL = re.compile(r" ?(?:[{=:;,]|=>|->|:=|\bdo|\bis|\bbegin|\bthen)$")


def signature_of(source: bytes, definition: Definition) -> str:
    """The header of a definition, without the annotations above it."""
    start, body, end = definition.start, definition.body, definition.end
    begin = _begin(source, start)
    annotations = _ANNOTATIONS.match(source, begin, definition.name_start)
    begin = annotations.end() if annotations else begin
    if start < body:
        header = source[begin : min(body, begin + HEADER_BYTES_MAX)]
    else:
        header = _balanced(source[begin : min(end, begin + HEADER_BYTES_MAX)])
    text = " ".join(header.decode("utf-8", "replace").split())
    tail = _TAIL.search(text, max(0, len(text) - TAIL_CHARS_MAX))
    return (text[: tail.start()] if tail else text)[:SIGNATURE_CHARS_MAX]


def _begin(source: bytes, start: int) -> int:
    """The start of the row, if only words (`export default`, `const`) stand before the definition."""
    row = source.rfind(b"\n", max(0, start - LINE_PREFIX_BYTES_MAX), start) + 1
    if row == 0 and start > LINE_PREFIX_BYTES_MAX:
        return start
    return row if _WORDS.match(source, row, start) else start


def _balanced(text: bytes) -> bytes:
    """The text up to the first line end or brace outside of brackets."""
    depth = 0
    for found in _BRACKETS.finditer(text):
        mark = found.group()
        if mark in b"([":
            depth += 1
        elif mark in b")]":
            depth -= 1
        elif depth <= 0:
            return text[: found.start()]
    return text
