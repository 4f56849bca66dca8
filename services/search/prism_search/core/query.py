"""Parses a question into its words, their stems, the symbols that it names, and its intent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.search import Intent
from prism_contracts.types import QUERY_CHARS_MAX
from prism_resolver.symbol_names import flat
from prism_search.core.words import IDENTIFIER, parts
from prism_source.words import PART, STOP_WORDS

TERMS_MAX = 32
SYMBOLS_MAX = 8

_PATH = r"[A-Za-z_][A-Za-z0-9_]*(?:(?:::|\.|->|#|\\|/)[A-Za-z_][A-Za-z0-9_]*)*[!?]?"
NAMED = re.compile(_PATH)
ONE_SYMBOL = re.compile(r"[A-Za-z_$@]\w*(?:(?:::|\.|->|#|\\)[A-Za-z_]\w*)*[!?]?(?:\(\))?")
LOOKS_LIKE_CODE = re.compile(r"[a-z][A-Z]|\w_\w|_[A-Za-z]|::|->|\w\.\w|\\|#|[A-Z]{2}[a-z]")
SEPARATORS = re.compile(r"::|\.|->|#|\\|/")

ABOUT_TESTS = re.compile(r"\b(tests?|testing|specs?|mocks?|bench\w*|fixtures?|assert\w*)\b", re.IGNORECASE)
INTENTS = (
    (
        Intent.CALLERS,
        re.compile(r"\b(who|what|where).{0,20}\b(calls?|callers?|invok\w+)\b|\bcallers of\b", re.IGNORECASE),
    ),
    (
        Intent.USAGE,
        re.compile(r"\b(usages?|used|uses|references?) (of|to|in|by)\b|\bwhere is .+ used\b", re.IGNORECASE),
    ),
    # A verb of a test alone does not lift tests: `verify token` may as well mean the code that does it.
    (
        Intent.TEST,
        re.compile(
            rf"{ABOUT_TESTS.pattern}|^verif(y|ies)\s+\w|\b(verif(y|ies)|checks?|ensures?) that\b",
            re.IGNORECASE,
        ),
    ),
    (
        Intent.SCHEMA,
        re.compile(r"\b(schemas?|models?|entit(y|ies)|tables?|migrations?|dto)\b", re.IGNORECASE),
    ),
    (
        Intent.ARCHITECTURE,
        re.compile(
            r"\b(architecture|overview|structure|layers?|components?|how (does|do|is|are) .+ (work|organi[sz]ed))\b",
            re.IGNORECASE,
        ),
    ),
    (
        Intent.DEFINITION,
        re.compile(
            r"\b(defin\w+|declar\w+|implement\w+ of)\b|^(class|def|func\w*|struct|trait|interface|enum)\s+\w+",
            re.IGNORECASE,
        ),
    ),
)


@dataclass(frozen=True)
class Query:
    """A parsed question. `terms` are its distinct words, `stems` their stems; both in order."""

    text: str
    terms: tuple[str, ...]
    stems: tuple[str, ...]
    symbols: tuple[str, ...]
    joined: frozenset[str]
    initials: frozenset[str]
    intent: Intent
    about_tests: bool

    @property
    def only_symbol(self) -> str:
        """The symbol that is the whole question; empty if the question is not just a name."""
        return self.text.removesuffix("()") if ONE_SYMBOL.fullmatch(self.text) else ""

    @property
    def first_half(self) -> tuple[str, ...]:
        """The first half of the stems, where questions name their subject."""
        return self.stems[: max(1, (len(self.stems) + 1) // 2)]


def parse_query(text: str) -> Query:
    """Parses a question. Raises EMPTY_QUERY, QUERY_TOO_LONG."""
    stripped = " ".join(text.replace("\0", " ").split())
    if not stripped:
        raise PrismError(ErrorCode.EMPTY_QUERY, "The query is empty.", "Give a few words or a name.")
    if len(text) > QUERY_CHARS_MAX:
        raise PrismError(
            ErrorCode.QUERY_TOO_LONG,
            f"The query has {len(text)} characters; the limit is {QUERY_CHARS_MAX}.",
            "Give a sentence or a name. Use grep_code for literal text.",
        )
    identifiers = IDENTIFIER.findall(stripped)
    kept = [word for word in identifiers if word.lower() not in STOP_WORDS] or identifiers
    stems = dict.fromkeys(part for word in kept for part in parts(word))
    return Query(
        text=stripped,
        terms=tuple(dict.fromkeys(kept))[:TERMS_MAX],
        stems=tuple(stems)[:TERMS_MAX],
        symbols=_symbols(stripped),
        joined=_joined([word.lower() for word in identifiers]),
        initials=_initials(stripped),
        intent=_intent(stripped),
        about_tests=bool(ABOUT_TESTS.search(stripped)),
    )


def with_corrections(query: Query, corrected: Mapping[str, str]) -> Query:
    """Returns the question with names replaced."""
    if not corrected:
        return query
    text = query.text
    for old, new in corrected.items():
        text = text.replace(old, new)
    return parse_query(text)


def _symbols(text: str) -> tuple[str, ...]:
    """Returns the names from code, as written: the whole question, or words that only code has."""
    if ONE_SYMBOL.fullmatch(text):
        return (text.removesuffix("()"),)
    return tuple(dict.fromkeys(name for name in NAMED.findall(text) if LOOKS_LIKE_CODE.search(name)))[
        :SYMBOLS_MAX
    ]


def last_name(symbol: str) -> str:
    """Returns the last component of a qualified name, without a final ! or ?."""
    return SEPARATORS.split(symbol)[-1].rstrip("!?")


def dotted(symbol: str) -> str:
    """Returns a qualified name with dots, whatever the language's separator is."""
    return SEPARATORS.sub(".", symbol)


def _joined(words: list[str]) -> frozenset[str]:
    """Returns two to four neighboring words as one: `bind action creators` -> bindactioncreators."""
    return frozenset(
        flat("".join(words[start : start + size]))
        for size in (2, 3, 4)
        for start in range(len(words) - size + 1)
    )


def _initials(text: str) -> frozenset[str]:
    """Returns initials of two to four neighbors that are no word: `server-sent events` -> sse."""
    words = [part.lower() for run in re.findall(r"[A-Za-z]+", text) for part in PART.findall(run)]
    letters = "".join(word[0] for word in words)
    found = {letters[start : start + size] for size in (2, 3, 4) for start in range(len(letters) - size + 1)}
    return frozenset(found.difference(words))


def _intent(text: str) -> Intent:
    if ONE_SYMBOL.fullmatch(text):
        return Intent.DEFINITION
    return next((intent for intent, pattern in INTENTS if pattern.search(text)), Intent.GENERAL)
