"""What differs between two versions of a document."""

import difflib
from collections.abc import Sequence

# Comparing takes time with the product of both lengths, so a larger change is shown as one replacement.
LINES_COMPARED_MAX = 2_000
CONTEXT_LINES = 3
NO_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(path: str, base: str, text: str) -> str:
    """Returns a unified diff, which `git apply` and `patch` take. Empty if the texts are equal."""
    old, new = _lines(base), _lines(text)
    if old == new:
        return ""
    start, end = _common(old, new)
    if max(len(old), len(new)) - start - end > LINES_COMPARED_MAX:
        body = _replacement(old, new, start, end)
    else:
        body = list(difflib.unified_diff(old, new, n=CONTEXT_LINES))[2:]
    lines = (line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in body)
    return f"--- a/{path}\n+++ b/{path}\n{''.join(lines)}"


def _lines(text: str) -> list[str]:
    """Returns the lines with their ends. Unlike `splitlines`, it knows only those that git knows."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Returns how many lines are equal at the beginning, and how many of the others at the end."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    end = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    return start, end


def _replacement(old: Sequence[str], new: Sequence[str], start: int, end: int) -> list[str]:
    before = max(0, start - CONTEXT_LINES)
    after = min(end, CONTEXT_LINES)
    old_stop, new_stop = len(old) - end, len(new) - end
    head = (
        f"@@ -{_span(before, old_stop + after - before)} +{_span(before, new_stop + after - before)} @@\n",
        *(f" {line}" for line in old[before:start]),
    )
    changed = (*(f"-{line}" for line in old[start:old_stop]), *(f"+{line}" for line in new[start:new_stop]))
    return [*head, *changed, *(f" {line}" for line in old[old_stop : old_stop + after])]


def _span(start: int, lines: int) -> str:
    """Returns a range as hunks name it: the first line counts from 1, or is the one before an empty range."""
    return f"{start + 1 if lines else start},{lines}"
