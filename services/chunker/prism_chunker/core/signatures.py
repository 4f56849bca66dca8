"""The header of a definition on one line: the source before its body, without comments, white
space squeezed.
"""

import re

from prism_chunker.core.definitions import MatchedDefinition
from prism_chunker.core.parse import Syntax

SIGNATURE_CHARS_MAX = 300
# Bytes examined: a longer header is cut. The end of a header with a body is known, so there is room for
# comments.
HEADER_BYTES_MAX = 1_200
HEADER_BEFORE_BODY_BYTES_MAX = 8_000
LINE_PREFIX_BYTES_MAX = 80
TAIL_CHARS_MAX = len(" begin")

_WORDS = re.compile(rb"[\w\s]*\Z")
_ANNOTATIONS = re.compile(
    rb"\s*(?:(?:\"{3}[^\"]*\"{3}|\"[^\"\n]*\"|@(?!interface|protocol|property|class|implementation)[\w.]+(?:\((?:[^()]|\([^()]*\))*\))?|#?\[[^\]]*\]+)\s+)+"
)
# Angle brackets count only across lines: elsewhere they may be comparisons.
_BRACKETS = re.compile(rb"[(\[]|[)\]]|<(?=[ \t\r]*\n)|\n|\{")
_ANGLES = re.compile(rb"[-=]>|[<>]")
_DEPTHS = {b"<": 1, b">": -1}
_SPACES = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))
_TAIL = re.compile(r" ?(?:[{=:;,]|=>|->|:=|\bdo|\bis|\bbegin|\bthen)$")


def without_comments(syntax: Syntax) -> bytes:
    """Returns the source with spaces for comments, so that all other offsets are unchanged."""
    nodes = [node for captures in syntax.matches_with("comment") for node in captures.get("comment", ())]
    source, pieces, behind = syntax.source, [], 0
    for start, end in sorted((node.start_byte, node.end_byte) for node in nodes):
        if start >= behind:
            pieces += [source[behind:start], source[start:end].translate(_SPACES)]
            behind = end
    return b"".join([*pieces, source[behind:]])


def signature_of(source: bytes, definition: MatchedDefinition) -> str:
    """Returns the header of a definition, without the annotations above it. The source has no comments."""
    start, body, end = definition.start, definition.body, definition.end
    begin = _begin(source, start)
    annotations = _ANNOTATIONS.match(source, begin, definition.name_start)
    begin = annotations.end() if annotations else begin
    behind, bytes_max = (body, HEADER_BEFORE_BODY_BYTES_MAX) if start < body else (end, HEADER_BYTES_MAX)
    looked_at = source[begin : min(behind, begin + bytes_max)]
    header = looked_at if start < body else _balanced(looked_at)
    is_cut = len(header) == bytes_max < behind - begin
    text = " ".join(header.decode("utf-8", "replace").split())
    tail = _TAIL.search(text, max(0, len(text) - TAIL_CHARS_MAX))
    text = text[: tail.start()] if tail else text
    return f"{text[: SIGNATURE_CHARS_MAX - 1]}…" if is_cut or len(text) > SIGNATURE_CHARS_MAX else text


def _begin(source: bytes, start: int) -> int:
    """Returns the start of the row, if only words (`export default`, `const`) precede the definition."""
    row = source.rfind(b"\n", max(0, start - LINE_PREFIX_BYTES_MAX), start) + 1
    if row == 0 and start > LINE_PREFIX_BYTES_MAX:
        return start
    return row if _WORDS.match(source, row, start) else start


def _balanced(text: bytes) -> bytes:
    """Returns the text up to the first line end or brace outside of brackets."""
    depth = behind = 0
    while found := _BRACKETS.search(text, behind):
        mark, behind = found.group(), found.end()
        if mark == b"<":
            behind = _behind_angles(text, behind)
        elif mark in b"([":
            depth += 1
        elif mark in b")]":
            depth -= 1
        elif depth <= 0:
            return text[: found.start()]
    return text


def _behind_angles(text: bytes, start: int) -> int:
    """Returns the end of the angle brackets that are open at an offset, or the offset if they
    do not close.
    """
    depth = 1
    for found in _ANGLES.finditer(text, start):
        depth += _DEPTHS.get(found.group(), 0)
        if depth == 0:
            return found.end()
    return start
