"""How the users of listed symbols compare with the text: lines that were not resolved, and uses by name only."""

from collections.abc import Iterator, Sequence

from prism_contracts.rpc.graph import ComparedLevels
from prism_contracts.rpc.symbols import REFERENCES_BATCH_MAX, TextLine
from prism_gateway.mcp.answers.graph_parts import text_places
from prism_gateway.mcp.answers.places import several

# Longest text shown for a line that may not be a use.
TEXT_CHARS_MAX = 100
NAMES_SHOWN_MAX = 3
# The cost of a line without its path and text, in characters: its number, and the symbol around it.
LINE_CHARS = 40


def levels_cost(levels: ComparedLevels | None) -> int:
    """Returns the characters that the lines take."""
    lines = (*levels.unexplained_lines, *levels.by_name_lines) if levels else ()
    return sum(len(line.file_path) + min(len(line.text), TEXT_CHARS_MAX) + LINE_CHARS for line in lines)


def levels_lines(levels: ComparedLevels | None, listed: str = "affected") -> Iterator[str]:
    """Returns the lines that were not resolved, then the uses that only a name supports."""
    if levels and levels.unexplained:
        yield (
            f"code that contains names of {listed} symbols and was not resolved"
            f" ({_counted(levels.unexplained, len(levels.unexplained_lines))}):"
        )
        yield from text_places(levels.unexplained_lines)
    if levels and levels.by_name_lines:
        shown = len(levels.by_name_lines)
        yield (
            f"uses of {_named(levels.by_name_of)} by name only (?), not followed"
            f" ({_counted(levels.by_name, shown)}):"
        )
        yield from text_places(map(short, levels.by_name_lines))
        if levels.by_name > shown:
            yield f"  … and {levels.by_name - shown} more: {_find(levels)}"


def levels_lack(levels: ComparedLevels, listed: str = "affected") -> Iterator[str]:
    """Returns what the comparison says that an answer lacks."""
    if levels.unexplained:
        where = _listed(levels.unexplained, len(levels.unexplained_lines))
        yield (
            f"{several(levels.unexplained, 'line')} of code with names of {listed} symbols"
            f" ({_named(levels.unexplained_of)}) could not be resolved{f' ({where})' if where else ''}"
        )
    if levels.by_name:
        where = _listed(levels.by_name, len(levels.by_name_lines)) or f"{_find(levels)} lists them"
        yield (
            f"uses of {_named(levels.by_name_of)} by name only, not followed:"
            f" {several(levels.by_name, 'line')} ({where})"
        )
    if levels.files_left_out:
        yield f"{several(levels.files_left_out, 'file')} that may contain names of {listed} symbols were not read"


def levels_account(levels: ComparedLevels, listed: str = "affected") -> str:
    """Returns what was compared, as the end of a sentence."""
    if not levels.names:
        return ""
    lines = several(levels.text_lines, "line")
    named = (
        f"the names of {levels.names} {listed} symbols"
        if levels.names > 1
        else f"the name of {'an' if listed[0] in 'aeiou' else 'a'} {listed} symbol"
    )
    return f"{lines} of code contain {named}, compared up to depth {levels.levels + 1}"


def levels_left_out(levels: ComparedLevels) -> str:
    """Returns a sentence about the names that were too many to compare; empty if there are none."""
    if not levels.names_left_out:
        return ""
    names = several(levels.names_left_out, "name")
    return f"{names} of further levels are too many to compare with the text: ask about one."


def short(line: TextLine) -> TextLine:
    """Returns a line whose text is cut."""
    return line.model_copy(update={"text": cut_text(line.text)})


def cut_text(text: str) -> str:
    """Returns the text of a line that may be no use, with an ellipsis if it is too long."""
    return text if len(text) <= TEXT_CHARS_MAX else f"{text[:TEXT_CHARS_MAX].rstrip()}…"


def _counted(total: int, shown: int) -> str:
    return f"{total}, the first {shown}" if total > shown else f"{total}"


def _listed(total: int, shown: int) -> str:
    """Returns which of the lines are above; empty if none is."""
    return "" if not shown else "listed above" if shown == total else f"{shown} listed above"


def _named(names: Sequence[str]) -> str:
    rest = len(names) - NAMES_SHOWN_MAX
    return ", ".join(names[:NAMES_SHOWN_MAX]) + (f" and {several(rest, 'more name')}" if rest > 0 else "")


def _find(levels: ComparedLevels) -> str:
    return f"find_references(symbols={list(levels.by_name_of[:REFERENCES_BATCH_MAX])})"
