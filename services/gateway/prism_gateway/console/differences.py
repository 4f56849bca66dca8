"""What differs between two texts, as rows with the numbers of their lines. Takes lines, returns rows.

Texts of repositories are hostile, and all tenants share the process. The work is bounded by the number of changed
lines (Myers): `difflib` takes 2.6 s for 2,000 lines of which every second repeats. Texts that differ in more lines
are shown as one replacement.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

LINES_MAX: Final = 2_000
EDITS_MAX: Final = 300
CONTEXT_LINES: Final = 3
SAME, REMOVED, ADDED = " ", "-", "+"


class DiffRow(NamedTuple):
    """A line of a diff. A number is 0 on the side that lacks the line."""

    mark: str
    before: int
    after: int
    text: str


class TextDiff(NamedTuple):
    """The changed lines of a file with some lines around them, by place; how many changed."""

    hunks: list[list[DiffRow]]
    added: int
    removed: int

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(map(len, self.hunks))


class _Run(NamedTuple):
    """Lines that both texts have: where they begin, and how many there are."""

    before: int
    after: int
    length: int


def difference(before: Sequence[str], after: Sequence[str]) -> TextDiff:
    """Returns what differs between the lines of two texts."""
    rows = list(_rows(before, after, _common(before, after)))
    return TextDiff(
        _hunks(rows),
        sum(row.mark == ADDED for row in rows),
        sum(row.mark == REMOVED for row in rows),
    )


def unified(path: str, shown: TextDiff, *, is_new: bool = False, is_gone: bool = False) -> str:
    """Returns a diff as `git diff` prints it."""
    lines = [f"diff --git a/{path} b/{path}\n"]
    lines += ["new file mode 100644\n"] if is_new else ["deleted file mode 100644\n"] if is_gone else []
    lines.append("--- /dev/null\n" if is_new else f"--- a/{path}\n")
    lines.append("+++ /dev/null\n" if is_gone else f"+++ b/{path}\n")
    for hunk in shown.hunks:
        old = [row.before for row in hunk if row.mark != ADDED]
        new = [row.after for row in hunk if row.mark != REMOVED]
        lines.append(f"@@ -{_range(old, hunk[0].before)} +{_range(new, hunk[0].after)} @@\n")
        lines += [f"{row.mark}{row.text}\n" for row in hunk]
    return "".join(lines)


def _range(numbers: Sequence[int], at: int) -> str:
    return f"{numbers[0] if numbers else at},{len(numbers)}"


def _common(before: Sequence[str], after: Sequence[str]) -> list[_Run]:
    """Returns the lines that both texts have, in order, ending with an empty run at the end of both."""
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    end = next((at for at in range(shorter - start) if before[-1 - at] != after[-1 - at]), shorter - start)
    between = _matches(before[start : len(before) - end], after[start : len(after) - end])
    return [
        _Run(0, 0, start),
        *(_Run(start + one, start + other, 1) for one, other in between),
        _Run(len(before) - end, len(after) - end, end),
        _Run(len(before), len(after), 0),
    ]


def _matches(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the pairs of equal lines in a shortest script of edits; none if it is longer than `EDITS_MAX`."""
    farthest = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(len(before) + len(after), EDITS_MAX) + 1):
        trace.append(farthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(farthest, diagonal, edits)
            while x < len(before) and x - diagonal < len(after) and before[x] == after[x - diagonal]:
                x += 1
            farthest[diagonal] = x
            if x >= len(before) and x - diagonal >= len(after):
                return _backwards(trace, len(before), len(after))
    return []


def _step(farthest: dict[int, int], diagonal: int, edits: int) -> int:
    """Returns where a diagonal is entered: from above by a line that is added, from the left by one removed."""
    if diagonal == -edits or (diagonal != edits and farthest[diagonal - 1] < farthest[diagonal + 1]):
        return farthest[diagonal + 1]
    return farthest[diagonal - 1] + 1


def _backwards(trace: Sequence[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for edits in range(len(trace) - 1, -1, -1):
        farthest, diagonal = trace[edits], x - y
        entered = _step(farthest, diagonal, edits)
        while x > entered:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        is_added = diagonal == -edits or (
            diagonal != edits and farthest[diagonal - 1] < farthest[diagonal + 1]
        )
        x, y = (x, y - 1) if is_added else (x - 1, y)
    return pairs[::-1]


def _rows(before: Sequence[str], after: Sequence[str], runs: Sequence[_Run]) -> Iterator[DiffRow]:
    old = new = 0
    for run in runs:
        for at in range(old, run.before):
            yield DiffRow(REMOVED, at + 1, 0, before[at])
        for at in range(new, run.after):
            yield DiffRow(ADDED, 0, at + 1, after[at])
        for more in range(run.length):
            yield DiffRow(SAME, run.before + more + 1, run.after + more + 1, before[run.before + more])
        old, new = run.before + run.length, run.after + run.length


def _hunks(rows: Sequence[DiffRow]) -> list[list[DiffRow]]:
    """Returns the changed rows with those around them; rows that are near each other are one hunk."""
    changed = [at for at, row in enumerate(rows) if row.mark != SAME]
    spans: list[tuple[int, int]] = []
    for at in changed:
        start, end = max(0, at - CONTEXT_LINES), min(len(rows), at + CONTEXT_LINES + 1)
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [list(rows[start:end]) for start, end in spans]
