"""The operator's settings about secrets: additional rules, and which files are withheld. Pure."""

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import re2  # type: ignore[import-untyped]

from prism_contracts.errors import ErrorCode, PrismError

# Raise this when the rules change, so that the next import reads every file again.
RULES_VERSION = "2"

OWN_RULES_MAX = 50
OWN_PATTERN_CHARS_MAX = 500
FILE_PATTERNS_MAX = 100
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class OwnRule(NamedTuple):
    """A rule of the operator.

    The secret is the first group of the pattern, or the whole match if it has none.
    """

    name: str
    pattern: str


@dataclass(frozen=True)
class SecretPolicy:
    """Rules and file patterns besides the built-in ones.

    `withhold` is whether known secret files are left out.
    """

    rules: tuple[OwnRule, ...] = ()
    withhold: bool = True
    file_patterns: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """The version of the redaction, a part of the content address of indexed files."""
        if self == DEFAULT_POLICY:
            return RULES_VERSION
        own = repr((self.rules, self.withhold, self.file_patterns))
        return f"{RULES_VERSION}-{hashlib.sha256(own.encode()).hexdigest()[:8]}"

    def has_file(self, path: str) -> bool:
        """Returns whether one of the operator's patterns matches the path."""
        return any(pattern.search(path) for pattern in self._files)

    @cached_property
    def _files(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re2.compile(pattern) for pattern in self.file_patterns)


DEFAULT_POLICY = SecretPolicy()


def read_policy(rules: str, withhold: bool, file_patterns: str) -> SecretPolicy:
    """Parses three settings. `rules` has one `name=pattern` per line, `file_patterns` one pattern per line.

    Raises PrismError: INVALID_ARGUMENT, naming the line.
    """
    own = tuple(_own_rule(line) for line in _lines(rules, OWN_RULES_MAX))
    return SecretPolicy(
        own, withhold, tuple(_pattern(line) for line in _lines(file_patterns, FILE_PATTERNS_MAX))
    )


def _lines(text: str, count_max: int) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > count_max:
        raise _refused(f"There are {len(lines)} patterns; the limit is {count_max}.")
    return lines


def _own_rule(line: str) -> OwnRule:
    name, _, pattern = line.partition("=")
    if not _NAME.fullmatch(name.strip()):
        raise _refused(
            f"{name.strip()!r} is not a valid rule name: use at most 40 lower-case letters, digits and hyphens."
        )
    return OwnRule(name.strip(), _pattern(pattern.strip()))


def _pattern(pattern: str) -> str:
    options = re2.Options()
    options.log_errors = False
    if not 0 < len(pattern) <= OWN_PATTERN_CHARS_MAX:
        raise _refused(f"A pattern has {len(pattern)} characters, not 1 to {OWN_PATTERN_CHARS_MAX}.")
    try:
        if re2.compile(pattern, options).fullmatch(""):
            raise _refused(f"The pattern {pattern!r} matches an empty string.")
    except re2.error as error:
        raise _refused(f"The pattern {pattern!r} is not valid RE2: {error}.") from error
    return pattern


def _refused(problem: str) -> PrismError:
    return PrismError(
        ErrorCode.INVALID_ARGUMENT,
        problem,
        "Correct PRISM_SECRET_PATTERNS or PRISM_SECRET_FILE_PATTERNS: https://github.com/google/re2/wiki/Syntax",
    )
