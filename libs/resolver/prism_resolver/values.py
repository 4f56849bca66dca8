"""What an expression stands for, as far as it can be told without running it."""

from enum import Enum, auto
from typing import NamedTuple

from prism_contracts.code import Strategy
from prism_resolver.modules import Sure


class Place(NamedTuple):
    """A symbol, or a whole file."""

    file: str  # id
    symbol: int  # position in its file's symbols; -1: the file, which is what `import module` means


class What(Enum):
    """What kind of thing an expression stands for."""

    SYMBOL = auto()  # a definition: a class itself, a function, a variable
    OBJECT = auto()  # an object of a class
    BASES = auto()  # the object itself, seen as one of what its class inherits from
    MODULE = auto()
    FOREIGN = (
        auto()
    )  # something that is defined elsewhere: the language itself, a package, another kind of thing
    LOCAL = auto()  # a variable of a function, of whose value nothing is known
    UNKNOWN = auto()


class Value(NamedTuple):
    """What an expression stands for. `places` are the definitions, for an object those of its class."""

    what: What
    places: tuple[Place, ...] = ()
    sure: Sure = Sure.YES
    strategy: Strategy = Strategy.NAME

    @property
    def is_told(self) -> bool:
        """Whether anything is known, be it that it is something else."""
        return self.what is not What.UNKNOWN

    def by(self, strategy: Strategy, sure: Sure = Sure.YES) -> "Value":
        """The same, found in another way, and at most as sure as that."""
        return self._replace(strategy=strategy, sure=min(self.sure, sure))


UNKNOWN = Value(What.UNKNOWN)
FOREIGN = Value(What.FOREIGN)
LOCAL = Value(What.LOCAL)
