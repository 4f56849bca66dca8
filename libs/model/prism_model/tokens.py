"""Texts in, bags of token ids out; what was learned about identifiers is kept between calls.

An identifier (a run of ASCII letters and digits) is split into words (`getUserName` -> get, user, name), a
word into pieces of the vocabulary. Two neighbouring words that the vocabulary has as one entry (`status
code`, `statusCode`) add one more token. A bag is a set: each token once, with its count, in order of its id.

The result never depends on other calls: the memo changes the speed only.
"""

import json
import re
from array import array
from collections.abc import Sequence
from operator import add, mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Distinct identifiers and words kept before the memo starts over: 12 MB. A large repository has many more,
# but the frequent ones are learned again within a few files: without a limit it would be a tenth faster.
IDENTIFIERS_MAX = 20_000
WORDS_MAX = 20_000

# Texts per call, so that a row and a token fit into one 32-bit number, which sorts ten times as fast as 64
# bits.
TEXTS_MAX = 256
VOCABULARY_MAX = 2**31 // (TEXTS_MAX + 1)

JOINED_MARK = "="  # a vocabulary entry for two adjacent words
_PIECE_MARK = "##"  # a vocabulary entry that continues a word
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ALNUM = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ONLY_ALNUM = bytes(code if code in _ALNUM else ord(" ") for code in range(256))

# The hash of a word is the sum of code x base^position, modulo 2^64, so that the hash of two adjacent words
# follows from theirs: hash(left) + base^length(left) x hash(right). Characters past the table do not count.
_HASH_MASK = (1 << 64) - 1
_HASH_CHARS_MAX = 64
_HASH_POWERS = tuple(pow(0x9E3779B97F4A7C15, exponent, 1 << 64) for exponent in range(_HASH_CHARS_MAX + 1))
_FILTER_BITS = 18
_FILTER_SHIFT = np.uint64(64 - _FILTER_BITS)

Ints = NDArray[np.int32]


class Vocabulary:
    """The entries of a WordPiece vocabulary by name, and the split of a word into them."""

    def __init__(self, entries: dict[str, int], unknown: str, word_chars_max: int) -> None:
        self.size = len(entries)
        self.joined = {
            name[1:]: token
            for name, token in entries.items()
            if name.startswith(JOINED_MARK) and len(name) > 1
        }
        self._entries = entries
        self._unknown = (entries[unknown],)
        self._word_chars_max = word_chars_max

    @classmethod
    def parse(cls, data: bytes) -> "Vocabulary":
        """Reads a tokenizer.json of the tokenizers library.

        Raises KeyError, TypeError or ValueError for anything but such a vocabulary.
        """
        model = json.loads(data)["model"]
        if model["type"] != "WordPiece" or model["continuing_subword_prefix"] != _PIECE_MARK:
            raise ValueError("not a WordPiece vocabulary")
        entries = model["vocab"]
        if sorted(entries.values()) != list(range(len(entries))):
            raise ValueError("token ids are not 0, 1, 2, ...")
        if len(entries) > VOCABULARY_MAX:
            raise ValueError(f"{len(entries)} tokens, at most {VOCABULARY_MAX}")
        return cls(entries, model["unk_token"], model["max_input_chars_per_word"])

    def pieces(self, word: str) -> tuple[int, ...]:
        """Returns the longest entry that starts the word, then the longest that continues it, and so on."""
        whole = self._entries.get(word)
        if whole is not None and len(word) <= self._word_chars_max:
            return (whole,)
        if len(word) > self._word_chars_max:
            return self._unknown
        return self._cut(word)

    def _cut(self, word: str) -> tuple[int, ...]:
        found, start, mark = [], 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                token = self._entries.get(mark + word[start:end])
                if token is not None:
                    break
            else:
                return self._unknown
            found.append(token)
            start, mark = end, _PIECE_MARK
        return tuple(found)


class Bags(NamedTuple):
    """Bag `i` is `tokens[starts[i]:starts[i + 1]]` with the same slice of `counts`, in order of token id."""

    starts: NDArray[np.int64]
    tokens: Ints
    counts: NDArray[np.int64]


class _Word(NamedTuple):
    tokens: tuple[int, ...]
    hash: int
    power: int  # the factor for the hash of the next word


