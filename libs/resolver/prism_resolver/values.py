"""What an expression stands for, as far as it can be told without running it."""

from enum import Enum, auto
from typing import NamedTuple

from prism_contracts.code import Strategy
from prism_resolver.modules import Certainty


class SymbolRef(NamedTuple):
    """A symbol, or a whole file."""

    file: str  # id
    symbol: int  # position in its file's symbols; -1: the file, which is what `import module` means


class ValueKind(Enum):
    """What kind of thing an expression stands for."""

    SYMBOL = auto()  # a definition: a class itself, a function, a variable
    INSTANCE = auto()  # an object of a class
    SUPER = auto()  # the object itself, seen as one of what its class inherits from
    MODULE = auto()
    EXTERNAL = (
        auto()
    )  # something that is defined elsewhere: the language itself, a package, another kind of thing
    LOCAL = auto()  # a variable of a function, of whose value nothing is known
    UNKNOWN = auto()


class Value(NamedTuple):
    """What an expression stands for. `places` are the definitions, for an object those of its class."""

    kind: ValueKind
    symbols: tuple[SymbolRef, ...] = ()
    certainty: Certainty = Certainty.YES
    strategy: Strategy = Strategy.NAME

    @property
    def is_known(self) -> bool:
        """Whether anything is known, be it that it is something else."""
        return self.kind is not ValueKind.UNKNOWN

    def with_strategy(self, strategy: Strategy, certainty: Certainty = Certainty.YES) -> "Value":
        """The same, found in another way, and at most as sure as that."""
        return self._replace(strategy=strategy, certainty=min(self.certainty, certainty))


UNKNOWN = Value(ValueKind.UNKNOWN)
EXTERNAL = Value(ValueKind.EXTERNAL)
LOCAL = Value(ValueKind.LOCAL)
