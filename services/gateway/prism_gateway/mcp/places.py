"""Places as callers write them: `a.py`, `a.py:7`, `a.py:10-40`, `a.py:Session.get`, `Session.get`."""

import re
from typing import NamedTuple

from prism_contracts import types

# `setup.py` is a file before it is a symbol.
_FILE_NAME = re.compile(
    r".*\.(?:[chmr]|[ch]pp|cc|cs|css|exs?|go|html?|java|jl|js|json|jsx|kts?|lua|md|mjs|php|pl|pyi?|rb|rs|rst|sc|scala"
    r"|sh|sql|swift|toml|tsx?|txt|vue|xml|ya?ml|zig)"
)
# `Session.get`, `Session::get`, `get`.
_SYMBOL = re.compile(r"[^\W\d][\w$.:#~]*")
_SYMBOL_OF_FILE = re.compile(r"(?P<path>[^:]*[./][^:]*):(?P<symbol>[^\W\d][\w$.:#~]*)")


class AskedPlace(NamedTuple):
    """A place as the caller wrote it: lines of a file, or a symbol. The last line 0 is the end of the file."""

    path: str
    start: int = 1
    end: int = 0
    symbol: str = ""

    @property
    def is_line(self) -> bool:
        """Whether it is one line, to be shown with what is around it."""
        return not self.symbol and self.start == self.end

    @property
    def is_name(self) -> bool:
        """Whether it is a name, of a symbol or of a file."""
        is_symbol = _SYMBOL.fullmatch(self.path) is not None and not _FILE_NAME.fullmatch(self.path)
        return is_symbol and not self.symbol and not self.end


def parse_place(place: str) -> AskedPlace:
    """Returns `path`, `path:7`, `path:10-40` or `path:symbol` in parts."""
    of_file = _SYMBOL_OF_FILE.fullmatch(place)
    if of_file:
        return AskedPlace(of_file["path"], symbol=of_file["symbol"])
    path, _, lines = place.rpartition(":")
    first, dash, last = lines.partition("-")
    if not path or not first.isdecimal() or (dash and not last.isdecimal()):
        return AskedPlace(place)
    start = max(1, min(int(first), types.LINE_MAX))
    return AskedPlace(path, start, min(int(last), types.LINE_MAX) if dash else start)
