"""Ranks the symbols of a file by how well each answers a question.

In: the file's outline, its text, the chunks that the legs found. Out: symbols, best first, each with the words of the
question that its own lines contain.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt
from typing import NamedTuple

from prism_contracts.code import TYPE_KINDS
from prism_search.core.matching import Question
from prism_search.core.outline import BLOCK_LINES_MIN, VALUE, OutlineEntry
from prism_search.core.passages import Range
from prism_search.core.retrieval.candidates import Candidate, ChunkHit
from prism_search.core.retrieval.member_text import MemberText, merged

# Weights beside the words of a symbol's lines, which count 0 to 1: those words again by how dense they are, its name,
# its name with the types around it, the chunks that touch it, and its share of the passage.
DENSITY_WEIGHT, NAME_WEIGHT, QUALIFIED_WEIGHT, CHUNK_WEIGHT, INSIDE_WEIGHT = 0.7, 1.0, 0.5, 0.2, 0.2
# A symbol of so many lines more is about 1.4 times less dense.
DENSITY_LINES = 20
BIG_TYPE_PENALTY = 0.5
# So many lines of a type with members count as its own.
HEADER_LINES = 6
# A type of more lines is shown as one of its members, unless the question has its whole name.
TYPE_LINES_MAX = 40
FULL_NAME = 0.99
# Modules inside a source file whose functions are tests.
TEST_MODULES = frozenset({"test", "tests"})


class RankedMember(NamedTuple):
    """A symbol, its score, and the stems of the question in its own lines, each with its likeness."""

    score: float
    symbol: OutlineEntry
    stems: Mapping[str, float]


class _LegChunks(NamedTuple):
    """The chunks of a file that a leg found, and the highest of their scores."""

    chunks: Sequence[ChunkHit]
    best: float


def rank_members(
    question: Question, file: Candidate, found: Range, text: MemberText, among: Range
) -> list[RankedMember]:
    """Returns the symbols that touch the lines `among`, best first. `found` is the passage of the legs."""
    members = members_in(file, among, with_tests=question.query.about_tests)
    own = _own(question, members, text)
    frequency = Counter(stem for stems, _ in own for stem in stems)
    weights = {
        stem: log(1 + len(members) / count) / log(1 + len(members)) for stem, count in frequency.items()
    }
    legs = [chunks for chunks in (file.keyword_chunks, file.vector_chunks) if chunks]
    found_by = [_LegChunks(chunks, max(chunk.score for chunk in chunks)) for chunks in legs]
    ranked = []
    for one, (stems, lines) in zip(members, own, strict=True):
        distinct = question.share({stem: degree * weights[stem] for stem, degree in stems.items()})
        density = question.share(stems) / sqrt(1 + lines / DENSITY_LINES)
        score = distinct + DENSITY_WEIGHT * density + _of_name_and_place(question, one, found_by, found)
        ranked.append(RankedMember(score, one, stems))
    return sorted(ranked, key=lambda one: (-one.score, one.symbol.start))


def members_in(file: Candidate, lines: Range, *, with_tests: bool = True) -> list[OutlineEntry]:
    """Returns the types, functions and larger values that touch some lines; tests inside a source file if asked for."""
    inside = [
        one
        for one in file.definitions
        if one.start <= lines.end
        and one.end >= lines.start
        and (one.group != VALUE or one.end - one.start >= BLOCK_LINES_MIN)
    ]
    tests = [] if with_tests else [one for one in inside if one.kind == "module" and one.name in TEST_MODULES]
    return [one for one in inside if not any(test.start <= one.start <= test.end for test in tests)] or inside


def _own(
    question: Question, members: Sequence[OutlineEntry], text: MemberText
) -> list[tuple[Mapping[str, float], int]]:
    """Returns the stems in each symbol's lines without those of the symbols in it, and the number of these lines."""
    owner: dict[int, int] = {}
    for index, end in _in_order(members):
        owner.update(dict.fromkeys(range(members[index].start, end + 1), index))
    found: list[list[Mapping[str, float]]] = [[] for _ in members]
    for number, stems in text.stems_by_line(question).items():
        if number in owner:
            found[owner[number]].append(stems)
    counts = Counter(owner.values())
    return [(merged(stems), counts[index]) for index, stems in enumerate(found)]


def _in_order(members: Sequence[OutlineEntry]) -> Iterable[tuple[int, int]]:
    """Returns the index and the last own line of each symbol, outer ones first."""
    order = sorted(range(len(members)), key=lambda index: (members[index].start, -members[index].end))
    for position, index in enumerate(order):
        one = members[index]
        following = members[order[position + 1]] if position + 1 < len(order) else None
        has_members = following is not None and following.end <= one.end
        is_header = one.kind in TYPE_KINDS and has_members
        yield index, min(one.end, one.start + HEADER_LINES) if is_header else one.end


def _of_name_and_place(
    question: Question, one: OutlineEntry, legs: Sequence[_LegChunks], found: Range
) -> float:
    """Returns the part of the score that does not depend on the text."""
    named = question.name_match(one.name)
    qualified = question.matched_stems_of_name(one.qualified_name)
    score = (
        NAME_WEIGHT * named
        + QUALIFIED_WEIGHT * question.share(qualified)
        + CHUNK_WEIGHT * sum(_chunk_share(leg, one) for leg in legs)
        + FULL_NAME * (one.name in question.symbol_names)
    )
    if one.kind in TYPE_KINDS and one.end - one.start >= TYPE_LINES_MAX and named < FULL_NAME:
        return score - BIG_TYPE_PENALTY
    covered = max(0, min(one.end, found.end) - max(one.start, found.start) + 1)
    return score + INSIDE_WEIGHT * covered / (found.end - found.start + 1)


def _chunk_share(leg: _LegChunks, one: OutlineEntry) -> float:
    """Returns the score of the best chunk that touches a symbol, as a share of the file's best."""
    if leg.best <= 0:
        return 0.0
    touching = [chunk.score for chunk in leg.chunks if chunk.start <= one.end and chunk.end >= one.start]
    return max(touching) / leg.best if touching else 0.0
