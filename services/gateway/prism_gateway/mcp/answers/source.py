"""The source of a symbol with the line numbers of its file, cut to a budget of characters.

A long comment above the code is cut before the code. What is left out is named: where to read on, and the members of
a type that are not shown.
"""

from collections.abc import Iterator, Sequence

from prism_contracts.rpc.symbols import Definition
from prism_gateway.mcp.answers.files import members_after, with_numbers

COMMENTS = ("/*", "*", "//", "#")
ATTRIBUTE = "#["


def source_chars(definition: Definition) -> int:
    """Returns the length of the whole source with line numbers."""
    return len(definition.body) + (definition.body.count("\n") + 1) * _number_chars(definition)


def source(definition: Definition, chars_max: int) -> str:
    """Returns the numbered lines that fit, and what is left out."""
    texts = _texts(definition)
    numbers = shown_lines(definition, chars_max)
    first = definition.symbol.start_line
    shown = with_numbers("\n".join(texts[number - first] for number in numbers), numbers)
    return "\n".join([shown, *_left_out(definition, numbers[-1])])


def shown_lines(definition: Definition, chars_max: int) -> Sequence[int]:
    """Returns the numbers of the lines that fit, at least one."""
    texts, first = _texts(definition), definition.symbol.start_line
    every = range(first, first + len(texts))
    if source_chars(definition) <= chars_max:
        return every
    shown: list[int] = []
    for number in _without_comment(definition, every, texts):
        chars_max -= len(texts[number - first]) + 1 + _number_chars(definition)
        if shown and chars_max < 0:
            break
        shown.append(number)
    return shown


def _texts(definition: Definition) -> list[str]:
    return definition.body.rstrip("\n").split("\n")


def _number_chars(definition: Definition) -> int:
    return len(str(definition.symbol.end_line)) + 1


def _without_comment(definition: Definition, every: range, texts: Sequence[str]) -> list[int]:
    """Returns the lines without the comment above the code, except for its first line of words."""
    kept: list[int] = []
    has_words = False
    for number, text in zip(every, texts, strict=True):
        stripped = text.strip()
        is_comment = stripped.startswith(COMMENTS) and not stripped.startswith(ATTRIBUTE)
        if number >= definition.symbol.name_line or not is_comment:
            return [*kept, *range(number, every.stop)]
        if not has_words:
            kept.append(number)
        has_words = has_words or any(map(str.isalnum, stripped))
    return kept


def _left_out(definition: Definition, last: int) -> Iterator[str]:
    end = definition.symbol.end_line
    if last >= end:
        return
    yield f"… {end - last} more lines: read_file from line {last + 1}"
    yield from members_after(last, definition.members)
