"""Validates and compiles patterns for exact search, with the clauses to look up in the signatures of files.

A pattern means what it means to ripgrep, because the same engine matches it: Rust's `regex`, which
pydantic-core includes (docs/decisions/0013-patterns-on-rust-regex.md). It takes time linear in the text,
whatever the pattern.

A signature holds which sequences of three bytes a file has. A pattern that cannot match without some piece of
text needs only the files that may hold it. Every line is still checked against the pattern itself, so
signatures make an answer faster and never wrong. Lines are matched one by one, as in grep.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from pydantic_core import SchemaError, SchemaValidator, core_schema

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import PATTERN_CHARS_MAX
from prism_search.core.clauses import Clause, Reading, best_clauses, read_regex

# Characters and classes of a pattern with its repetitions written out.
PATTERN_SIZE_MAX = 1_000
# What plain text rarely has: classes, repetitions of any character, alternatives, escapes, anchors.
_REGEX_SIGNS = re.compile(
    r"\\[sSwWdDbB.()\[\]{}|*+?$^]|\.[*+]|[)\w]\||\|[(\w]|\[[^\]]+\]|\(\?|^\^|\$$|\w\?\w"
)
# A pattern of many Unicode classes takes some 10 MiB.
PATTERNS_KEPT_MAX = 20


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern. All of `clauses` hold for every text that it matches."""

    source: str  # as the engine takes it
    expression: SchemaValidator
    clauses: tuple[Clause, ...]
    size: int  # matching a text takes at worst the product of both sizes
    by_line: bool  # never tried on several lines at once: it may match where the text begins or ends

    def matches(self, line: str) -> bool:
        """Whether the line, without its end, has a match."""
        return self.expression.isinstance_python(line)

    def may_match(self, lines: str) -> bool:
        """False only if none of these lines has a match."""
        return self.by_line or self.matches(lines)


@lru_cache(PATTERNS_KEPT_MAX)
def compile_pattern(pattern: str, *, regex: bool, case_sensitive: bool, word: bool) -> Pattern:
    """Returns a compiled pattern. Raises INVALID_REGEX, EMPTY_QUERY, QUERY_TOO_LONG."""
    _check(pattern)
    source = pattern if regex else re.escape(pattern)
    # With `m`, several lines can be tried at once; for a single line it changes nothing.
    flags = "(?m)" if case_sensitive else "(?mi)"
    whole = flags + source
    expression = _compile(whole)
    reading = read_regex(source)
    _check_reading(reading)
    if word:  # after the pattern alone was found valid: `a)(b` is valid only in these brackets
        whole = flags + r"\b{start-half}(?:" + source + r")\b{end-half}"
        expression = _compile(whole)
    folds = not case_sensitive or "i" in reading.flags
    return Pattern(
        whole,
        expression,
        clauses=best_clauses(clause for clause in reading.clauses if not folds or _is_ascii(clause)),
        size=reading.size if regex or word else 1,  # plain text is found in one pass, however long it is
        by_line=reading.has_text_end or not reading.flags.isdisjoint({"R", "-m"}),
    )


def regex_meant(pattern: str) -> str:
    r"""Returns the regex that a literal pattern looks like, if it compiles and needs some text to match.

    Empty if it looks like plain text. `\|` is an alternative in the basic syntax of grep.
    """
    if not _REGEX_SIGNS.search(pattern):
        return ""
    regex = pattern.replace("\\|", "|")
    try:
        compiled = compile_pattern(regex, regex=True, case_sensitive=True, word=False)
    except PrismError:
        return ""
    return "" if compiled.matches("") else regex


def _check(pattern: str) -> None:
    if not pattern:
        raise PrismError(ErrorCode.EMPTY_QUERY, "The pattern is empty.", "Give a pattern.")
    if len(pattern) > PATTERN_CHARS_MAX:
        raise PrismError(
            ErrorCode.QUERY_TOO_LONG,
            f"The pattern has {len(pattern)} characters; the limit is {PATTERN_CHARS_MAX}.",
            "Search for a shorter part of it.",
        )
    if "\n" in pattern or "\0" in pattern:
        _refuse_line_end()


def _check_reading(reading: Reading) -> None:
    if reading.has_line_end:
        _refuse_line_end()
    if "x" in reading.flags:
        raise PrismError(
            ErrorCode.INVALID_REGEX,
            "The flag x is not supported.",
            "Write the pattern without spaces and comments.",
        )
    if reading.size > PATTERN_SIZE_MAX:
        raise PrismError(
            ErrorCode.INVALID_REGEX,
            f"The pattern has {reading.size} parts when its repetitions are written out; "
            f"{PATTERN_SIZE_MAX} are allowed.",
            "Repeat fewer times, or use * or +.",
        )


def _refuse_line_end() -> NoReturn:
    raise PrismError(
        ErrorCode.INVALID_REGEX,
        "Lines are matched one by one: a pattern cannot contain a line end or NUL.",
        "Search for one line; context_lines adds its neighbors.",
    )


def _compile(source: str) -> SchemaValidator:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=source, regex_engine="rust-regex", strict=True))
    except SchemaError as error:
        reason = str(error).rpartition("error: ")[2].rpartition("SchemaError: ")[2].strip().rstrip(".")
        raise PrismError(
            ErrorCode.INVALID_REGEX,
            f"The pattern is not valid: {reason}.",
            "The syntax is that of ripgrep, without look-around and back-references; escape a literal { as \\{. "
            "Without regex=true the pattern is literal text.",
        ) from error


def _is_ascii(clause: Clause) -> bool:
    """Whether all pieces are ASCII: other letters may match letters with another lower case."""
    return all(piece.isascii() for piece in clause)
