"""Names of a file that mean something else in a part of it: parameters of nameless functions, and type parameters.

Parameters only in JavaScript and TypeScript. A function with a name is a symbol, and its variables are its bindings; a
function without one, such as a callback outside of all symbols, has no place for them. Type parameters in every language
whose query captures them: `template <typename T>` hides a `using T = …` of the file.
"""

from tree_sitter import Node

from prism_chunker.core.languages.table import Language
from prism_chunker.core.names import Names
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Syntax
from prism_chunker.core.references import Places
from prism_chunker.core.visibility import Variables

LEVELS_MAX = 100
_NAMELESS = frozenset({"arrow_function", "function_expression", "generator_function"})
_GENERIC = frozenset({"template_parameter_list", "type_arguments", "type_parameter_list", "type_parameters"})
_METHODS = frozenset({"method_declaration"})


class Shadows:
    """Where the known names of a file are hidden, in bytes."""

    def __init__(
        self, language: Language, syntax: Syntax, nesting: Nesting, names: Names, variables: Variables
    ) -> None:
        self.variables = variables.keys()
        self._values: dict[str, list[tuple[int, int]]] = {}
        self._types: dict[str, list[tuple[int, int]]] = {}
        if "ecmascript" in language.queries:
            self._hide_parameters(syntax, nesting, names, variables)
        self._hides_all = language.exact_variables
        self._hide_type_parameters(syntax, names, is_apart="ecmascript" in language.queries)

    def _hide_parameters(self, syntax: Syntax, nesting: Nesting, names: Names, variables: Variables) -> None:
        # What a callback defines or imports is what its name means there.
        meant = {definition.name_start for definition in nesting.kept}
        for captures in syntax.matches_with("alias", "import"):
            meant.add((captures.get("alias") or captures["import"])[0].start_byte)
        for name in names.known:
            for variable in variables.get(name.encode(), ()):
                node = variable.node
                is_parameter = variable.subject == "bound" and node.start_byte not in meant
                is_assigned = node.parent is not None and node.parent.type == "assignment_expression"
                function = _around(node, _NAMELESS) if is_parameter and not is_assigned else None
                if function is not None and nesting.around(function.start_byte) < 0:
                    self._values.setdefault(name, []).append((function.start_byte, function.end_byte))

    def _hide_type_parameters(self, syntax: Syntax, names: Names, *, is_apart: bool) -> None:
        """Hide what type parameters are named like; `is_apart`: a value of the name is another thing."""
        for captures in syntax.matches_with("generic", "received"):
            node = (captures.get("generic") or captures["received"])[0]
            name = _text(node, syntax.source)
            is_wanted = self._hides_all or name in names.known
            parameters = _around(node, _GENERIC) if is_wanted else None
            if parameters is not None and parameters.parent is not None:
                owner = parameters.parent
                if owner.type == "generic_type":  # the receiver of a method in Go
                    owner = _around(owner, _METHODS) or owner
                for hidden in (self._types,) if is_apart else (self._types, self._values):
                    hidden.setdefault(name, []).append((owner.start_byte, owner.end_byte))

    def without_hidden(self, places: Places, source: bytes) -> Places:
        """Returns the places of references without calls of hidden names."""
        if not self._values:
            return places
        return {
            place: found
            for place, found in places.items()
            if "qualifier" in found[1] or not self.hides(_text(found[0], source), place[0], is_type=False)
        }

    def hides(self, name: str, byte: int, *, is_type: bool) -> bool:
        """Whether a name means a parameter at a byte."""
        ranges = (self._types if is_type else self._values).get(name, ())
        return any(start <= byte < end for start, end in ranges)


def _around(node: Node, types: frozenset[str]) -> Node | None:
    inner: Node | None = node
    for _ in range(LEVELS_MAX):
        inner = inner.parent if inner is not None else None
        if inner is None or inner.type in types:
            return inner
    return None


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
