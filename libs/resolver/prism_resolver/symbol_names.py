"""Names of symbols as callers spell them, in whatever language, and which definitions such a name can mean.

`(*gin.Context).Next`, `gin.Context#Next()` and `Context::Next` are one name in three spellings. What stands before the
name of a symbol is its owner (`Context`), which its qualified name tells, or where it is (`gin`), which its path tells.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import re2  # type: ignore[import-untyped]

SEPARATOR = re.compile(r"::|->|[.#\\/:]")
# What a spelling has beside names, each in the languages that write it so.
PARAMETERS = re.compile(r"(?<=[\w!?])\s*\([^()]*\)$")
ARITY = re.compile(r"(?<=[\w!?])/\d+$")
IMPLEMENTED = re2.compile(r"<[^<>]* as ([^<>]+)>")  # <T as Trait>::name; with `re` cubic in a run of " as a"
TYPE_ARGUMENTS = re.compile(r"(?<=\w)(?:::)?(?:<[^<>]*>|\[[^\[\]]*\])")
MARKS = re.compile(r"[()*&@]")
BETWEEN_WORDS = re.compile(r"[\W_]")
NOT_FLAT = re.compile(r"[^a-z0-9]")


class NamedDefinition(Protocol):
    """What a definition is called, on its own and with its owners."""

    @property
    def name(self) -> str: ...
    @property
    def qualified_name(self) -> str: ...


class NameFit(NamedTuple):
    """How well a definition fits a name: the greater, the better."""

    shared: int  # last components that both have
    placed: int  # of the components before them, how many the definition's place has
    is_whole: bool  # the definition has no further owner

    @property
    def degree(self) -> tuple[int, int]:
        """By how much of the name it was found."""
        return self.shared, self.placed


@dataclass(frozen=True)
class RepoPath:
    """Where symbols are defined: the name of a repository, and a path in it."""

    repo: str
    path: str

    @cached_property
    def words(self) -> frozenset[str]:
        """What it may be called: the repository, the folders and the file of the path, and their words."""
        names = [*self.repo.split("/"), *self.path.split("/")]
        pieces = (
            piece for name in names for piece in (name, name.rpartition(".")[0], *BETWEEN_WORDS.split(name))
        )
        return frozenset(filter(None, map(flat, pieces)))


@dataclass(frozen=True)
class SymbolName:
    """A name as it was spelled, and its components, the outermost first; at least one."""

    spelled: str
    parts: tuple[str, ...]

    @classmethod
    def read(cls, spelled: str) -> "SymbolName":
        """Any text is a name: one without components is its own."""
        text = spelled = spelled.strip()
        for pattern, replacement in ((PARAMETERS, ""), (ARITY, ""), (IMPLEMENTED, r"\1")):
            text = pattern.sub(replacement, text)
        while (shorter := TYPE_ARGUMENTS.sub("", text)) != text:
            text = shorter
        parts = (part.strip() for part in SEPARATOR.split(MARKS.sub("", text)))
        return cls(spelled, tuple(filter(None, parts)) or (spelled,))

    @property
    def last(self) -> str:
        """The symbol's own name."""
        return self.parts[-1]

    @property
    def dotted(self) -> str:
        """All components, as qualified names are written."""
        return ".".join(self.parts)

    @property
    def longer(self) -> tuple[str, ...]:
        """What a definition may be called that tells more than the last component."""
        ends = (".".join(self.parts[start:]) for start in range(len(self.parts) - 1))
        return tuple(dict.fromkeys(name for name in (*self._as_written, *ends) if name != self.last))

    def fit(self, symbol: NamedDefinition, location: RepoPath) -> NameFit | None:
        """How well a definition at a location fits; None if the name means another one."""
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
        """The end of the name that such a definition is called, if nothing speaks for what is before it; else empty."""
        return "" if fit.placed or fit.shared == len(self.parts) else ".".join(self.parts[-fit.shared :])

    @cached_property
    def _as_written(self) -> frozenset[str]:
        return frozenset({self.spelled, SEPARATOR.sub(".", self.spelled)})


def flat(name: str) -> str:
    """Letters and digits only, lower case: `flat_hash_map` and `FlatHashMap` are the same."""
    return NOT_FLAT.sub("", name.lower())


def _shared_end(own: list[str], requested: tuple[str, ...]) -> int:
    pairs = zip(reversed(own), reversed(requested), strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(own), len(requested)))


def _may_lead(part: str, location: RepoPath) -> bool:
    """Whether a component may stand before a symbol that it does not own: a part of its location, or what begins in lower
    case and so is a module or a variable (`self.close`). A type that does not own the symbol means another one.
    """
    return flat(part) in location.words or part[:1].islower()
