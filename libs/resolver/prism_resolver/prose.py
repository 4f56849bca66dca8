"""Extracts prose from files: the first comments of a file, and the first sentence of a docstring."""

import re
from collections.abc import Iterator

SENTENCE_CHARS_MAX = 160
COMMENTS_CHARS_MAX = 400
OPENING_CHARS_MAX = 6_000  # at the start of a file, searched for its first comments

# Start of a block comment or docstring -> its end.
_CLOSERS = {"/*": "*/", '"""': '"""', "'''": "'''", "{-": "-}", "<!--": "-->"}
# Start of a block comment, or a run of line comments.
_COMMENT_START = re.compile(
    r'/\*|"""|\'\'\'|\{-(?!#)|<!--'
    r"|(?:^[ \t]*(?://|--|;|%|#(?!\[|!|[ \t]*(?:include|define|undef|if|elif|else|endif|pragma|import|region)\b))[^\n]*\n?)+",
    re.MULTILINE,
)
_DECORATION = re.compile(r"""^[\s/*#;%"'{}|!<>=~-]+|[\s/*#"'{}|<>=~-]+$""")
# Licence and copyright lines.
_LICENCE = re.compile(
    r"copyright|licen[sc]|spdx|warrant|redistribut|permission|merchantab|liable|liability|damages|all rights|furnished"
    r"|substantial portions|without restriction|\bas is\b|and associated documentation|conditions are met|@author"
    r"|copies of the software|fitness for|in no event|other dealings|applicable law|governed by|maintainer *:|stability *:"
    r"|portability *:",
    re.IGNORECASE,
)
# Directives for linters, compilers and editors, and standalone marks.
_DIRECTIVE = re.compile(
    r"(?:eslint|tslint|jshint|jscs|biome|prettier|stylelint|istanbul|c8 ignore|v8 ignore|webpack|@ts-|pylint|flake8|mypy|ruff|noqa|type: ignore"
    r"|rubocop|frozen_string_literal|phpcs|swiftlint|clang-format|nolint|coding[:=]|vim?:|region\b)|@\w+$|end(?:region)?$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<[^>]{1,80}>|[`*{}@]")
_SENTENCE = re.compile(r".{20,}?[.!?](?=\s)|.+", re.DOTALL)
# Allowed before the first comment: whitespace, and a line for the system or the compiler.
_LEADING = re.compile(r"(?:\s++|^#![^\n]*+\n?)*+", re.MULTILINE)


def first_comments(opening: str) -> str:
    """Returns the text of the first comments of a file, without licences.

    `opening` is the start of the file.
    """
    text = opening[:OPENING_CHARS_MAX]
    lines = (line for start, end in _comments(text) for line in text[start:end].splitlines())
    plain = (_DECORATION.sub("", line) for line in lines if not _LICENCE.search(line))
    return " ".join(filter(None, plain))[:COMMENTS_CHARS_MAX]


def leading_sentence(opening: str) -> str:
    """Returns the first sentence of a file's leading comments, without licences; empty if there is none."""
    at = 0
    for start, end in _comments(opening):
        if not _LEADING.fullmatch(opening, at, start):
            break
        prose = "\n".join(line for line in opening[start:end].splitlines() if not _is_directive(line))
        if sentence := first_sentence(first_comments(prose)):
            return sentence
        at = end
    return ""


def first_sentence(prose: str) -> str:
    """Returns the first sentence of a docstring, without markup; empty if it is about the licence."""
    plain = "\n".join(line for line in prose.splitlines() if not _is_directive(line))
    match = _SENTENCE.match(" ".join(_MARKUP.sub("", plain).split()))
    sentence = match[0][:SENTENCE_CHARS_MAX] if match else ""
    return "" if _LICENCE.search(sentence) else sentence


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of each comment and docstring.

    Linear time: a missing end is searched only once.
    """
    at, unclosed = 0, set()
    while found := _COMMENT_START.search(text, at):
        at, closer = found.end(), _CLOSERS.get(found[0])
        if closer in unclosed:
            continue
        if closer and (end := text.find(closer, at)) < 0:
            unclosed.add(closer)
            continue
        at = end + len(closer) if closer else at
        yield found.start(), at


def _is_directive(line: str) -> bool:
    """Returns whether a comment line is a directive for tools."""
    return _DIRECTIVE.match(_DECORATION.sub("", line)) is not None
