"""The distinct words of a file: what exact and regular-expression search ask the index for.

A word is a maximal run of word characters. Words are kept in lower case, character by character, so that the
lower case of any part of a word is a part of the lower case of the word: asking for it can never miss.
"""

import re
from collections.abc import Iterable

from prism_store.schema import ALL_WORDS, WORD_CHARS_MAX, WORD_CHARS_MIN

WORD = re.compile(rf"\w{{{WORD_CHARS_MIN},}}")
WORDS_MAX = 20_000


def distinct_words(texts: Iterable[str]) -> list[str]:
    """Sorted distinct words; long ones as windows that overlap by half; `[ALL_WORDS]` if there are too many."""
    found: set[str] = set()
    for text in texts:
        found.update(WORD.findall(text))
    words = {part for word in found for part in _windows(lower(word))}
    return sorted(words) if len(words) <= WORDS_MAX else [ALL_WORDS]


def lower(text: str) -> str:
    """Lower case character by character: `str.lower` looks at neighbours for the final sigma."""
    return text.lower() if text.isascii() else "".join(char.lower() for char in text)


def _windows(word: str) -> Iterable[str]:
    if len(word) <= WORD_CHARS_MAX:
        return (word,)
    step = WORD_CHARS_MAX // 2
    return (word[start : start + WORD_CHARS_MAX] for start in range(0, len(word) - step, step))
