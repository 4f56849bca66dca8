"""The code on a path: of functions on the way the calls with their frame, the target in full, without docs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from prism_contracts.rpc.files import FileRange
from prism_contracts.rpc.graph import GraphNode
from prism_gateway.mcp.answers.graph_parts import node_line
from prism_gateway.mcp.answers.path_steps import PathStep

# Lines before and after a call.
FRAME_LINES = 2
# The target is shown in full up to this many lines.
TARGET_LINES_MAX = 60
NUMBER_CHARS = 6

DOC_MARK = re.compile(r"\s*[rRuU]?(\"\"\"|''')")
COMMENT = re.compile(r"\s*(?://|/\*|\*|#(?!\[)|--|;)")

# The code of functions.
Bodies = Mapping[FileRange, str]


def ranges_of(steps: Sequence[PathStep]) -> tuple[FileRange, ...]:
    """Returns the ranges of the functions that a path runs."""
    return tuple(dict.fromkeys(range_of(node) for node in _nodes(steps) if node.end_line))


def code_lines(steps: Sequence[PathStep], bodies: Bodies, room: int) -> Iterator[str]:
    """Returns the numbered code of the functions as far as there is room, the target last."""
    calls: dict[FileRange, set[int]] = {}
    for step in steps:
        calls.setdefault(range_of(step.source), set()).update(step.call.lines if step.call else ())
    target = range_of(steps[-1].node)
    for node in _nodes(steps):
        place = range_of(node)
        code = bodies.get(place)
        if not code:
            continue
        lines = code.split("\n")
        numbers = range(place.start_line, place.start_line + len(lines))
        useful = _without_docs(lines, numbers, node.line)
        wanted = _near(useful, calls.get(place, ()), node.line)
        size = sum(len(lines[number - place.start_line]) + NUMBER_CHARS for number in useful)
        if place == target and len(useful) <= TARGET_LINES_MAX and size <= room:
            wanted = useful
        shown = [node_line(node), *_numbered(lines, numbers, wanted)]
        cost = sum(map(len, shown))
        if cost <= room:
            room -= cost
            yield from shown


def range_of(node: GraphNode) -> FileRange:
    """Returns the range of a symbol."""
    return FileRange(file_path=node.file_path, start_line=node.start_line, end_line=node.end_line)


def _nodes(steps: Sequence[PathStep]) -> Iterator[GraphNode]:
    """Returns the functions that run, each once."""
    nodes = [step.source for step in steps[:1]] + [step.node for step in steps]
    return iter({range_of(node): node for node in nodes if node.end_line}.values())


def _near(useful: Sequence[int], calls: Iterable[int], name_line: int) -> list[int]:
    """Returns the line of the name, and the frame of each call; the beginning if there is no call."""
    around = [useful.index(call) for call in calls if call in useful] or [0]
    near = {at for one in around for at in range(one - FRAME_LINES, one + FRAME_LINES + 1)}
    return sorted({name_line} & set(useful) | {useful[at] for at in near if 0 <= at < len(useful)})


def _without_docs(lines: Sequence[str], numbers: range, name_line: int) -> list[int]:
    """Returns the numbers of the lines that are not empty and not a doc comment above or below the name."""
    kept: list[int] = []
    closing = ""
    below_signature = False
    for number, line in zip(numbers, lines, strict=True):
        if closing:
            closing = "" if closing in line else closing
            continue
        opening = DOC_MARK.match(line)
        if opening and below_signature:
            closing = "" if opening[1] in line[opening.end() :] else opening[1]
            below_signature = False
        elif line.strip() and not (number < name_line and COMMENT.match(line)):
            kept.append(number)
            below_signature = number >= name_line and line.rstrip().endswith(":")
    return kept or list(numbers)


def _numbered(lines: Sequence[str], numbers: range, wanted: Iterable[int]) -> Iterator[str]:
    """Returns the wanted lines with their numbers, and `…` where code is left out."""
    before = numbers[0] - 1
    for number in wanted:
        if any(lines[left - numbers[0]].strip() for left in range(before + 1, number)):
            yield "  …"
        yield f"  {number}: {lines[number - numbers[0]]}"
        before = number
    if before < numbers[-1]:
        yield f"  … to {numbers[-1]}"
