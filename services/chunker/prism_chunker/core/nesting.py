"""Which definition encloses which, and the innermost one at any byte.

Local variables, and definitions past the budget, are dropped here.
"""

from bisect import bisect_right

from prism_chunker.core.definitions import MatchedDefinition
from prism_chunker.core.languages.table import Language
from prism_chunker.core.model import Budget
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, VALUE_KINDS, SymbolKind

# Placeholders for an unwanted or missing name.
_NO_NAMES = frozenset({"_", ""})


class Nesting:
    """The kept definitions, each with its dotted path, its encloser (or scope), and its parent's position."""

    def __init__(self, definitions: list[MatchedDefinition], language: Language, budget: Budget) -> None:
        self.kept: list[MatchedDefinition] = []
        self.paths: list[str] = []
        self.outer: list[MatchedDefinition | None] = []
        self.parents: list[int] = []
        self._language = language
        self._budget = budget
        self._keys = 0
        self._types: dict[str, int] = {}
        self._stack: list[tuple[MatchedDefinition, str, int]] = []
        self._starts: list[int] = []
        self._inside: list[int] = []
        for definition in definitions:
            self._leave(definition.start)
            self._enter(definition)
        self._leave(max((definition.end for definition in definitions), default=0))

    def around(self, byte: int) -> int:
        """Returns the position of the innermost kept definition around a byte, or -1."""
        index = bisect_right(self._starts, byte) - 1
        return self._inside[index] if index >= 0 else -1

    def _leave(self, until: int) -> None:
        stack = self._stack
        while stack and stack[-1][0].end <= until:
            end = stack.pop()[0].end
            self._mark(end, stack[-1][2] if stack else -1)

    def _enter(self, definition: MatchedDefinition) -> None:
        self._pop_twin(definition)
        is_promoted = bool(self._stack) and _is_promoted(definition, self._stack[-1][0])
        is_beside = bool(self._stack) and self._is_beside(definition, self._stack[-1][0])
        depth = 2 if is_beside or is_promoted else 1
        outer, path, index = self._stack[-depth] if len(self._stack) >= depth else (None, "", -1)
        if self._is_dropped(definition, outer):
            return
        path = ".".join(filter(None, (path, definition.owner, definition.name)))
        if definition.kind is None:
            index = self._types.get(path, index)
        else:
            self.parents.append(index)
            index = len(self.kept)
            self.kept.append(definition)
            self.paths.append(path)
            self.outer.append(outer)
            if definition.kind in TYPE_KINDS:
                self._types[path] = index
        if not is_promoted:  # its type and its default belong to the constructor
            self._stack.append((definition, path, index))
            self._mark(definition.start, index)

    def _pop_twin(self, definition: MatchedDefinition) -> None:
        """Two names of one node (`a, b = 1, 2`) are siblings."""
        if (
            self._stack
            and self._stack[-1][0].start == definition.start
            and self._stack[-1][0].end == definition.end
        ):
            self._stack.pop()

    def _is_beside(self, definition: MatchedDefinition, outer: MatchedDefinition) -> bool:
        """Whether a type is not in the name that it is declared with: `typedef struct gate { } gate;`."""
        is_type = self._language.c_family and definition.kind in TYPE_KINDS
        return is_type and outer.name_start >= definition.end

    def _is_dropped(self, definition: MatchedDefinition, outer: MatchedDefinition | None) -> bool:
        if definition.name in _NO_NAMES:
            return True
        if outer is not None and outer.kind in CALLABLE_KINDS and self._is_local(definition):
            return True
        if definition.kind is SymbolKind.KEY:
            self._keys += 1
        return self._keys > self._budget.keys_max or len(self.kept) >= self._budget.symbols_max

    def _is_local(self, definition: MatchedDefinition) -> bool:
        """Whether it is a value inside a function.

        `Cart cart(3);` is a value in C++, though it parses like a function declaration.
        """
        is_announced = (
            self._language.c_family and definition.kind is SymbolKind.FUNCTION and not definition.body
        )
        return is_announced or definition.kind in VALUE_KINDS

    def _mark(self, byte: int, index: int) -> None:
        self._starts.append(byte)
        self._inside.append(index)


def _is_promoted(definition: MatchedDefinition, outer: MatchedDefinition) -> bool:
    """Whether a property of PHP is declared as a parameter of the constructor: `__construct(private Depot $depot)`."""
    is_property = definition.kind is SymbolKind.PROPERTY and outer.kind in CALLABLE_KINDS
    return is_property and definition.start < outer.body
