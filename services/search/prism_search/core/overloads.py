"""Which overload of a function a request means: by a place in it, or by the parameters after its name.

In: the definitions that fit a name. Out: those of one overload, and how many the function has.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from prism_contracts.code import CALLABLE_KINDS, Symbol
from prism_contracts.rpc.symbols import OverloadChoice
from prism_resolver.parameters import OVERLOADS, parameters_of, without_marks
from prism_resolver.unit import parameters_in
from prism_search.core.definitions import DefinitionMatch, NameMatch

_LABEL = re.compile(r"(\w+)\s*:(?!:)\s*")


def shown_parameters(language: str, symbol: Symbol) -> str:
    """Returns the parameters of a function, as the graph has them; empty where they choose no function."""
    return without_marks(parameters_in(language, symbol)) if symbol.kind in CALLABLE_KINDS else ""


def with_parameters(match: NameMatch, asked: str) -> NameMatch:
    """Narrows a match to the overload whose parameters the request ends with: `Depot.open(String name)`.

    Parameters that no overload has leave all of them. Parentheses after the only function of a name say nothing.
    """
    start = asked.find("(")
    known = [_parameters(one) for one in match.found]
    if start <= 0 or not asked.endswith(")") or len(set(filter(None, known))) <= 1:
        return match
    chosen = _chosen(asked[start:], match.found, known)
    if not chosen:
        total = len(set(filter(None, known)))
        return match._replace(overload=OverloadChoice(total=total, parameters=asked[start:]))
    found = [one for one, parameters in zip(match.found, known, strict=True) if parameters == chosen]
    names = {one.symbol.qualified_name for one in found}
    alike = {
        of for one, of in zip(match.found, known, strict=True) if of and one.symbol.qualified_name in names
    }
    return match._replace(found=found, overload=OverloadChoice(total=len(alike)))


def with_definition(match: NameMatch, at: Symbol) -> NameMatch:
    """Narrows a match to the overload that one of its definitions is."""
    known = {
        (one.symbol.qualified_name, parameters) for one in match.found if (parameters := _parameters(one))
    }
    own = [
        _parameters(one)
        for one in match.found
        if (one.symbol.start_line, one.symbol.name_line) == (at.start_line, at.name_line)
    ]
    if len(known) <= 1 or not own or not own[0]:
        return match
    found = [one for one in match.found if _parameters(one) == own[0]]
    return match._replace(found=found, overload=OverloadChoice(total=len(known)))


def _parameters(one: DefinitionMatch) -> str:
    return shown_parameters(one.point.text("language"), one.symbol)


def _chosen(wanted: str, found: Sequence[DefinitionMatch], known: Sequence[str]) -> str:
    """Returns the parameters that a request spells: as answers or the code do, or by the names of types or labels."""
    for spelled in _spellings(wanted, {one.point.text("language") for one in found}):
        if spelled in known:
            return spelled
    for names in (_type_names, _labels):
        asked = names(wanted)
        fitting = {one for one in known if one and asked == names(one)}
        if asked and len(fitting) == 1:
            return fitting.pop()
    return ""


def _spellings(wanted: str, languages: AbstractSet[str]) -> Iterator[str]:
    yield without_marks(f"({', '.join(part.strip() for part in wanted[1:-1].split(','))})")
    for language in sorted(languages & OVERLOADS):
        yield without_marks(parameters_of(language, "f", f"f{wanted}"))


def _type_names(parameters: str) -> str:
    """Returns the last name of each type, in small letters: `(java.util.List<T> all, int n)` is `(list, int)`."""
    types = _LABEL.sub("", without_marks(parameters))
    return parameters_of("java", "f", f"f{types}").lower()


def _labels(parameters: str) -> Sequence[str]:
    """Returns the labels of parameters: those of `(name:at:)`, and of `(name: String, at: Int)`."""
    return _LABEL.findall(parameters)
