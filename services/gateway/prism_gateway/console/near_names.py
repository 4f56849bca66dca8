"""What pages show for a name that is not defined: the names nearest to it. Answers of search in, links out."""

import re
from typing import Final, NamedTuple

from prism_contracts.rpc.symbols import SymbolAnswer

CORRECTED_SHOWN: Final = 10
# `Session api/session.py:10-80`; `api/session.py:10` for a name that another file defines.
SUGGESTION: Final = re.compile(r"(?P<name>\S+) (?P<path>.+):(?P<line>\d+)-\d+")
PLACE: Final = re.compile(r"(?P<path>.+):(?P<line>\d+)")


class NearestName(NamedTuple):
    """A name that resembles the requested one, and where it is defined. The place is empty if it is unknown."""

    name: str
    path: str = ""
    line: int = 0


def is_defined(answer: SymbolAnswer, asked: str) -> bool:
    """Whether an answer is about the requested name. Search corrects a spelling that fits one other name."""
    return bool(answer.definitions) and answer.symbol == asked.strip()


def near_names(answer: SymbolAnswer) -> list[NearestName]:
    """Returns the names nearest to one that is not defined. A corrected spelling is one of them."""
    corrected = [
        NearestName(one.symbol.qualified_name, one.file_path, one.symbol.name_line)
        for one in answer.definitions
    ]
    return [*corrected[:CORRECTED_SHOWN], *(_suggested(text, answer.symbol) for text in answer.suggestions)]


def _suggested(text: str, symbol: str) -> NearestName:
    if found := SUGGESTION.fullmatch(text):
        return NearestName(found["name"], found["path"], int(found["line"]))
    if found := PLACE.fullmatch(text):
        return NearestName(symbol, found["path"], int(found["line"]))
    return NearestName(text)
