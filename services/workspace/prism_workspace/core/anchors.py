"""Decides whether an anchor still holds, and which anchors concern a place.

Takes anchors and files as the index holds them, returns anchors. An anchor holds while the text of its place is
what it was when it was linked: moved lines and other changes of the file do not matter.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.records import UNCOMMITTED, Anchor, AnchorKind, Staleness, StaleReason

# A longer range is linked as its file: it would be searched for line by line in every version of the file.
LINES_MAX = 200
# Lines that a file has several times, also with this many lines around them, are linked as their file if they
# have fewer characters: a closing brace is in every version of a file.
CONTEXT_LINES_MAX = 5
LINES_CHARS_MIN = 12
# Headings, keys and rules of data files are no definitions of code.
_NO_DEFINITIONS = frozenset({SymbolKind.SECTION, SymbolKind.KEY, SymbolKind.RULE})


@dataclass(frozen=True)
class IndexedFile:
    """A file as the index holds it."""

    path: str
    blob: str
    symbols: Sequence[Symbol] = ()
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class LineSpan:
    """Lines of a file, 1-based and inclusive."""

    start: int
    end: int


@dataclass(frozen=True)
class Title:
    """How a document or task is shown. A closed task is left out of answers."""

    title: str
    path: str = ""
    status: str = ""
    is_open: bool = True


def content_id(text: str) -> str:
    """Returns what identifies a text that is linked: its SHA-256, whatever white space is around it."""
    return hashlib.sha256(text.strip().encode(errors="replace")).hexdigest()


def digest(lines: Sequence[str]) -> str:
    """Returns the SHA-256 of lines, whatever white space ends them."""
    return hashlib.sha256("\n".join(line.rstrip() for line in lines).encode(errors="replace")).hexdigest()


def is_definition(symbol: Symbol) -> bool:
    """Whether a document that names this symbol means code, and the symbol has it here."""
    return symbol.kind not in _NO_DEFINITIONS and not symbol.bodiless


def anchored(anchor: Anchor, file: IndexedFile, place: LineSpan) -> Anchor:
    """Returns the anchor linked to these lines of a file."""
    text = digest(file.lines[place.start - 1 : place.end])
    where = {"start_line": place.start, "end_line": place.end}
    return anchor.model_copy(update={"path": file.path, "blob": file.blob, "text": text, **where})


def of_lines(anchor: Anchor, file: IndexedFile, place: LineSpan) -> Anchor | None:
    """Returns the anchor linked to lines, compared with as few lines around them as make it unique.

    None if they could not be found again in another version of the file: they are too many, blank, or some of
    several short ones that are alike.
    """
    lines = file.lines[place.start - 1 : place.end]
    chars = sum(len(line.strip()) for line in lines)
    if len(lines) > LINES_MAX or not chars:
        return None
    alone = anchored(anchor, file, place)
    alike = [one for one in _places(alone, file) if one != place and _has_text(alone, file, one)]
    for context in range(CONTEXT_LINES_MAX + 1):
        before, after = _around(file, place, context) if context else ("", "")
        found = alone.model_copy(update={"context": context, "before": before, "after": after})
        if not any(_holds(found, file, one) for one in alike):
            return found
    return alone if chars >= LINES_CHARS_MIN else None


def judged(anchor: Anchor, file: IndexedFile | None, *, commit: str, at: datetime) -> Anchor:
    """Returns the anchor as a version of its file leaves it, stale or not.

    `file` is None if the index does not have the path any more. `commit` is the one that the index holds, or
    `UNCOMMITTED`, and `at` the time of the check.
    """
    if file is None:
        return _stale(anchor, StaleReason.FILE_GONE, "", commit, at)
    if anchor.kind is AnchorKind.FILE:
        return anchor.model_copy(update={"blob": file.blob, "stale": None})
    places = list(_places(anchor, file))
    for place in places:
        if _holds(anchor, file, place):
            where = {"start_line": place.start, "end_line": place.end}
            return anchor.model_copy(update={"blob": file.blob, "stale": None, **where})
    if anchor.kind is AnchorKind.SYMBOL and not places:
        return _stale(anchor, StaleReason.SYMBOL_GONE, file.blob, commit, at)
    return _stale(anchor, StaleReason.TEXT_CHANGED, file.blob, commit, at)


def moved(anchor: Anchor, file: IndexedFile) -> Anchor | None:
    """Returns the anchor at its definition in another file, if that has the same text; else None."""
    for place in _places(anchor, file):
        if _has_text(anchor, file, place):
            where = {"path": file.path, "start_line": place.start, "end_line": place.end}
            return anchor.model_copy(update={"blob": file.blob, "stale": None, **where})
    return None


def committed(anchor: Anchor, commit: str) -> Anchor:
    """Returns the anchor with the commit that holds the edit which made it stale, once an index holds that."""
    if anchor.stale is None or anchor.stale.commit != UNCOMMITTED:
        return anchor
    return anchor.model_copy(update={"stale": anchor.stale.model_copy(update={"commit": commit})})


def removed(anchor: Anchor, at: datetime) -> Anchor:
    """Returns the anchor as stale because its repository was removed."""
    since = anchor.stale or Staleness(reason=StaleReason.REPOSITORY_REMOVED, commit="", found_at=at)
    return anchor.model_copy(
        update={"stale": since.model_copy(update={"reason": StaleReason.REPOSITORY_REMOVED})}
    )


def adopted(anchor: Anchor, repo: str, commit: str) -> Anchor:
    """Returns the anchor to a removed repository in the next one with its name, before that is compared.

    Until then its file counts as gone.
    """
    gone = {"reason": StaleReason.FILE_GONE, "commit": commit}
    stale = anchor.stale.model_copy(update=gone) if anchor.stale else None
    return anchor.model_copy(update={"repo": repo, "blob": "", "stale": stale})


def is_removed(anchor: Anchor) -> bool:
    """Whether the repository of an anchor was removed, and none with its name has been indexed since."""
    return anchor.stale is not None and anchor.stale.reason is StaleReason.REPOSITORY_REMOVED


def is_unchanged(anchor: Anchor, blob: str) -> bool:
    """Whether the last check saw this blob of the file; empty: none."""
    return anchor.blob == blob


def concerns(anchor: Anchor, path: str, symbol: str, place: LineSpan | None) -> int:
    """Returns how closely an anchor names a place: 3 its symbol, 2 what is around or in it, 1 its file, 0 not."""
    if anchor.path != path:
        return 0
    if anchor.kind is AnchorKind.FILE:
        return 1
    if anchor.kind is AnchorKind.SYMBOL and symbol:
        return _symbols_concern(anchor.symbol, symbol)
    if place is None:
        return 1 if not symbol else 0
    return 2 if anchor.start_line <= place.end and place.start <= anchor.end_line else 0


def is_same_place(one: Anchor, other: Anchor) -> bool:
    """Whether two anchors name the same symbol, or one of them the file of the other."""
    is_both_symbols = one.symbol and other.symbol
    return (one.repo, one.path) == (other.repo, other.path) and (
        not is_both_symbols or one.symbol == other.symbol
    )


def _symbols_concern(named: str, edited: str) -> int:
    if named == edited:
        return 3
    is_near = named.startswith(f"{edited}.") or edited.startswith(f"{named}.")
    return 2 if is_near else 0


def _places(anchor: Anchor, file: IndexedFile) -> Iterator[LineSpan]:
    """Yields where the text of an anchor may be in a file, the likeliest place first."""
    if anchor.kind is AnchorKind.SYMBOL:
        for symbol in file.symbols:
            if symbol.qualified_name == anchor.symbol and is_definition(symbol):
                yield LineSpan(symbol.start_line, symbol.end_line)
        return
    count = anchor.end_line - anchor.start_line + 1
    starts = range(1, len(file.lines) - count + 2)
    for start in sorted(starts, key=lambda start: abs(start - anchor.start_line)):
        yield LineSpan(start, start + count - 1)


def _has_text(anchor: Anchor, file: IndexedFile, place: LineSpan) -> bool:
    return digest(file.lines[place.start - 1 : place.end]) == anchor.text


def _holds(anchor: Anchor, file: IndexedFile, place: LineSpan) -> bool:
    """Whether a place has the text of an anchor, and the lines on one side of it if those are compared."""
    if not _has_text(anchor, file, place):
        return False
    before, after = _around(file, place, anchor.context)
    return not anchor.context or anchor.before == before or anchor.after == after


def _around(file: IndexedFile, place: LineSpan, count: int) -> tuple[str, str]:
    """Returns the digests of the lines before and after a place, `count` on each side if the file has them."""
    before = file.lines[max(0, place.start - 1 - count) : place.start - 1]
    return digest(before), digest(file.lines[place.end : place.end + count])


def _stale(anchor: Anchor, reason: StaleReason, blob: str, commit: str, at: datetime) -> Anchor:
    """Returns the anchor as stale, since when it was found so first."""
    since = committed(anchor, commit).stale or Staleness(reason=reason, commit=commit, found_at=at)
    return anchor.model_copy(update={"blob": blob, "stale": since.model_copy(update={"reason": reason})})
