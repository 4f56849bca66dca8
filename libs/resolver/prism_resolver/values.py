"""The value of an expression, as far as it is known without running code."""

from enum import Enum, auto
from typing import NamedTuple

from prism_contracts.code import Strategy
from prism_resolver.modules import Certainty


class SymbolRef(NamedTuple):
    """A symbol, or a whole file."""

    file: str  # id
    symbol: int  # position in the symbols of the file; -1: the file itself, as in `import module`


class ValueKind(Enum):
    """What kind of thing an expression evaluates to."""

    SYMBOL = auto()  # a definition: the class itself, a function, a variable
    INSTANCE = auto()  # an instance of a class
    SUPER = auto()  # the instance, seen as one of its base classes
    MODULE = auto()
    EXTERNAL = auto()  # defined elsewhere: by the language, by a package, or as another kind of thing
    LOCAL = auto()  # a local variable of unknown value
    UNKNOWN = auto()

    # Each kind is one object. The hash of an `Enum` is a call in Python, and there are many.
    __hash__ = object.__hash__


class Value(NamedTuple):
    """The value of an expression. `symbols` are its definitions; for an instance, those of its class."""

    kind: ValueKind
    symbols: tuple[SymbolRef, ...] = ()
    certainty: Certainty = Certainty.YES
    strategy: Strategy = Strategy.NAME

    @property
    def is_known(self) -> bool:
        """Whether anything is known about the value, including that it is defined elsewhere."""
        return self.kind is not ValueKind.UNKNOWN

    def with_strategy(self, strategy: Strategy, certainty: Certainty = Certainty.YES) -> "Value":
        """Returns the same value, found by another strategy, with at most the given certainty."""
        return self._replace(strategy=strategy, certainty=min(self.certainty, certainty))


UNKNOWN = Value(ValueKind.UNKNOWN)
EXTERNAL = Value(ValueKind.EXTERNAL)
LOCAL = Value(ValueKind.LOCAL)
