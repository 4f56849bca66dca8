"""The benchmark's questions: the corpus of each, and the places of its answers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import AliasChoices, BaseModel, Field, TypeAdapter

REPOS = "repos.json"
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
WORD_CHARS_MIN = 3
BEGINNING_CHARS_MIN = 4
ENDING_CHARS_MAX = 2


class Target(NamedTuple):
    """The place of an answer: a file, or lines of it (1-based, inclusive)."""

    path: str
    start_line: int | None = None
    end_line: int | None = None


class Corpus(BaseModel, frozen=True):
    """The unit that is indexed as one repository: the files of a revision below a root."""

    name: str
    language: str
    revision: str = "HEAD"
    root: str = Field(default=".", validation_alias=AliasChoices("root", "benchmark_root"))


@dataclass(frozen=True)
class Question:
    """A question. All targets have the same weight."""

    corpus: Corpus
    text: str
    category: str
    targets: tuple[Target, ...]

    @property
    def is_gap(self) -> bool:
        """Whether it shares no word with the path of any target: names of files cannot answer it."""
        asked = _words(self.text)
        named = {
            word
            for target in self.targets
            for word in _words(str(PurePosixPath(target.path).with_suffix("")))
        }
        return not any(_same(one, other) for one in asked for other in named)


class _Annotation(BaseModel):
    query: str
    category: str
    relevant: list[str | Target]
    secondary: list[str | Target] = []


def load_questions(annotations: Path) -> list[Question]:
    """Returns all questions, by corpus and in file order. Raises ValueError for a malformed file."""
    repos = TypeAdapter(list[Corpus]).validate_json((annotations.parent / REPOS).read_bytes())
    return [question for corpus in repos for question in _questions(corpus, annotations)]


def _questions(corpus: Corpus, annotations: Path) -> Iterator[Question]:
    path = annotations / f"{corpus.name}.json"
    if not path.exists():
        return
    for one in TypeAdapter(list[_Annotation]).validate_json(path.read_bytes()):
        yield Question(corpus, one.query, one.category, _targets([*one.relevant, *one.secondary]))


def _targets(annotated: Sequence[str | Target]) -> tuple[Target, ...]:
    return tuple(Target(one) if isinstance(one, str) else one for one in annotated)


def _words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text) if len(word) >= WORD_CHARS_MIN}


def _same(one: str, other: str) -> bool:
    """Equal except for an ending: the longer begins with all but the last letters of the shorter."""
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    short = min(len(one), len(other))
    return one == other or alike >= max(BEGINNING_CHARS_MIN, short - ENDING_CHARS_MAX)
