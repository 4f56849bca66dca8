"""The rows of a text. A row ends at a line feed only, as in git and ripgrep; row 0 is line 1."""

from itertools import accumulate


class TextRows:
    """A text by rows: `offsets[r]` is the first character of row `r`; the last entry is the
    end of the text.
    """

    __slots__ = ("count", "offsets", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.offsets = _offsets(text)
        self.count = len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        return self.text[self.offsets[row] : self.offsets[row + 1]]

    def slice(self, first: int, end: int) -> str:
        """Returns the text of rows `first` to `end`, the latter excluded, with line ends."""
        return self.text[self.offsets[first] : self.offsets[end]]

    def size(self, first: int, end: int) -> int:
        """Returns the characters in rows `first` to `end`, the latter excluded."""
        return self.offsets[end] - self.offsets[first]

    def is_blank(self, row: int) -> bool:
        """Whether the row holds nothing but white space."""
        return not self[row].strip()


def _offsets(text: str) -> list[int]:
    rows = text.split("\n")
    offsets = list(accumulate((len(row) + 1 for row in rows), initial=0))
    if rows[-1]:
        offsets[-1] = len(text)
    else:
        offsets.pop()
    return offsets
