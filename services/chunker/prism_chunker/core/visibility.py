"""Where in a file the variables of functions are visible: in a closure, in a block, from their declaration on.

Takes variables, and returns ranges of bytes and of lines. Fields, and variables outside of functions and closures, are
visible in the whole file. A language without a table of its scopes has variables of whole functions only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import NamedTuple

from tree_sitter import Node

from prism_chunker.core.languages.table import Language
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Captures
from prism_contracts.code import CALLABLE_KINDS

LEVELS_MAX = 100
# If a name has more variables, none is limited to a block.
VARIABLES_MAX = 2_000
# On a longer line, of a bundle, a variable is visible to the end of its function.
LINE_BYTES_MAX = 4_000


@dataclass(frozen=True, slots=True)
class _ScopeRules:
    """How a language limits variables, by types of nodes."""

    # Nodes with variables of their own: those declared in them, their parameters, and the variables of their heads.
    blocks: frozenset[str] = frozenset()
    # The same, for variables that no block limits.
    closures: frozenset[str] = frozenset()
    # Declarations of variables that only closures limit: `var` in JavaScript.
    hoisted: frozenset[str] = frozenset()
    # Assignments, which declare a variable only if no other one of the name is visible.
    assignments: frozenset[str] = frozenset()
    assignment_declares: bool = False  # in the block around it, else in the function
    # Parents of variables that are visible in what comes before them, too: clauses of comprehensions.
    clauses: frozenset[str] = frozenset()
    # What follows a condition if it does not hold, where its variables are not visible.
    otherwise: frozenset[str] = frozenset()
    never_called: bool = False  # a call of the name of a variable calls a method
    # Captures of a declaration that give a variable its type for good.
    saying: frozenset[str] = frozenset()
    has_types: bool = False  # all variables have types: an assignment never declares one
    # Whether a name means another variable until its declaration, and in its own initial value.
    from_declaration: bool = True
    from_value: bool = True


def _types(names: str) -> frozenset[str]:
    return frozenset(names.split())


_ECMASCRIPT = _ScopeRules(
    blocks=_types("statement_block for_statement for_in_statement catch_clause switch_body"),
    closures=_types("arrow_function function_expression generator_function method_definition"),
    hoisted=_types("variable_declaration"),
    assignments=_types("assignment_expression"),
    from_declaration=False,
    from_value=False,
)
_C = _ScopeRules(
    blocks=_types(
        "compound_statement for_statement for_range_loop if_statement while_statement catch_clause"
    ),
    closures=_types("lambda_expression"),
    assignments=_types("assignment_expression"),
    from_value=False,
)
_RULES: Mapping[str, _ScopeRules] = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), _ECMASCRIPT),
    **dict.fromkeys(("c", "cpp"), _C),
    "csharp": _ScopeRules(
        blocks=_types(
            "block for_statement foreach_statement using_statement catch_clause switch_section switch_expression_arm"
        ),
        closures=_types("lambda_expression anonymous_method_expression"),
        assignments=_types("assignment_expression"),
    ),
    "go": _ScopeRules(
        blocks=_types(
            "block if_statement for_statement expression_switch_statement type_switch_statement select_statement"
            " expression_case default_case type_case communication_case"
        ),
        closures=_types("func_literal"),
        assignments=_types("assignment_statement"),
        saying=_types("declared given"),
        has_types=True,
    ),
    "java": _ScopeRules(
        blocks=_types(
            "block for_statement enhanced_for_statement catch_clause try_with_resources_statement switch_block_statement_group"
            " switch_rule"
        ),
        closures=_types("lambda_expression"),
        hoisted=_types("instanceof_expression"),  # `if (!(box instanceof Depot depot)) return;`
        never_called=True,
        assignments=_types("assignment_expression"),
    ),
    "kotlin": _ScopeRules(
        blocks=_types(
            "statements control_structure_body when_entry when_expression for_statement catch_block"
        ),
        closures=_types("lambda_literal anonymous_function"),
        assignments=_types("assignment"),
    ),
    "php": _ScopeRules(closures=_types("anonymous_function arrow_function"), from_declaration=False),
    "python": _ScopeRules(
        closures=_types("lambda"),
        blocks=_types("list_comprehension dictionary_comprehension set_comprehension generator_expression"),
        hoisted=_types("named_expression"),
        clauses=_types("for_in_clause"),
        from_declaration=False,
    ),
    "ruby": _ScopeRules(
        closures=_types("block do_block lambda"),
        assignments=_types("assignment operator_assignment"),
        assignment_declares=True,
        from_declaration=False,
    ),
    "rust": _ScopeRules(
        blocks=_types("block match_arm for_expression if_expression while_expression"),
        closures=_types("closure_expression"),
        assignments=_types("assignment_expression"),
        otherwise=_types("else_clause"),
        saying=_types("declared"),
    ),
    "swift": _ScopeRules(
        blocks=_types("statements if_statement while_statement for_statement switch_entry catch_block"),
        closures=_types("lambda_literal"),
        assignments=_types("assignment"),
        otherwise=_types("else"),
    ),
}
_NO_RULES = _ScopeRules(from_declaration=False)
# Fields of a node around a variable that are evaluated before the variable is visible.
_VALUES = ("right", "value")
# Blocks with such a field. Of any other block, the field is its body.
_LOOPS = _types(
    "enhanced_for_statement for_expression for_in_clause for_in_statement for_range_loop for_statement foreach_statement"
    " type_switch_statement"
)
_WORD = frozenset(
    bytes([one]) for one in range(256) if not chr(one).isascii() or chr(one).isalnum() or chr(one) in "_$@"
)
# Between an assignment and one of several variables.
_TARGETS = _types("expression_list directly_assignable_expression")
# Levels between a variable and the node with its value: `left: (expression_list (identifier))`.
_VALUE_LEVELS = 3


class Variable(NamedTuple):
    """A name at a place where it gets a value or a type, with the captures there."""

    subject: str
    node: Node
    captures: Captures


# By name as it is spelled.
Variables = Mapping[bytes, Sequence[Variable]]


class VisibleBytes(NamedTuple):
    """The bytes in which a name means a variable.

    `block`: where the block or closure begins that limits the variable; -1 if it is one of its whole function. `is_said`:
    an assignment to a variable that is declared elsewhere, or with its type.
    """

    start: int
    end: int
    block: int = -1
    is_said: bool = False

    @property
    def is_part(self) -> bool:
        """Whether a block or a closure limits the variable."""
        return self.block >= 0


class Lines(NamedTuple):
    """The lines, 1-based, on which a name means a variable. `last` is 0 for the end of the function.

    On a line of `unclear`, the name means the variable and something else.
    """

    first: int
    last: int
    unclear: tuple[int, ...] = ()


class _Scope(NamedTuple):
    """Where a declared variable ends, and the symbol around it."""

    end: int
    block: int
    around: int
    captures: Captures


class Visibility:
    """Where the variables of a file are visible."""

    def __init__(self, language: Language, source: bytes, nesting: Nesting, variables: Variables) -> None:
        self._language = language.id
        self._rules = _RULES.get(language.id, _NO_RULES)
        self._source = source
        self._nesting = nesting
        self._variables = variables
        self._everywhere = VisibleBytes(0, len(source))
        self._spans: dict[bytes, Mapping[tuple[int, int], VisibleBytes]] = {}

    @property
    def has_rules(self) -> bool:
        """Whether the language has a table of its scopes."""
        return self._rules is not _NO_RULES

    def span(self, name: bytes, variable: Variable) -> VisibleBytes:
        """Returns where a variable is visible."""
        if variable.subject != "bound":
            return self._everywhere
        return self._spans_of(name)[_key(variable)]

    def hides(self, name: bytes, byte: int) -> bool:
        """Returns whether a name means a variable of a function or a closure at a byte."""
        return any(self.hidden_from(one) <= byte < one.end for one in self._spans_of(name).values())

    def hidden_from(self, span: VisibleBytes) -> int:
        """Returns the first byte where the name of a variable cannot mean anything outside of its function."""
        return span.start if self._rules.from_declaration else max(span.block, 0)

    def lines(self, name: bytes, variable: Variable) -> Lines | None:
        """Returns the lines on which a name means a variable; None if there are none."""
        span, node, source = self.span(name, variable), variable.node, self._source
        first = node.start_point[0] + 1
        is_local = span.is_part or self._nesting.around(node.start_byte) >= 0
        if not (self.has_rules and variable.subject == "bound" and is_local):
            return Lines(first, 0)
        begin, end = self._line_start(min(node.start_byte, span.start)), self._line_end(span.start)
        if not span.is_part and source.count(name, begin, end) == 1:
            return Lines(first, 0)  # the most common case
        widths = (
            self._line_end(at) - self._line_start(at) for at in (begin, span.start, max(span.end - 1, 0))
        )
        if max(widths) > LINE_BYTES_MAX:
            return Lines(first, 0)
        places = self._uses(name, begin, end)
        inside = [at for at in places if self._is_inside(at, span, variable)]
        outside = [at for at in places if at not in inside and at != node.start_byte]
        start = first + source.count(b"\n", node.start_byte, max(node.start_byte, span.start))
        unclear: list[int] = []
        if outside:
            first = start if inside else start + 1
            is_mixed = inside and any(at >= self._line_start(span.start) for at in outside)
            unclear += [start] if is_mixed else []
        if not span.is_part:
            return Lines(first, 0, tuple(unclear))
        last = 1 + node.start_point[0] + source.count(b"\n", node.start_byte, span.end - 1)
        if last > start:  # what follows the last bracket may begin before the block
            is_used = bool(self._uses(name, self._line_start(span.end - 1), span.end))
            is_mixed = is_used and self._uses(name, span.end, self._line_end(span.end - 1))
            unclear += [last] if is_mixed else []
            last -= not is_used
        return Lines(first, last, tuple(unclear)) if first <= last else None

    def _is_inside(self, at: int, span: VisibleBytes, variable: Variable) -> bool:
        if not span.start <= at < span.end or at == variable.node.start_byte:
            return False
        collection = variable.captures.get("collection", ()) if span.start < variable.node.start_byte else ()
        return not any(one.start_byte <= at < one.end_byte for one in collection)

    def _spans_of(self, name: bytes) -> Mapping[tuple[int, int], VisibleBytes]:
        if name not in self._spans:
            self._spans[name] = dict(self._walk(self._variables.get(name, ())))
        return self._spans[name]

    def _walk(self, variables: Sequence[Variable]) -> Iterator[tuple[tuple[int, int], VisibleBytes]]:
        """Yields the spans of the variables of a name. An assignment has the end of what it assigns to."""
        is_limited = self.has_rules and len(variables) <= VARIABLES_MAX
        open_: list[_Scope] = []
        for begin, variable in sorted(((_begin(one), one) for one in variables), key=itemgetter(0)):
            around = self._nesting.around(variable.node.start_byte)
            last = self._nesting.kept[around].end if around >= 0 else len(self._source)
            whole = _Scope(last, -1, around, variable.captures)
            if variable.subject != "bound":
                yield _key(variable), VisibleBytes(0, whole.end)
                continue
            scope = (self._block_of(variable, whole) if is_limited else None) or whole
            open_ = [one for one in open_ if one.end > begin]
            is_said = False
            if _is_assigned(variable.node, self._rules.assignments):
                known = [one for one in open_ if one.around == around]
                if known:
                    scope = min(known, key=attrgetter("end"))
                elif not self._rules.assignment_declares:
                    scope = whole
                is_said = bool(self._rules.saying) and (
                    not self._rules.saying.isdisjoint(scope.captures) if known else self._rules.has_types
                )
            open_.append(scope)
            start = min(self._start_of(variable, scope), scope.end)
            yield _key(variable), VisibleBytes(start, scope.end, scope.block, is_said)

    def _start_of(self, variable: Variable, scope: _Scope) -> int:
        """Returns the byte from which on a name means the variable."""
        node, captures = variable.node, variable.captures
        if "within" in captures:
            return captures["within"][0].start_byte
        if node.parent is not None and node.parent.type in self._rules.clauses:
            return max(scope.block, 0)
        values = [*captures.get("given", ()), *captures.get("collection", ())]
        if not (self._rules.from_value or _is_assigned(node, self._rules.assignments)):
            values = []
        elif (value := self._value_of(node)) is not None:
            values.append(value)
        ends: list[int] = [one.end_byte for one in (node, *values)]
        return max(ends)

    def _block_of(self, variable: Variable, whole: _Scope) -> _Scope | None:
        """Returns the block or closure that limits a variable in its function; None if none does."""
        if "within" in variable.captures:
            part = variable.captures["within"][0]
            return whole._replace(end=part.end_byte, block=part.start_byte)
        rules, node = self._rules, variable.node
        wanted = rules.blocks | rules.closures
        first = self._nesting.kept[whole.around].start if whole.around >= 0 else -1
        block = node.parent
        for _ in range(LEVELS_MAX):
            if block is None or block.parent is None or block.start_byte <= first:
                return None
            if block.type in rules.hoisted:
                wanted = rules.closures
            if block.type in wanted:
                end = self._end_of(block, node)
                is_callable = whole.around >= 0 and self._nesting.kept[whole.around].kind in CALLABLE_KINDS
                is_whole = is_callable and not self._source[end : whole.end].strip(b" \t\r\n};")
                return None if is_whole else whole._replace(end=end, block=block.start_byte)
            block = block.parent
        return None

    def _end_of(self, block: Node, node: Node) -> int:
        """Returns the end of a block; for a variable of a condition, where the code begins that runs without it."""
        for child in block.children if self._rules.otherwise else ():
            if child.type in self._rules.otherwise and child.start_byte > node.start_byte:
                return child.start_byte
        return block.end_byte

    def _value_of(self, node: Node) -> Node | None:
        """Returns the node with the value of a variable, where the grammar names it."""
        outer = node.parent
        for _ in range(_VALUE_LEVELS):
            is_block = outer is not None and outer.type in self._rules.blocks | self._rules.closures
            if outer is None or (is_block and outer.type not in _LOOPS):
                return None
            for name in _VALUES:
                value = outer.child_by_field_name(name)
                if value is not None and value.start_byte >= node.end_byte:
                    return value
            outer = outer.parent
        return None

    def _uses(self, name: bytes, start: int, end: int) -> list[int]:
        """Returns where a name is used between two bytes, but not as a member."""
        found = []
        at = self._source.find(name, start, end)
        while at >= 0:
            after = at + len(name)
            if self._is_name(at, after):
                found.append(at)
            at = self._source.find(name, after, end)
        return found

    def _is_name(self, start: int, end: int) -> bool:
        source = self._source
        before, after = source[max(0, start - 2) : start], source[end : end + 1]
        if before[-1:] in _WORD or after in _WORD or (before.endswith(b".") and before != b".."):
            return False  # `depot` of `...depots` is no member, that of `town.depot` is one
        return not (self._rules.never_called and source[end : end + 2].lstrip().startswith(b"("))

    def _line_start(self, byte: int) -> int:
        return self._source.rfind(b"\n", 0, byte) + 1

    def _line_end(self, byte: int) -> int:
        end = self._source.find(b"\n", byte)
        return end if end >= 0 else len(self._source)


def _is_assigned(node: Node, assignments: frozenset[str]) -> bool:
    parent = node.parent
    if parent is not None and parent.type in _TARGETS:
        parent = parent.parent
    return parent is not None and parent.type in assignments


def _begin(variable: Variable) -> int:
    return (
        variable.captures["within"][0].start_byte
        if "within" in variable.captures
        else variable.node.start_byte
    )


def _key(variable: Variable) -> tuple[int, int]:
    return variable.node.start_byte, _begin(variable)
