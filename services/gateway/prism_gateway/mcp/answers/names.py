"""What the spelling of a name shows about it."""

import re

HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]|(?<=[A-Za-z0-9])_+(?=[A-Za-z0-9])")
# Compounds that objects of the standard libraries have as well.
COMMON = frozenset(
    ["toString", "hashCode", "forEach", "compareTo", "indexOf", "to_string", "as_ref", "is_empty", "isEmpty"]
)


def is_distinctive(symbol: str) -> bool:
    """Returns whether the last name of a symbol has several words: `get_bucket`, not `read`.

    A single word may also be the name of a member of any object outside the repository.
    """
    name = symbol.rpartition(".")[2]
    return HUMP.search(name) is not None and name not in COMMON
