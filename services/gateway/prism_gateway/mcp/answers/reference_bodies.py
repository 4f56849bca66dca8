"""The code around references: the body of each enclosing symbol, as far as the budget goes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from prism_contracts.code import EdgeStatus
from prism_contracts.rpc.files import FileRange
from prism_contracts.rpc.symbols import ReferenceEntry, ReferenceGroup, ReferencesReply

# A longer body is cut to the lines around its uses.
BODY_LINES_MAX = 60
FRAME_LINES = 6
# The indent and the number of a line.
LINE_CHARS = 12


class BodyPlace(NamedTuple):
    """A symbol whose body is shown."""

    repo: str
    lines: FileRange


class BodyUse(NamedTuple):
    """Where a body is shown: once, in the first group of the first answer that has a use in it."""

    answer: int
    group: ReferenceGroup
    lines: list[int]


class Bodies:
    """The lines to show of bodies in one answer."""

    def __init__(self, texts: Mapping[tuple[BodyPlace, ReferenceGroup], Mapping[int, str]]) -> None:
        self.texts = texts

    def around(self, entry: ReferenceEntry) -> Mapping[int, str]:
        """Returns the lines to show with an entry, its own included; none if its body is not shown there."""
        place = place_of(entry)
        return self.texts.get((place, entry.group), {}) if place else {}


NO_BODIES = Bodies({})


class FittingBodies(NamedTuple):
    """The bodies by answer, and the number of those that do not fit."""

    by_answer: Sequence[Bodies]
    left_out: int


def are_tests(entries: Iterable[ReferenceEntry]) -> bool:
    """Whether all references are in tests, as with a filter of their folder."""
    return all(entry.group is ReferenceGroup.TESTS for entry in entries)


def place_of(entry: ReferenceEntry) -> BodyPlace | None:
    """Returns the symbol around a sure use, if the index knows its range. Imports are on one line."""
    around = entry.enclosing
    if around is None or not around.end_line:
        return None
    if entry.status is not EdgeStatus.RESOLVED or entry.group is ReferenceGroup.IMPORTS:
        return None
    lines = FileRange(file_path=entry.file_path, start_line=around.start_line, end_line=around.end_line)
    return BodyPlace(entry.repo, lines)


def body_uses(reply: ReferencesReply) -> dict[BodyPlace, BodyUse]:
    """Returns the symbols whose bodies hold references: those of tests only if there are no others."""
    found: dict[BodyPlace, BodyUse] = {}
    with_tests = all(are_tests(one.entries) for one in reply.answers)
    for number, one in enumerate(reply.answers):
        for entry in one.entries:
            place = place_of(entry) if with_tests or entry.group is not ReferenceGroup.TESTS else None
            if place:
                use = found.setdefault(place, BodyUse(number, entry.group, []))
                if (use.answer, use.group) == (number, entry.group):
                    use.lines.append(entry.line)
    return found


def bodies_that_fit(reply: ReferencesReply, texts: Mapping[BodyPlace, str], room: int) -> FittingBodies:
    """Returns the bodies that fit into a number of characters, in the order of the references."""
    kept: list[dict[tuple[BodyPlace, ReferenceGroup], Mapping[int, str]]] = [{} for _ in reply.answers]
    left_out = 0
    for place, use in body_uses(reply).items():
        shown = _shown(texts.get(place, ""), place.lines.start_line, use.lines)
        cost = sum(len(line) + LINE_CHARS for line in shown.values())
        if shown and cost <= room:
            kept[use.answer][place, use.group] = shown
            room -= cost
        else:
            left_out += 1
    return FittingBodies([Bodies(one) for one in kept], left_out)


def _shown(text: str, first: int, uses: Iterable[int]) -> dict[int, str]:
    """Returns the lines of a body by number; of a long one those around its uses."""
    lines = dict(enumerate(text.rstrip("\n").split("\n"), first)) if text else {}
    if len(lines) <= BODY_LINES_MAX:
        return lines
    near = {line for use in uses for line in range(use - FRAME_LINES, use + FRAME_LINES + 1)}
    return {number: line for number, line in lines.items() if number in near}
