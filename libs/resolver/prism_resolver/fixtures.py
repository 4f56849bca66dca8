"""Parameters of tests and fixtures of pytest, which get what the fixture of their name returns or yields.

The fixture is one of the class, of the file or of what the file imports, or of a `conftest.py` around it.
"""

from collections.abc import Iterator, Mapping

from prism_contracts.code import CALLABLE_KINDS, Flag
from prism_resolver.facts import FileFacts

CONFTEST = "conftest"
_FIXTURES = frozenset({"fixture", "yield_fixture"})


def fixture_parameters(facts: FileFacts) -> Mapping[int, frozenset[str]]:
    """Returns by test or fixture, as its position in the file, the parameters without a type and a default."""
    if facts.language != "python" or Flag.TEST not in facts.flags:
        return {}
    marked = {one.line for one in facts.references if one.name in _FIXTURES}
    return {
        position: frozenset(parameters_without_default(symbol.signature))
        for position, symbol in enumerate(facts.symbols)
        if symbol.kind in CALLABLE_KINDS
        and (
            symbol.name.startswith("test")
            or not marked.isdisjoint(range(symbol.start_line, symbol.name_line))
        )
    }


def modules_around(folder: str) -> Iterator[str]:
    """Yields the `conftest.py` files that count in a folder as relative modules, the nearest first."""
    depth = folder.count("/") + 2 if folder else 1
    return ("." * dots + CONFTEST for dots in range(1, depth + 1))


def parameters_without_default(signature: str) -> Iterator[str]:
    """Yields the parameters of a function of Python that have no default, without `self`."""
    depth, part = 0, ""
    for char in signature[signature.find("(") + 1 :]:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0 or (char == "," and not depth):
            name = part.partition(":")[0].strip()
            if name.isidentifier() and name not in {"self", "cls"} and "=" not in part:
                yield name
            part = ""
            if depth < 0:
                return
        else:
            part += char
