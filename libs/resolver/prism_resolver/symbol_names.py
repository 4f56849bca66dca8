"""Parses symbol names in the notation of any language, and matches them with definitions.

`(*gin.Context).Next`, `gin.Context#Next()` and `Context::Next` are three notations of one name. The
components before the symbol's own name are its owner (`Context`), found in its qualified name, or its
location (`gin`), found in its path.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import re2  # type: ignore[import-untyped]

# A place in a file, as another way to name the symbol in it: `src/depot.py:42`.
AT_LINE = re.compile(r"(?P<path>.+):(?P<line>\d{1,9})")
SEPARATOR = re.compile(r"::|->|[.#\\/:]")
# Parts of a notation besides names, in some languages.
PARAMETERS = re.compile(r"(?<=[\w!?>\]])\s*\([^()]*\)$")
ARITY = re.compile(r"(?<=[\w!?])/\d+$")
IMPLEMENTED = re2.compile(r"<[^<>]* as ([^<>]+)>")  # <T as Trait>::name; with `re` cubic in a run of " as a"
TYPE_ARGUMENTS = re.compile(r"(?<=\w)(?:::)?(?:<[^<>]*>|\[[^\[\]]*\])")
PROTOTYPE = "prototype"
MARKS = re.compile(r"[()*&@]")
BETWEEN_WORDS = re.compile(r"[\W_]")
NOT_FLAT = re.compile(r"[^a-z0-9]")


class NamedDefinition(Protocol):
    """A definition with its own name and its qualified name."""

    @property
    def name(self) -> str: ...
    @property
    def qualified_name(self) -> str: ...


class NameFit(NamedTuple):
    """How well a definition matches a name. Compares as a tuple: greater is better."""

    shared: int  # number of trailing components that both have
    placed: int  # number of components before them that the definition's location has
    is_whole: bool  # the definition has no further owner

    @property
    def degree(self) -> tuple[int, int]:
        """How much of the name matched."""
        return self.shared, self.placed


@dataclass(frozen=True)
class RepoPath:
    """A location of definitions: the name of a repository, and a path in it."""

    repo: str
    path: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Names that refer to it: the repository, the folders and file of the path, and their words."""
        names = [*self.repo.split("/"), *self.path.split("/")]
        pieces = (
            piece for name in names for piece in (name, name.rpartition(".")[0], *BETWEEN_WORDS.split(name))
        )
        return frozenset(filter(None, map(flat, pieces)))


@dataclass(frozen=True)
class SymbolName:
    """A name as written, and its components, outermost first; at least one."""

    spelled: str
    parts: tuple[str, ...]

    @classmethod
    def read(cls, spelled: str) -> "SymbolName":
        """Parses a name. Accepts any text: without components, the text is the only component."""
        text = spelled = spelled.strip()
        for pattern, replacement in ((PARAMETERS, ""), (ARITY, ""), (IMPLEMENTED, r"\1")):
            text = pattern.sub(replacement, text)
        while (shorter := TYPE_ARGUMENTS.sub("", text)) != text:
            text = shorter
        parts = list(filter(None, (part.strip() for part in SEPARATOR.split(MARKS.sub("", text)))))
        # `Depot.prototype.open` is the method `Depot.open`.
        named = [part for part in parts[:-1] if part != PROTOTYPE]
        return cls(spelled, (*named, *parts[-1:]) if named else tuple(parts) or (spelled,))

    @property
    def last(self) -> str:
        """The symbol's own name."""
        return self.parts[-1]

    @property
    def dotted(self) -> str:
        """All components, joined like a qualified name."""
        return ".".join(self.parts)

    @property
    def longer(self) -> tuple[str, ...]:
        """The possible names of a definition that are longer than the last component."""
        ends = (".".join(self.parts[start:]) for start in range(len(self.parts) - 1))
        return tuple(dict.fromkeys(name for name in (*self._as_written, *ends) if name != self.last))

    def fit(self, symbol: NamedDefinition, location: RepoPath) -> NameFit | None:
        """Returns how well a definition at a location matches; None if the name means another one."""
        if self._as_written & {symbol.name, symbol.qualified_name}:
            return NameFit(len(self.parts), 0, is_whole=symbol.qualified_name in self._as_written)
        own = symbol.qualified_name.split(".")
        shared = _shared_end(own, self.parts)
        rest = self.parts[: len(self.parts) - shared]
        if not shared or (rest and not _may_lead(rest[-1], location)):
            return None
        return NameFit(
            shared, sum(flat(part) in location.words for part in rest), is_whole=len(own) == shared
        )

    def matched_suffix(self, fit: NameFit) -> str:
        """Returns the matched end of the name if nothing supports the rest; else an empty string."""
        return "" if fit.placed or fit.shared == len(self.parts) else ".".join(self.parts[-fit.shared :])

    @cached_property
    def _as_written(self) -> frozenset[str]:
        return frozenset({self.spelled, SEPARATOR.sub(".", self.spelled)})


def flat(name: str) -> str:
    """Returns only letters and digits, in lower case: `flat_hash_map` and `FlatHashMap` become the same."""
    return NOT_FLAT.sub("", name.lower())


def _shared_end(own: list[str], requested: tuple[str, ...]) -> int:
    pairs = zip(reversed(own), reversed(requested), strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(own), len(requested)))


def _may_lead(part: str, location: RepoPath) -> bool:
    """Returns whether a component may precede a symbol that it does not own.

    A part of the symbol's location may, and so may a module or a variable, which begin in lower case
    (`self.close`). After a type that does not own the symbol, the name means another symbol.
    """
    return flat(part) in location.words or part[:1].islower()
