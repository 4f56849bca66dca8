"""Data between the stages of the chunker: the budget, the result, and the outline that every
reader returns.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from prism_contracts.code import Binding, Chunk, Reference, Symbol

# Part of the content address of a chunk: bumped when the same text yields other chunks, symbols, references
# or bindings.
CHUNKER_VERSION = "38"

ParseState = Literal["ok", "partial", "lines", "timeout", "crashed", "too_large"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one file. Past a limit of time or size the file is chunked by lines; past a count,
    results are truncated.
    """

    parse_ms_max: int = 2_000
    size_chars_max: int = 1_500_000
    symbols_max: int = 10_000
    references_max: int = 20_000
    bindings_max: int = 10_000
    keys_max: int = 200  # keys of data files
    nodes_max: int = 50_000  # nodes visited to find cuts


@dataclass(frozen=True, slots=True)
class Parsed:
    """A chunked file. Joined, the texts of the chunks are the text of the file."""

    language: str
    line_count: int
    parse: ParseState
    chunks: tuple[Chunk, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: tuple[Binding, ...] = ()


class Cut(NamedTuple):
    """A row (0-based) where a piece of the file begins, and the piece's depth in the syntax."""

    row: int
    depth: int


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What a reader found in a file: cuts, ascending, at most one per row; symbols, references, bindings."""

    parse: ParseState
    cuts: list[Cut] = field(default_factory=list)
    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: tuple[Binding, ...] = ()
