"""Trigram signatures of files, shared by the indexer (writes) and search (queries).

A signature is a Bloom filter with one hash function over the trigrams (sequences of three bytes) of a file's
lower-case text: a table of bits, in which the hash of each trigram sets one bit. A file that contains a
search text contains all of its trigrams, so search skips a file that lacks one of them, and never misses a
match. For example, `banana` has the trigrams `ban`, `ana` and `nan`; a file without `nan` cannot contain it.

A table is as small as possible with at most a quarter of its bits set: about half a byte per trigram. Only
the largest table, for files with more than some 38,000 different trigrams, may be fuller. It then excludes
fewer files, but still misses none.
"""

import base64
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

GRAM_BYTES = 3
TABLE_BITS_MIN = 1 << 8
TABLE_BITS_MAX = 1 << 17
FILLED_SHARE_MAX = 0.25
# Trigrams that are tested per search text. Each takes some 70 us for 10,000 files.
GRAMS_TESTED_MAX = 32
# Knuth's multiplicative hash: the high bits of the product are well distributed.
_MULTIPLIER = np.uint32(2_654_435_761)
_HASH_BITS = 32

# The only letter outside ASCII that equals an ASCII letter when case is ignored and that str.lower keeps.
LONG_S = "\u017f"

Hashes = NDArray[np.uint32]
Table = NDArray[np.uint8]  # bits, the lowest of a byte first

_ANYTHING: Table = np.full(TABLE_BITS_MIN // 8, 0xFF, np.uint8)


def lower(text: str) -> str:
    """Lower-cases each character on its own, so that lower-casing preserves substrings.

    `str.lower` does not: it lower-cases a sigma depending on its neighbours.
    """
    return text.replace("\u03a3", "\u03c3").lower().replace(LONG_S, "s")


def write_signature(text: str) -> str:
    """Returns the signature of a text, in base64."""
    hashes = _hashes(text)
    # Start with a table that is large enough even if all trigrams differ, then halve it.
    bits = 1 << int(len(hashes) / FILLED_SHARE_MAX).bit_length()
    bits = min(max(bits, TABLE_BITS_MIN), TABLE_BITS_MAX)
    table = np.zeros(bits, np.bool_)
    table[_places(hashes, bits)] = True
    while len(table) > TABLE_BITS_MIN:
        # Positions are the high bits of a hash, so halving merges each pair of neighbours.
        half = table.view(np.uint16) != 0
        if np.count_nonzero(half) > FILLED_SHARE_MAX * len(half):
            break
        table = half
    return base64.b64encode(np.packbits(table, bitorder="little").tobytes()).decode()


def read_signature(written: str) -> Table:
    """Decodes a signature. An empty one may contain anything."""
    return np.frombuffer(base64.b64decode(written), np.uint8) if written else _ANYTHING


class Signatures:
    """The signatures of many files, tested all at once."""

    def __init__(self, tables: Sequence[Table]) -> None:
        sizes = np.array([len(table) for table in tables], np.int64)
        self._bytes = np.concatenate([np.zeros(0, np.uint8), *tables])
        self._starts = np.cumsum(sizes) - sizes
        self._shifts = (_HASH_BITS - np.log2(sizes * 8)).astype(np.uint32)

    @property
    def size_bytes(self) -> int:
        """The size of all tables."""
        return self._bytes.nbytes

    def tables(self) -> list[Table]:
        """Returns the signatures, each as a view of the array."""
        return np.split(self._bytes, self._starts[1:]) if len(self._starts) else []

    def may_hold(self, pieces: Iterable[str]) -> NDArray[np.bool_]:
        """Returns for each file whether it may contain one of the pieces, in any case. False is certain."""
        found = np.zeros(len(self._starts), np.bool_)
        for piece in pieces:
            found |= self._may_hold(np.unique(_hashes(piece))[:GRAMS_TESTED_MAX])
        return found

    def _may_hold(self, hashes: Hashes) -> NDArray[np.bool_]:
        found = np.ones(len(self._starts), np.bool_)
        for value in hashes:
            place = (value >> self._shifts).astype(np.int64)
            found &= (self._bytes[self._starts + (place >> 3)] >> (place & 7).astype(np.uint8) & 1).astype(
                np.bool_
            )
        return found


def _hashes(text: str) -> Hashes:
    data = np.frombuffer(lower(text).encode("utf-8", "surrogatepass"), np.uint8).astype(np.uint32)
    grams = data[:-2] << np.uint32(16) | data[1:-1] << np.uint32(8) | data[2:]
    return grams * _MULTIPLIER


def _places(hashes: Hashes, bits: int) -> Hashes:
    return hashes >> np.uint32(_HASH_BITS - (bits.bit_length() - 1))
