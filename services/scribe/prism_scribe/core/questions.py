"""Reads a question: the symbols and paths that it names, its parts, its words, and which of them are answered."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from prism_contracts.rpc.context import ContextMode
from prism_source.words import PART, STOP_WORDS

SYMBOLS_MAX = 6
PATHS_MAX = 4
PARTS_MAX = 4
WORDS_MAX = 24
WORD_CHARS_MIN = 3
STEM_CHARS_MIN = 4
STEM_CHARS_CUT = 3
WORDS_OF_LONG_QUESTION = 14

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"`([^`\s]{2,200})`")
_PATH = re.compile(
    r"(?<![\w/.-])(?:[\w.@-]+/)+[\w.@-]*\w|(?<![\w/.-])[\w-]+\.(?:py|go|rs|ts|tsx|js|jsx|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|md|toml|ya?ml|json|sql|sh|proto)\b"
)
_SYMBOL = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+(?:\(\))?"  # Session.get
    r"|[A-Za-z_]\w*\(\)"  # get()
    r"|[A-Za-z]\w*_\w+|_\w+"  # read_file
    r"|[A-Za-z]*[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]\w+"  # readFile, ReadFile, HTTPAdapter
)
_BREAK = re.compile(
    r"[?;\n]+|\.\s+|,?\s+(?:and|then)\s+(?=(?:then|also|how|what|where|why|which|who|when|in which|at which)\b)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|its|they|them|their|this|these|those)\b", re.IGNORECASE)
_FAR = re.compile(
    r"\b(?:how (?:does|do|is|are|can|would|should)|why|what happens|explain|walk me|trace|flow|flows|end[- ]to[- ]end|impact|"
    r"affect(?:s|ed)?|depend(?:s|ency|encies)?|everything|everywhere|all (?:the )?places|refactor|migrate|implement|"
    r"redesign|overview|interact(?:s|ion)?|lifecycle)\b",
    re.IGNORECASE,
)
# Words that ask for code without saying which.
_STOP_WORDS = STOP_WORDS | frozenset(
    [
        "all",
        "also",
        "any",
        "being",
        "doing",
        "done",
        "every",
        "everything",
        "explain",
        "find",
        "give",
        "given",
        "happen",
        "happens",
        "here",
        "implement",
        "implemented",
        "just",
        "let",
        "like",
        "made",
        "make",
        "makes",
        "many",
        "me",
        "more",
        "most",
        "much",
        "must",
        "need",
        "needs",
        "no",
        "once",
        "one",
        "only",
        "other",
        "out",
        "own",
        "place",
        "places",
        "please",
        "should",
        "show",
        "some",
        "than",
        "through",
        "too",
        "trace",
        "until",
        "us",
        "very",
        "want",
        "whether",
        "work",
        "works",
        "code",
        "file",
        "files",
        "function",
        "functions",
        "class",
        "classes",
        "method",
        "methods",
    ]
)


@dataclass(frozen=True)
class AskedQuestion:
    """A question, taken apart by rules."""

    text: str
    symbols: tuple[str, ...]
    paths: tuple[str, ...]
    parts: tuple[str, ...]  # the questions in it, if there are several, each complete in itself
    words: tuple[str, ...]  # the significant words, in lower case, each once

    def missing(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Returns the words of the question that none of these texts contains, by their stems."""
        left = list(self.words)
        for text in texts:
            if not left:
                break
            lowered = text.lower()
            left = [word for word in left if stem(word) not in lowered]
        return tuple(left)

    def share(self, text: str) -> float:
        """Returns which share of the words of the question a text contains, from 0 to 1."""
        lowered = text.lower()
        return sum(stem(word) in lowered for word in self.words) / len(self.words) if self.words else 0.0


def read_question(text: str) -> AskedQuestion:
    """Returns a question taken apart. Every text has an answer: an empty one has no words."""
    paths = tuple(dict.fromkeys(found.strip(".") for found in _PATH.findall(text)))[:PATHS_MAX]
    quoted = [name for name in _QUOTED.findall(text) if name not in paths and "/" not in name]
    rest = text
    for path in paths:
        rest = rest.replace(path, " ")
    named = [found.group().removesuffix("()") for found in _SYMBOL.finditer(rest)]
    symbols = tuple(dict.fromkeys(name.removesuffix("()") for name in (*quoted, *named)))[:SYMBOLS_MAX]
    parts = list(_completed([part.strip() for part in _BREAK.split(text) if words_of(part)]))
    return AskedQuestion(
        text,
        symbols,
        paths,
        tuple(parts[:PARTS_MAX]) if len(parts) > 1 else (),
        tuple(words_of(text)[:WORDS_MAX]),
    )


def _completed(parts: Sequence[str]) -> Iterator[str]:
    """Yields parts that can be searched alone: one with a pronoun also has what the parts before it name."""
    named: list[str] = []
    before: list[str] = []
    for part in parts:
        symbols = [found.group().removesuffix("()") for found in _SYMBOL.finditer(part)]
        subject = named or before
        yield f"{part} ({' '.join(subject)})" if subject and not symbols and _PRONOUN.search(part) else part
        named, before = symbols or named, words_of(part)


def words_of(text: str) -> list[str]:
    """Returns the words that matter, in lower case, each once: identifiers are split into their parts."""
    words = (
        part.lower() for name in _IDENTIFIER.findall(text) for part in PART.findall(name.replace("_", " "))
    )
    return list(
        dict.fromkeys(word for word in words if len(word) >= WORD_CHARS_MIN and word not in _STOP_WORDS)
    )


def stem(word: str) -> str:
    """Returns the beginning of a word that its other forms share: `handler`, `handles` and `handled`."""
    return word[: max(STEM_CHARS_MIN, len(word) - STEM_CHARS_CUT)]


def route(question: AskedQuestion) -> tuple[ContextMode, str]:
    """Returns the mode that a question asks for, with the reason in a few words."""
    if question.parts:
        return ContextMode.DEEP, f"the question has {len(question.parts)} parts"
    if len(question.symbols) + len(question.paths) > 1:
        return ContextMode.DEEP, "the question names several symbols or files"
    if found := _FAR.search(question.text):
        return ContextMode.DEEP, f"`{found.group().lower()}` asks for more than one place"
    if len(question.words) >= WORDS_OF_LONG_QUESTION:
        return ContextMode.DEEP, f"the question has {len(question.words)} words that matter"
    return ContextMode.FAST, "the question asks for one place"
