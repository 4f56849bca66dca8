"""Chooses the lines of a file to show, and the symbol that names them."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from prism_contracts.code import CALLABLE_KINDS
from prism_search.core.matching import Question
from prism_search.core.outline import OutlineEntry
from prism_search.core.query import Query, dotted, last_name
from prism_search.core.retrieval.candidates import Candidate, ChunkHit
from prism_search.core.words import stems_of

RANGE_LINES_MAX = 120
OPENING_LINES = 40
SUPPORT_DECAY = 0.5


@dataclass(frozen=True)
class Range:
    """Lines of a candidate that answer, 1-based and inclusive."""

    start: int
    end: int
    symbol: str = ""
    kind: str = ""
    # Whether the question matches the name of the symbol. Else it is only the first symbol of a chunk.
    is_named: bool = field(default=False, compare=False)


def best_range(question: Question, file: Candidate) -> Range:
    """Returns the lines to show.

    They are the definition of a symbol that the question names, else the best chunk, else the best-named
    definition, else the beginning.
    """
    named = _named_definition(question.query, file)
    if named is not None:
        return _definition_range(named)
    passages = _passages(question, file, [*file.keyword_chunks, *file.vector_chunks])
    if passages:
        return passages[0]
    named = max(file.touched, key=lambda d: question.name_match(d.name), default=None)
    if named is not None and question.name_match(named.name):
        return _definition_range(named)
    return Range(1, max(1, min(file.lines, OPENING_LINES)))


def further_ranges(question: Question, file: Candidate, shown: Sequence[Range]) -> list[Range]:
    """Returns other chunks with words of the question, best first, that do not overlap `shown`."""
    ranges: list[Range] = []
    for found in _passages(question, file, file.keyword_chunks):
        if all(found.end < other.start or found.start > other.end for other in [*shown, *ranges]):
            ranges.append(found)
    return ranges


def _named_definition(query: Query, file: Candidate) -> OutlineEntry | None:
    for symbol in query.symbols:
        wanted, name = dotted(symbol), last_name(symbol)
        if not file.outline.may_define(name):
            continue
        named = [definition for definition in file.outline.definitions() if definition.name == name]
        if named:
            return max(named, key=lambda d: (d.qualified_name.endswith(wanted), d.group in "TF", -d.start))
    return None


def _definition_range(definition: OutlineEntry) -> Range:
    end = min(definition.end, definition.start + RANGE_LINES_MAX - 1)
    return Range(definition.start, end, definition.qualified_name, definition.kind)


def _passages(question: Question, file: Candidate, chunks: Iterable[ChunkHit]) -> list[Range]:
    """Returns each of the chunks once, best first.

    A chunk scores up to 1 for its words and 1 for its vector, both as shares of the file's best, and 1 for
    the name of a definition in it: none of the three alone separates the lines that do something from those
    that mention it. Further chunks of the same function add to its score, each less than the one before.
    """
    by_words, by_vector = _shares(file.keyword_chunks), _shares(file.vector_chunks)
    names = _names(question, file)
    # With the symbol of the chunk, because the range may be named after a definition in it.
    scored: list[tuple[float, str, Range]] = []
    points: dict[str, list[float]] = defaultdict(list)  # scores of the chunks of a function, by its name
    for chunk in {chunk.id: chunk for chunk in chunks}.values():
        inside = (item for item in names if chunk.start <= item[1].start <= chunk.end)
        match, definition = max(inside, key=lambda item: item[0], default=(0.0, None))
        score = by_words.get(chunk.id, 0.0) + by_vector.get(chunk.id, 0.0) + match
        scored.append((score, chunk.symbol, _chunk_range(chunk, definition if match else None)))
        if chunk.kind in CALLABLE_KINDS:
            points[chunk.symbol].append(score)
    support = {symbol: _support(scores) for symbol, scores in points.items()}
    order = sorted(scored, key=lambda item: (-item[0] - support.get(item[1], 0.0), item[2].start))
    return [found for _, _, found in order]


def _names(question: Question, file: Candidate) -> list[tuple[float, OutlineEntry]]:
    """Returns types and functions with their match to the question, without words in the file's name."""
    about_file = frozenset(
        question.matched_stems(stems_of(posixpath.splitext(posixpath.basename(file.path))[0]))
    )
    return [
        (question.name_match_within(definition.name, about_file), definition)
        for definition in file.touched
        if definition.group in "TF"
    ]


def _support(scores: Sequence[float]) -> float:
    """Returns what the other chunks of a function add to its best: a decaying sum."""
    rest = sorted(scores, reverse=True)[1:]
    return sum(score * SUPPORT_DECAY**rank for rank, score in enumerate(rest, start=1))


def _shares(chunks: Sequence[ChunkHit]) -> dict[str, float]:
    """Returns each chunk's score as a share of the best; the better one if two models found it."""
    best = max((chunk.score for chunk in chunks), default=0.0)
    shares: dict[str, float] = {}
    for chunk in chunks if best > 0 else ():
        shares[chunk.id] = max(shares.get(chunk.id, 0.0), chunk.score / best)
    return shares


def _chunk_range(chunk: ChunkHit, named: OutlineEntry | None) -> Range:
    if named is None:
        return Range(chunk.start, chunk.end, chunk.symbol, chunk.kind)
    return Range(chunk.start, chunk.end, named.qualified_name, named.kind, is_named=True)