class Tokenizer:
    """Turns texts into bags. Not safe for two threads at once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._identifiers = _Identifiers(vocabulary)
        self._joined = _JoinedPairs(vocabulary.joined)
        self._size = vocabulary.size

    def bags(self, texts: Sequence[str]) -> Bags:
        """Returns one bag per text. A few dozen texts per call are best: all their tokens are in memory at
        once.
        """
        if len(texts) > TEXTS_MAX:
            raise ValueError(f"{len(texts)} texts in a call, at most {TEXTS_MAX}")
        self._identifiers.make_room()
        place = self._identifiers.__getitem__
        found = [np.empty(0, np.int32)]
        for text in texts:
            names = split_identifiers(text)
            found.append(np.fromiter(map(place, names), np.int32, len(names)))
        sizes = np.array([len(part) for part in found[1:]], np.int32)
        return self._count(np.concatenate(found), sizes)

    def _count(self, at: Ints, sizes: Ints) -> Bags:
        """Encode a token of a row as one number, row x vocabulary + token: sorted, equal
        tokens are adjacent.
        """
        bases = np.arange(len(sizes) + 1, dtype=np.int32) * np.int32(self._size)
        base = np.repeat(bases[:-1], sizes)
        tokens, lengths = self._identifiers.tokens(at)
        pair, joined = self._across(at, base)
        keys = np.concatenate([np.repeat(base, lengths) + tokens, base[pair] + joined])
        keys.sort()
        is_new = np.ones(len(keys) + 1, np.bool_)  # and one past the last, which ends its run
        np.not_equal(keys[1:], keys[:-1], out=is_new[1:-1])
        first = np.flatnonzero(is_new)
        unique = keys[first[:-1]]
        starts = np.searchsorted(unique, bases)
        return Bags(
            starts=starts,
            tokens=unique - np.repeat(bases[:-1], starts[1:] - starts[:-1]),
            counts=first[1:] - first[:-1],
        )

    def _across(self, at: Ints, base: Ints) -> tuple[NDArray[np.int64], Ints]:
        """Returns joined pairs of the last word of an identifier and the first of the next one in the same
        text.
        """
        index, tokens = self._joined.find(self._identifiers.hashes_across(at))
        same = base[index] == base[index + 1]
        return index[same], tokens[same]


def split_identifiers(text: str) -> list[bytes]:
    """Returns runs of ASCII letters and digits, in order. Anything else separates."""
    return text.encode("ascii", "replace").translate(_ONLY_ALNUM).split()


def split_words(identifier: str) -> list[str]:
    """Returns the lower-case words of an identifier: `HTTPServer2` -> http, server, 2."""
    if identifier.islower() and identifier.isalpha() and identifier.isascii():
        return [identifier]
    return [word.lower() for word in _WORD.findall(identifier)]


class _Identifiers(dict[bytes, int]):
    """The memo: identifier -> its offset in flat arrays of tokens and hashes. Grows with each lookup."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._words = _Words(vocabulary)
        self._forget()

    def make_room(self) -> None:
        """Called between batches, so that offsets stay valid within one."""
        if len(self) > IDENTIFIERS_MAX:
            self._forget()
        if len(self._words) > WORDS_MAX:
            self._words.clear()

    def tokens(self, at: Ints) -> tuple[Ints, Ints]:
        """Returns the concatenated tokens of the identifiers at these offsets, and the number
        per identifier.
        """
        starts = np.frombuffer(self._starts, np.int32)
        low = starts[at]
        sizes = starts[at + 1] - low
        ends = np.cumsum(sizes, dtype=np.int32)
        where = np.repeat(low + sizes - ends, sizes)
        where += np.arange(len(where), dtype=np.int32)
        return _view(self._tokens)[where], sizes

    def hashes_across(self, at: NDArray[np.int32]) -> NDArray[np.uint64]:
        """Returns for each two adjacent identifiers the hash of the last word of one and the first of the
        other.
        """
        if len(at) == 0:
            return np.empty(0, np.uint64)
        first, last, power = np.frombuffer(self._hashes, np.uint64).reshape(-1, 3).T
        left, right = at[:-1], at[1:]
        return last[left] + power[left] * first[right]

    def __missing__(self, identifier: bytes) -> int:
        names = split_words(identifier.decode("ascii"))
        words = [*map(self._words.__getitem__, names)]
        for word in words:
            self._tokens.extend(word.tokens)
        if len(names) > 1:
            self._tokens.extend(self._inside(names))
        self._starts.append(len(self._tokens))
        self._hashes.extend((words[0].hash, words[-1].hash, words[-1].power))
        self[identifier] = place = len(self)
        return place

    def _inside(self, names: list[str]) -> list[int]:
        joined = self._vocabulary.joined
        return [joined[both] for both in map(add, names, names[1:]) if both in joined]

    def _forget(self) -> None:
        self.clear()
        self._starts = array("i", [0])
        self._tokens = array("i")
        # Three per identifier: the hash of its first word, of its last word, and the power of the last.
        self._hashes = array("Q")


class _Words(dict[str, _Word]):
    """The memo of words. Grows with each lookup."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._pieces = vocabulary.pieces

    def __missing__(self, name: str) -> _Word:
        self[name] = word = _Word(self._pieces(name), *_hash(name))
        return word


class _JoinedPairs:
    """The joined entries by hash: a small filter that rejects most others, then a search."""

    def __init__(self, joined: dict[str, int]) -> None:
        hashes = np.array([_hash(name)[0] for name in joined], np.uint64)
        order = np.argsort(hashes)
        self._hashes = hashes[order]
        self._tokens = np.array(list(joined.values()), np.int32)[order]
        if len(np.unique(self._hashes)) < len(joined):
            raise ValueError("two joined entries have one hash")
        self._filter = np.zeros(1 << _FILTER_BITS, np.bool_)
        self._filter[hashes >> _FILTER_SHIFT] = True

    def find(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], Ints]:
        """Returns the positions of the hashes that are joined entries, and their tokens."""
        maybe = np.flatnonzero(self._filter[hashes >> _FILTER_SHIFT])
        if len(maybe) == 0:
            return maybe, np.empty(0, np.int32)
        place = np.minimum(np.searchsorted(self._hashes, hashes[maybe]), len(self._hashes) - 1)
        hit = self._hashes[place] == hashes[maybe]
        return maybe[hit], self._tokens[place[hit]]


def _view(values: "array[int]") -> Ints:
    """Returns the array without a copy. It must be released before the array grows."""
    return np.frombuffer(values, np.int32) if values else np.empty(0, np.int32)


def _hash(name: str) -> tuple[int, int]:
    """Returns the hash of a word, and the factor for the hash of the next word."""
    value = sum(map(mul, name.encode("ascii", "replace"), _HASH_POWERS)) & _HASH_MASK
    return value, _HASH_POWERS[min(len(name), _HASH_CHARS_MAX)]
