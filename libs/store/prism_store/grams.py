"""Which files can hold a piece of text: signatures of files, said once for who writes them and who asks.

A signature tells which sequences of three bytes (trigrams) occur in the lower-case text of a file: a bit of a table for
each, at a place that a hash decides (a Bloom filter with one hash function). A text that holds a piece holds each of the
piece's trigrams, so a file without one of them is passed over, and nothing that matches is ever missed. A table is as
small as a quarter of its bits allows: about half a byte a trigram. The largest table may be filled more, by a file of more
than some 38,000 different trigrams: it is then asked less sharply, and never wrongly.
"""

import base64
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

GRAM_BYTES = 3
TABLE_BITS_MIN = 1 << 8
TABLE_BITS_MAX = 1 << 17
FILLED_SHARE_MAX = 0.25
# Of one piece; each asks all files, some 70 us for 10,000 of them.
GRAMS_ASKED_MAX = 32
# Knuth's multiplicative hash: the high bits of the product are spread well.
_MULTIPLIER = np.uint32(2_654_435_761)
_HASH_BITS = 32

# The one letter outside ASCII that is the same as an ASCII letter when case does not count, and that str.lower keeps.
LONG_S = "\u017f"

Hashes = NDArray[np.uint32]
Table = NDArray[np.uint8]  # bits, the lowest of a byte first

_ANYTHING: Table = np.full(TABLE_BITS_MIN // 8, 0xFF, np.uint8)


def lower(text: str) -> str:
    """Lower case, character by character, so that the lower case of a part is a part of the lower case: `str.lower` looks
    at the neighbours of a sigma.
    """
    return text.replace("\u03a3", "\u03c3").lower().replace(LONG_S, "s")


def write_signature(text: str) -> str:
    """The signature of a text, in base64."""
    hashes = _hashes(text)
    # No smaller table can be filled too much before it is halved, however many of the trigrams differ.
    bits = 1 << int(len(hashes) / FILLED_SHARE_MAX).bit_length()
    bits = min(max(bits, TABLE_BITS_MIN), TABLE_BITS_MAX)
    table = np.zeros(bits, np.bool_)
    table[_places(hashes, bits)] = True
    while len(table) > TABLE_BITS_MIN:
        # Places are the high bits of a hash: half the table is each two neighbours as one.
        half = table.view(np.uint16) != 0
        if np.count_nonzero(half) > FILLED_SHARE_MAX * len(half):
            break
        table = half
    return base64.b64encode(np.packbits(table, bitorder="little").tobytes()).decode()


def read_signature(written: str) -> Table:
    """A signature as it is asked."""
    return np.frombuffer(base64.b64decode(written), np.uint8) if written else _ANYTHING


class Signatures:
    """Signatures of many files, to be asked all at once. Without one, a file may hold anything."""

    def __init__(self, tables: Sequence[Table]) -> None:
        sizes = np.array([len(table) for table in tables], np.int64)
        self._bytes = np.concatenate([np.zeros(0, np.uint8), *tables])
        self._starts = np.cumsum(sizes) - sizes
        self._shifts = (_HASH_BITS - np.log2(sizes * 8)).astype(np.uint32)

    @property
    def size_bytes(self) -> int:
        """Of all tables."""
        return self._bytes.nbytes

    def tables(self) -> list[Table]:
        """The signatures, each a view."""
        return np.split(self._bytes, self._starts[1:]) if len(self._starts) else []

    def may_hold(self, pieces: Iterable[str]) -> NDArray[np.bool_]:
        """For each file: False only if its text holds none of the pieces, whatever their case."""
        found = np.zeros(len(self._starts), np.bool_)
        for piece in pieces:
            found |= self._may_hold(np.unique(_hashes(piece))[:GRAMS_ASKED_MAX])
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
