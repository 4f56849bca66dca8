"""What a parser saw in one file."""

from collections.abc import Sequence
from dataclasses import dataclass

from prism_contracts.code import Binding, Reference, Symbol


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file of a repository, by what it defines, uses and says of its variables."""

    id: str  # of the file point
    scope: str  # scope key: repository and layer
    repo: str  # the repository's own name, without its owner
    path: str
    language: str
    flags: str
    symbols: Sequence[Symbol]
    references: Sequence[Reference]
    bindings: Sequence[Binding]
