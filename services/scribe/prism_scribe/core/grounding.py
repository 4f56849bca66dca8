"""Whether a sentence is held by the evidence that it names, by rules.

Each name and number of a sentence must occur in its evidence, and so must most of its other words that say
something. The rules know no grammar: a sentence that says the opposite of its evidence in its words passes.
"""

import re
from collections.abc import Iterable

# The share of a sentence's ordinary words that must occur, with names or numbers in it and without.
WORDS_SHARE_MIN = 0.4
WORDS_SHARE_ALONE_MIN = 0.6
WORD_CHARS_MIN = 4
STEM_CHARS_MIN = 4
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])")
# Names as they are written in code, and capitalised words that do not begin a sentence.
_NAME = re.compile(
    r"`([^`]+)`"
    r"|\"([^\"]+)\""
    r"|((?:[\w@-]+/)+[\w@.-]*\w)"  # a path
    r"|([A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+)"  # a.b
    r"|([A-Za-z]\w*_\w*|_\w+|[a-z]+[A-Z]\w*|[A-Z]\w*[a-z][A-Z]\w*|[A-Z][A-Z0-9]+\w*|[A-Za-z]+\d\w*)"
    r"|((?<=[a-z,;:)] )[A-Z][a-z]+\w*)"
)
_PART = re.compile(r"[A-Za-z_]\w*|\d+(?:[.,]\d+)*")
_WORD = re.compile(rf"[A-Za-z]{{{WORD_CHARS_MIN},}}")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_ENDINGS = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "edly",
    "ied",
    "ies",
    "ed",
    "es",
    "s",
    "ly",
    "er",
    "e",
)
_NUMBER_WORDS = {
    "zero": "0",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "twice": "2",
    "thrice": "3",
    "hundred": "100",
    "thousand": "1000",
}
# Words of explanations, which say nothing of what is explained.
_COMMON = frozenset(
    [
        "about",
        "after",
        "again",
        "also",
        "always",
        "another",
        "because",
        "before",
        "being",
        "between",
        "both",
        "cannot",
        "case",
        "cases",
        "code",
        "could",
        "does",
        "done",
        "down",
        "each",
        "either",
        "else",
        "every",
        "from",
        "have",
        "here",
        "into",
        "itself",
        "just",
        "like",
        "makes",
        "many",
        "more",
        "most",
        "must",
        "never",
        "only",
        "other",
        "over",
        "same",
        "should",
        "since",
        "some",
        "such",
        "than",
        "that",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "thus",
        "under",
        "until",
        "upon",
        "used",
        "uses",
        "using",
        "very",
        "what",
        "when",
        "where",
        "whether",
        "which",
        "while",
        "will",
        "with",
        "within",
        "without",
        "would",
        "your",
        "file",
        "function",
        "method",
        "class",
        "module",
        "object",
        "called",
        "calls",
        "call",
        "defined",
        "defines",
        "define",
        "returns",
        "return",
        "value",
        "values",
        "given",
        "says",
        "describes",
        "means",
        "first",
        "second",
        "last",
        "next",
    ]
)


def holds(sentence: str, evidence: Iterable[str]) -> bool:
    """Whether the evidence of a sentence has its names, its numbers and most of its words."""
    text = " ".join(evidence)
    folded = text.casefold()
    parts = {part.casefold() for part in _PART.findall(text)}
    numbers = {_number(part) for part in _NUMBER.findall(text)} | _numbers_of_words(text)
    names = [next(filter(None, groups)) for groups in _NAME.findall(sentence)]
    rest = _NAME.sub(" ", sentence)
    said = {_number(number) for number in _NUMBER.findall(rest)} | _numbers_of_words(rest)
    if not (all(_has_name(name.casefold(), folded, parts) for name in names) and said <= numbers):
        return False
    words, known = _stems(rest), set(_stems(text))
    if not words:
        return bool(names)
    share = WORDS_SHARE_MIN if names or said else WORDS_SHARE_ALONE_MIN
    return sum(word in known for word in words) >= share * len(words)


def _has_name(name: str, folded: str, parts: set[str]) -> bool:
    """Whether a name occurs: as it is, or each of its parts as a whole word."""
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded):
        return True
    inner = [part.casefold() for part in _PART.findall(name)]
    return bool(inner) and all(part in parts for part in inner)


def _number(text: str) -> str:
    return text.replace(",", "").rstrip("0").rstrip(".") if "." in text else text.replace(",", "")


def _numbers_of_words(text: str) -> set[str]:
    return {_NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text.casefold()) if word in _NUMBER_WORDS}


def _stems(text: str) -> list[str]:
    """Returns the stems of the words of a text, also of those within a name."""
    humps = " ".join(_HUMP.findall(text))
    words = (word.casefold() for word in _WORD.findall(humps))
    return [_stem(word) for word in words if word not in _COMMON and word not in _NUMBER_WORDS]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_CHARS_MIN - 1:
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > STEM_CHARS_MIN and word[-1] == word[-2] else word
