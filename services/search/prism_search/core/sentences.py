"""What code says of itself in words, sentence by sentence, and how well a few in a row say what a question asks for."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from prism_search.core.matching import NOTHING, Question
from prism_search.core.words import IDENTIFIER, STOP_WORDS, parts

# Of a docstring or of one line of code, which may be as long as a file.
TEXT_CHARS_MAX = 20_000
SENTENCES_MAX = 60
SENTENCE_CHARS_MAX = 200
# A description that is asked for has one sentence, rarely two, and where lines are looked at each may go over some.
RUN_MAX = 4
PROSE_WORDS_MIN = 3

# A field of a docstring (`@param`, `:return:`) begins a sentence of its own.
_END = re.compile(r"(?<=[.!?])[\"'*/)]* | (?=@[a-z]|:[a-z][\w ]*: )")
_CODE = re.compile(r"\w\(|[{};=]|->|::")


class Said(NamedTuple):
    """What sentences take up of a question: how fully, 0 to 1, and its stems, each with its likeness."""

    degree: float
    taken: Mapping[str, float]


NOT_SAID = Said(0.0, NOTHING)


def sentences(text: str) -> list[str]:
    """The sentences of a docstring or of lines, or what of them is on one line."""
    lines = (" ".join(line.split()) for line in text[:TEXT_CHARS_MAX].split("\n"))
    found = (sentence.strip() for line in lines for sentence in _END.split(line, SENTENCES_MAX))
    return [sentence[:SENTENCE_CHARS_MAX] for sentence in found if sentence][:SENTENCES_MAX]


def is_prose(line: str) -> bool:
    """Whether a line of code is likely of a comment or a docstring."""
    return not _CODE.search(line) and len(line.split()) >= PROSE_WORDS_MIN


def best_said(question: Question, told: Iterable[str], share_min: float) -> Said:
    """What the sentences take up that say best what is asked: by the share of the question that they take up, times the share of their
    words that the question takes up, as `Question.name_match` does with names. Nothing if all together take up less than `share_min`.
    """
    words = [_words(sentence) for sentence in told]
    if question.share(question.taken_up(frozenset().union(*words))) < share_min:
        return NOT_SAID
    return max((_said(question, run) for run in _runs(words)), key=lambda said: said.degree, default=NOT_SAID)


def _words(text: str) -> frozenset[str]:
    """The distinct stems of a text, without words that tell nothing."""
    told = (word for word in IDENTIFIER.findall(text) if word.lower() not in STOP_WORDS)
    return frozenset(part for word in told for part in parts(word))


def _runs(words: Sequence[frozenset[str]]) -> Iterator[frozenset[str]]:
    for first in range(len(words)):
        for end in range(first + 1, min(first + RUN_MAX, len(words)) + 1):
            yield frozenset().union(*words[first:end])


def _said(question: Question, words: frozenset[str]) -> Said:
    taken = question.taken_up(words)
    fullness = min(1.0, sum(taken.values()) / len(words)) if words else 0.0
    return Said(question.share(taken) * fullness, taken)
