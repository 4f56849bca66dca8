"""The names in SCIP's symbols, by the grammar beside `message Symbol` of scip.proto."""

import re
from typing import NamedTuple

_NAME = r"(?:`(?:[^`]|``)+`|[\w+\-$]+)"
_DESCRIPTOR = re.compile(
    rf"(?P<name>{_NAME})(?:[/#.:!]|\({_NAME}?\)\.)|\[(?P<type>{_NAME})\]|\((?P<parameter>{_NAME})\)"
)
_LOCAL = "local "
# Scheme, manager, package, version; a space in one of them is doubled.
_PACKAGE = re.compile(r"(?P<unversioned>(?:[^ ]|  )+ (?:[^ ]|  )* (?:[^ ]|  )*) (?:[^ ]|  )* ")
# Descriptors of a file or a folder itself.
_SPACES = ("/", ":")


class ScipName(NamedTuple):
    """The name of a symbol: `weigh` of `Depot`, in a package, independent of the version."""

    package: str
    owner: str
    name: str


def read_name(symbol: str) -> ScipName | None:
    """Returns the name of a symbol; None for a local one, a namespace, and an invalid symbol.

    >>> read_name("scip-python python parcels 1.0 `parcels.depot`/Depot#weigh().")
    ScipName(package='scip-python python parcels', owner='Depot', name='weigh')
    """
    package = None if symbol.startswith(_LOCAL) else _PACKAGE.match(symbol)
    if package is None or symbol.endswith(_SPACES):
        return None
    names = []
    at = package.end()
    while at < len(symbol):
        found = _DESCRIPTOR.match(symbol, at)
        if found is None:
            return None
        names.append(_unescaped(found["name"] or found["type"] or found["parameter"]))
        at = found.end()
    return ScipName(package["unversioned"], names[-2] if len(names) > 1 else "", names[-1]) if names else None


def _unescaped(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
