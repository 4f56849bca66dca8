"""The signals of the ranking: small functions of a question and a file, about 0 to 1, and their weights.

Measured on the development half of a public code-search benchmark; see docs/decisions/0003-ranking.md.
"""

import posixpath
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import sqrt
from operator import mul
from typing import NamedTuple

from prism_contracts.code import NOT_WRITTEN_HERE, Flag
from prism_resolver.symbol_names import flat
from prism_search.core.matching import Question
from prism_search.core.retrieval.candidates import Candidate
from prism_search.core.words import EQUAL, KIN, stems_of

BM25_K1 = 1.2
CHUNK_DECAY = 0.6
CHUNKS_MAX = 10
CHUNK_WEIGHTS = tuple((1 - CHUNK_DECAY) * CHUNK_DECAY**rank for rank in range(CHUNKS_MAX))
INITIALS_CHARS = range(2, 5)
DEPTH_MAX = 3
NEARNESS_MAX = 6.0
NEARNESS_SCALE = 4.0

# Names without a meaning of their own: their folder is used instead.
GENERIC_STEMS = frozenset({"mod", "index", "init", "main", "lib", "__init__", "package", "default"})


class PathNames(NamedTuple):
    """The words in a file's path."""

    words: frozenset[str]  # stems of the names of the file and its folder
    folder: frozenset[str]  # stems of the folder's name
    subject: frozenset[str]  # stems of its name, or of its folder's for a generic name
    flat: str  # the file's name in the spelling of `flat`
    folders: int


Signal = Callable[[Question, Candidate], float]


def body(question: Question, file: Candidate) -> float:
    """BM25 of the file's best chunks, a decaying sum, as a share of a perfect chunk's score."""
    best = question.bm25_total * (BM25_K1 + 1)
    scores = (chunk.score for chunk in file.keyword_chunks)
    return sum(map(mul, scores, CHUNK_WEIGHTS)) / best if best else 0.0


def path_words(question: Question, file: Candidate) -> float:
    """Share of the question's words in the name of the file or its folder."""
    matched = question.matched_stems(read_path(file.path).words)
    return sum(matched.values()) / len(question.query.stems) if matched else 0.0


def named_first(question: Question, file: Candidate) -> float:
    """1 if every word of the file's name is in the first half of the question, which names the subject."""
    words = read_path(file.path).subject
    return float(bool(words) and all(question.in_first_half(word) >= KIN for word in words))


def covered(question: Question, file: Candidate) -> float:
    """Rarity-weighted share of the question in the file's names."""
    matched = dict(question.matched_stems(read_path(file.path).words))
    for definition in file.touched:
        for stem, degree in question.matched_stems_of_name(definition.name).items():
            if degree > matched.get(stem, 0.0):
                matched[stem] = degree
    return question.share(matched)


def defines(question: Question, file: Candidate) -> float:
    """How fully the best-named function or type of the file covers the question and is covered by it."""
    return sqrt(max((question.name_match(d.name) for d in file.touched if d.group in "TF"), default=0.0))


def defines_type(question: Question, file: Candidate) -> float:
    """The same for types, by equal words only."""
    return max((question.exact_name_match(d.name) for d in file.touched if d.group == "T"), default=0.0)


def folder_words(question: Question, file: Candidate) -> float:
    """Rarity-weighted share of the question in the folder's name."""
    return question.share(question.matched_stems(read_path(file.path).folder))


def joined_name(question: Question, file: Candidate) -> float:
    """1 if the file's name is neighboring words of the question written as one."""
    return float(read_path(file.path).flat in question.query.joined)


def initials_name(question: Question, file: Candidate) -> float:
    """1 if the file's name is the initials of neighboring words (Template Haskell: TH)."""
    name = read_path(file.path).flat
    return float(len(name) in INITIALS_CHARS and name in question.query.initials)


def defines_symbol(question: Question, file: Candidate) -> float:
    """Number of symbols that the question names and the file defines."""
    return float(sum(map(file.outline.defines, question.symbol_names)))


