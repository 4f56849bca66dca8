"""Matches the words of a query with files, by their paths and the names of their definitions."""

import re

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import Graph, StringTable
from prism_atlas.core.links import Weights

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
WORDS_MAX = 16
WORD_CHARS_MIN = 2
PLURAL_CHARS_MIN = 4
STOP_WORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "get", "has", "have", "how", "i", "in", "into", "is", "it", "its", "not", "of", "on", "or", "our", "so", "that", "the", "their", "then", "this", "to", "use", "used", "was", "we", "what", "when", "where", "which", "who", "why", "will", "with", "you"}
)  # fmt: skip
# A match in the path counts more than one in a symbol.
PATH_WEIGHT = 3.0
SYMBOLS_COUNTED_MAX = 3


def words_of(query: str) -> list[str]:
    """Returns the distinct words of a query: identifiers split, plurals made singular, stop words removed."""
    found = dict.fromkeys(_singular(word.lower()) for word in _WORD.findall(query))
    return [word for word in found if word not in STOP_WORDS and len(word) >= WORD_CHARS_MIN][:WORDS_MAX]


def file_relevance(graph: Graph, words: list[str]) -> Weights:
    """Returns by file how well it matches the words; rare words count more."""
    relevance = np.zeros(len(graph.files))
    text = graph.strings.data.tobytes().lower()  # UTF-8, of which this changes only ASCII letters
    for word in words:
        has_word = _strings_with(graph.strings, text, word.encode())
        symbols = np.bincount(graph.symbols.file[has_word[graph.symbols.name]], minlength=len(graph.files))
        found = PATH_WEIGHT * has_word[graph.files.path] + np.minimum(symbols, SYMBOLS_COUNTED_MAX)
        relevance += found * np.log1p(len(graph.files) / max(1, int(np.count_nonzero(found))))
    return relevance


def _strings_with(strings: StringTable, text: bytes, word: bytes) -> NDArray[np.bool_]:
    """Returns by string whether it contains a word."""
    starts = np.fromiter((found.start() for found in re.finditer(re.escape(word), text)), np.int64)
    string = np.searchsorted(strings.ends, starts, side="right")
    has_word = np.zeros(len(strings), np.bool_)
    has_word[string[strings.ends[string] >= starts + len(word)]] = True
    return has_word


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > PLURAL_CHARS_MIN else word
