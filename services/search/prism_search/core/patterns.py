"""Exact search: a checked pattern, and the words that every matching line must hold parts of.

The index knows the distinct words of each file, in lower case. A pattern that cannot match without some run of
word characters needs only files with such a word; every line is then checked against the pattern itself, so the
index can make the answer faster and never wrong. Lines are matched one by one, as grep does.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from re import _constants as sre_constants  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any

import re2  # type: ignore[import-untyped]

from prism_contracts.errors import ErrorCode, PrismError
from prism_store.words import PART_CHARS_MAX, WORD_CHARS_MIN, WORD_RUN, lower

PATTERN_CHARS_MAX = 1_000
PROGRAM_BYTES_MAX = 8 << 20
CLAUSES_MAX = 6

# One of these parts must be inside a word of the file.
Clause = frozenset[str]


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern. All of `clauses` hold for every text that it matches."""

    expression: Any
    clauses: tuple[Clause, ...]
    literal: str = ""  # set if the pattern is plain text, case counted

    def matches(self, line: str) -> bool:
        """Whether the line, without its end, has a match."""
        if self.literal:
            return self.literal in line
        return self.expression.search(line) is not None


def compile_pattern(pattern: str, *, regex: bool, case_sensitive: bool, word: bool) -> Pattern:
    """Raises INVALID_REGEX, EMPTY_QUERY, QUERY_TOO_LONG."""
    _check(pattern)
    source = pattern if regex else re.escape(pattern) if word or not case_sensitive else pattern
    if not regex and case_sensitive and not word:
        return Pattern(None, _literal_clauses(pattern), literal=pattern)
    expression = _compile(source, case_sensitive=case_sensitive)
    if word:  # after the pattern alone was found valid: `a)(b` is valid only in these brackets
        expression = _compile(f"\\b(?:{source})\\b", case_sensitive=case_sensitive)
    folds = not case_sensitive or "(?" in pattern
    clauses = _regex_clauses(pattern) if regex else _literal_clauses(pattern)
    return Pattern(expression, tuple(c for c in clauses if not folds or all(part.isascii() for part in c)))


def _check(pattern: str) -> None:
    if not pattern:
        raise PrismError(ErrorCode.EMPTY_QUERY, "The pattern is empty.", "Say what to look for.")
    if len(pattern) > PATTERN_CHARS_MAX:
        raise PrismError(
            ErrorCode.QUERY_TOO_LONG,
            f"The pattern has {len(pattern)} characters; {PATTERN_CHARS_MAX} are allowed.",
            "Look for a shorter part of it.",
        )
    if "\n" in pattern or "\0" in pattern:
        raise PrismError(
            ErrorCode.INVALID_REGEX,
            "Lines are matched one by one: a pattern holds no line end.",
            "Look for one line.",
        )


def _compile(source: str, *, case_sensitive: bool) -> Any:
    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.log_errors = False
    options.max_mem = PROGRAM_BYTES_MAX
    try:
        return re2.compile(source, options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise PrismError(
            ErrorCode.INVALID_REGEX,
            f"The pattern is not valid: {reason}.",
            "RE2 syntax is understood: no look-around and no back-references. Without regex=true it is plain text.",
        ) from error


def _literal_clauses(text: str) -> tuple[Clause, ...]:
    runs = [run for run in WORD_RUN.findall(text) if len(run) >= WORD_CHARS_MIN]
    longest = sorted(runs, key=len, reverse=True)[:CLAUSES_MAX]
    return tuple(frozenset({lower(run)[:PART_CHARS_MAX]}) for run in longest)


def _regex_clauses(pattern: str) -> tuple[Clause, ...]:
    # POSIX classes and \Q…\E are read otherwise by Python's parser: such patterns go without the index.
    if "[:" in pattern or "\\Q" in pattern or "\\pN" in pattern:
        return ()
    try:
        clauses = _clauses(sre_parser.parse(pattern))
    except (re.error, OverflowError, RecursionError):
        return ()
    return tuple(sorted(clauses, key=lambda clause: -min(map(len, clause)))[:CLAUSES_MAX])


def _clauses(nodes: Iterable[tuple[Any, Any]]) -> list[Clause]:
    """Clauses that hold for every match of a sequence of nodes of Python's regular-expression parser."""
    found: list[Clause] = []
    run: list[str] = []
    for operation, argument in nodes:
        if operation is sre_constants.LITERAL:
            run.append(chr(argument))
            continue
        found += _literal_clauses("".join(run))
        run = []
        found += _node_clauses(operation, argument)
    return found + list(_literal_clauses("".join(run)))


def _node_clauses(operation: Any, argument: Any) -> list[Clause]:
    if operation is sre_constants.SUBPATTERN:
        return _clauses(argument[3])
    if operation in (sre_constants.MAX_REPEAT, sre_constants.MIN_REPEAT):
        return _clauses(argument[2]) if argument[0] > 0 else []
    if operation is sre_constants.BRANCH:
        return _branch_clauses(argument[1])
    return []


def _branch_clauses(branches: Iterable[Iterable[tuple[Any, Any]]]) -> list[Clause]:
    """One clause that holds whichever branch matches: the best part of each."""
    parts: set[str] = set()
    for branch in branches:
        clauses = _clauses(branch)
        if not clauses:
            return []
        parts |= max(clauses, key=lambda clause: min(map(len, clause)))
    return [frozenset(parts)]