def answers_name(question: Question, file: Candidate) -> float:
    """1 if the question is nothing but a name, and the file defines it."""
    return float(bool(question.query.only_symbol) and file.outline.defines(question.symbol_names[0]))


def near(_: Question, file: Candidate) -> float:
    """How far the file's best chunk stands out among the nearest vectors."""
    return min(max(file.nearness, 0.0), NEARNESS_MAX) / NEARNESS_SCALE


def near_deep(_: Question, file: Candidate) -> float:
    """How far the file's card stands out among the nearest vectors of the deep model, if it runs."""
    return min(max(file.deep_nearness, 0.0), NEARNESS_MAX) / NEARNESS_SCALE


def depth(question: Question, file: Candidate) -> float:
    """Folders above the file and below the shallowest candidate, at most three."""
    return float(min(read_path(file.path).folders - question.shallowest, DEPTH_MAX))


def in_tests(question: Question, file: Candidate) -> float:
    """1 for a test, unless the question is about tests."""
    return float(Flag.TEST in file.flags and not question.query.about_tests)


def not_code(_: Question, file: Candidate) -> float:
    """1 for prose, and for data or no known language."""
    return float(file.prose or not file.language or file.language in DATA_LANGUAGES)


def not_written_here(_: Question, file: Candidate) -> float:
    """1 for generated, vendored or minified code."""
    return float(bool(NOT_WRITTEN_HERE.intersection(file.flags)))


DATA_LANGUAGES = frozenset({"json", "yaml", "toml", "xml", "csv", "ini", "html", "css", "svg", "properties"})

Weighted = Mapping[str, tuple[Signal, float]]

# Signals from legs, path and flags.
SURFACE_WEIGHTS: Weighted = {
    "body": (body, 1.0),
    "path_words": (path_words, 0.9),
    "named_first": (named_first, 0.3),
    "folder_words": (folder_words, 0.3),
    "defines_symbol": (defines_symbol, 0.15),
    "answers_name": (answers_name, 3.0),
    "joined_name": (joined_name, 0.15),
    "initials_name": (initials_name, 0.4),
    "near": (near, 0.3),
    "near_deep": (near_deep, 0.1),
    "depth": (depth, -0.08),
    "in_tests": (in_tests, -0.5),
    "not_code": (not_code, -0.4),
    "not_written_here": (not_written_here, -0.4),
}
# Signals from the names of the file's symbols: read from `touched`, never below 0.
NAME_WEIGHTS: Weighted = {
    "covered": (covered, 0.3),
    "defines": (defines, 0.4),
    "defines_type": (defines_type, 0.15),
}
WEIGHTS: Weighted = {**SURFACE_WEIGHTS, **NAME_WEIGHTS}


def score(question: Question, file: Candidate, weights: Weighted) -> dict[str, float]:
    """Returns each signal's contribution, weight included."""
    return {name: weight * signal(question, file) for name, (signal, weight) in weights.items()}


def names_score_max(question: Question, file: Candidate) -> float:
    """Returns the highest possible score of the file's symbol names.

    Assumes that one name has, in full, every word of the question that begins like a word of any name.
    """
    reached = {stem: EQUAL for stem, head in question.stem_heads.items() if file.outline.holds(head)}
    share = question.share(reached)
    in_path = question.matched_stems(read_path(file.path).words)
    return (
        NAME_WEIGHTS["covered"][1] * question.share({**in_path, **reached})
        + NAME_WEIGHTS["defines"][1] * sqrt(share)
        + NAME_WEIGHTS["defines_type"][1] * share
    )


@lru_cache(maxsize=20_000)
def read_path(path: str) -> PathNames:
    """Splits a path into its words."""
    folder_path, name = posixpath.split(path)
    stem = name[: name.rindex(".")] if "." in name[1:] else name
    words, folder = stems_of(stem), stems_of(posixpath.basename(folder_path))
    generic = stem.strip("_").lower() in GENERIC_STEMS
    return PathNames(
        words=words | folder,
        folder=folder,
        subject=(folder if generic else frozenset()) or words,
        flat=flat(stem),
        folders=path.count("/"),
    )
