"""Words as the index keeps them, said once for who writes them and who asks for them.

Exact search asks for files with a word that contains a part of the pattern. It misses nothing only if both sides
lower their letters alike, character by character: the lower case of a part is then a part of the lower case.
"""

import re

WORD_CHARS_MIN = 3
# Longer runs of word characters (base64, minified code) are indexed in windows of this size that overlap by half.
WORD_CHARS_MAX = 128
# A longer part could lie across two windows.
PART_CHARS_MAX = WORD_CHARS_MAX // 2
# In place of the words of a file that has more of them than are worth listing: exact search always looks at it.
ALL_WORDS = "*"

WORD_RUN = re.compile(r"\w+")
WORD = re.compile(rf"\w{{{WORD_CHARS_MIN},}}")

# The one letter outside ASCII that is the same as an ASCII letter when case does not count, and that str.lower keeps.
LONG_S = "\u017f"


def lower(text: str) -> str:
    """Lower case, character by character: `str.lower` looks at neighbours for the final sigma."""
    if text.isascii():
        return text.lower()
    return "".join("s" if char == LONG_S else char.lower() for char in text)


def windows(word: str) -> list[str]:
    """A lower-case word, or its windows if it is longer than WORD_CHARS_MAX."""
    if len(word) <= WORD_CHARS_MAX:
        return [word]
    return [
        word[start : start + WORD_CHARS_MAX] for start in range(0, len(word) - PART_CHARS_MAX, PART_CHARS_MAX)
    ]
