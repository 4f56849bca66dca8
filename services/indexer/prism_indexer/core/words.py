"""The distinct words of a file: what exact and regular-expression search ask the index for.

A word is a maximal run of word characters, in lower case.
"""

from collections.abc import Iterable

from prism_store.words import ALL_WORDS, WORD, lower, windows

WORDS_MAX = 20_000


def distinct_words(texts: Iterable[str]) -> list[str]:
    """Sorted distinct words; long ones as windows that overlap by half; `[ALL_WORDS]` if there are too many."""
    found: set[str] = set()
    for text in texts:
        found.update(WORD.findall(text))
    words = {part for word in found for part in windows(lower(word))}
    return sorted(words) if len(words) <= WORDS_MAX else [ALL_WORDS]
