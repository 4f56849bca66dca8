"""Splits docstrings and comments into sentences, and matches a few in a row with a question."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from prism_search.core.matching import NOTHING, Question
from prism_search.core.words import IDENTIFIER, parts
from prism_source.words import STOP_WORDS

# Applies to a docstring or a line of code, which may be as long as a file.
TEXT_CHARS_MAX = 20_000
SENTENCES_MAX = 60
SENTENCE_CHARS_MAX = 200
# A description has one sentence, rarely two, and each may span several lines.
RUN_MAX = 4
PROSE_WORDS_MIN = 3

# A field of a docstring (`@param`, `:return:`) begins a new sentence.
_END = re.compile(r"(?<=[.!?])[\"'*/)]* | (?=@[a-z]|:[a-z][\w ]*: )")
_CODE = re.compile(r"\w\(|[{};=]|->|::")


class SentenceMatch(NamedTuple):
    """The match of sentences with a question: how full, 0 to 1, and its stems, each with its likeness."""

    degree: float
    matched: Mapping[str, float]


NO_MATCH = SentenceMatch(0.0, NOTHING)


def sentences(text: str) -> list[str]:
    """Returns the sentences of a text; a sentence over several lines is split at line ends."""
    lines = (" ".join(line.split()) for line in text[:TEXT_CHARS_MAX].split("\n"))
    found = (sentence.strip() for line in lines for sentence in _END.split(line, SENTENCES_MAX))
    return [sentence[:SENTENCE_CHARS_MAX] for sentence in found if sentence][:SENTENCES_MAX]


def is_prose(line: str) -> bool:
    """Whether a line is likely part of a comment or a docstring."""
    return not _CODE.search(line) and len(line.split()) >= PROSE_WORDS_MIN


def best_match(question: Question, prose: Iterable[str], share_min: float) -> SentenceMatch:
    """Returns the match of the best run of sentences.

    The degree is the share of the question that the run covers, times the share of its words that the
    question covers, as in `Question.name_match`. No match if all sentences together cover less than
    `share_min`.
    """
    words = [_words(sentence) for sentence in prose]
    if question.share(question.matched_stems(frozenset().union(*words))) < share_min:
        return NO_MATCH
    return max(
        (_match(question, run) for run in _runs(words)), key=lambda match: match.degree, default=NO_MATCH
    )


def _words(text: str) -> frozenset[str]:
    """Returns the distinct stems of a text, without stop words."""
    words = (word for word in IDENTIFIER.findall(text) if word.lower() not in STOP_WORDS)
    return frozenset(part for word in words for part in parts(word))


def _runs(words: Sequence[frozenset[str]]) -> Iterator[frozenset[str]]:
    for first in range(len(words)):
        for end in range(first + 1, min(first + RUN_MAX, len(words)) + 1):
            yield frozenset().union(*words[first:end])


def _match(question: Question, words: frozenset[str]) -> SentenceMatch:
    matched = question.matched_stems(words)
    fullness = min(1.0, sum(matched.values()) / len(words)) if words else 0.0
    return SentenceMatch(question.share(matched) * fullness, matched)
