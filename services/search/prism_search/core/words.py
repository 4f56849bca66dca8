"""Words of code and of questions: identifiers split into parts, stems, and degrees of likeness.

The rules were measured on a public code-search benchmark (docs/decisions/0003-ranking.md).
"""

import re
from functools import lru_cache

from prism_source.words import PART

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
VOWELS = frozenset("aeiouy")

EQUAL, PREFIX, KIN = 1.0, 0.8, 0.6
STEM_CHARS_MIN = 4
PREFIX_CHARS_MIN = 3
PREFIX_SHARE_MIN = 0.28
KIN_CHARS_MIN = 5
KIN_SHARE_MIN = 0.6
# Similar stems begin with the same characters, at least as many as the lowest threshold above.
HEAD_CHARS = PREFIX_CHARS_MIN
HEAD_ALTERED_CHARS_MAX = 5  # flies -> fly
_DIGITS = {char: number for number, char in enumerate("0123456789abcdefghijklmnopqrstuvwxyz", start=1)}


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Returns the light stem of a lower-case English word: removes plurals, -ing, -ed, final e and y."""
    if len(word) < STEM_CHARS_MIN or not word.isalpha():
        return word
    word = _without_ending(_singular(word))
    if len(word) > STEM_CHARS_MIN and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) >= STEM_CHARS_MIN and word.endswith("y") else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > STEM_CHARS_MIN:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_ending(word: str) -> str:
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= PREFIX_CHARS_MIN and VOWELS.intersection(root):
            doubled = len(root) > PREFIX_CHARS_MIN and root[-1] == root[-2] and root[-1] not in "lsz"
            return root[:-1] if doubled else root
    return word


@lru_cache(maxsize=20_000)
def parts(identifier: str) -> tuple[str, ...]:
    """Returns the stems of an identifier's parts: `getUserNames` -> get, user, name."""
    return tuple(stem(part.lower()) for part in PART.findall(identifier))


@lru_cache(maxsize=50_000)
def stems_of(text: str) -> frozenset[str]:
    """Returns the distinct stems of a short text such as a file name."""
    return frozenset(part for identifier in IDENTIFIER.findall(text) for part in parts(identifier))


def head_code(head: str) -> int:
    """Returns a unique number for up to `HEAD_CHARS` lower-case letters or digits."""
    code = 0
    for char in head:
        code = code * (len(_DIGITS) + 1) + _DIGITS[char]
    return code


@lru_cache(maxsize=20_000)
def stem_head(part: str) -> int:
    """Returns the `head_code` of the stem of an identifier's part."""
    word = part.lower()
    # A longer word begins like its stem; computing the stem of each would be slow.
    return head_code((stem(word) if len(word) <= HEAD_ALTERED_CHARS_MAX else word)[:HEAD_CHARS])


def likeness(a: str, b: str) -> float:
    """Returns how similar two stems are: equal, one a prefix of the other (auth, authentication), or akin."""
    if a == b:
        return EQUAL
    if not (a.isalpha() and b.isalpha()):
        return 0.0
    short, long = sorted((a, b), key=len)
    if long.startswith(short):
        near = len(short) >= PREFIX_CHARS_MIN and len(short) >= PREFIX_SHARE_MIN * len(long)
        return PREFIX if near else 0.0
    common = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    kin = common >= KIN_CHARS_MIN and common >= len(short) - 2 and common >= KIN_SHARE_MIN * len(long)
    return KIN if kin else 0.0
