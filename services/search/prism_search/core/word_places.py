"""Where words of an intent occur: a line per chunk, and whether it defines something, is code or a comment."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from prism_contracts.code import ASIDE
from prism_contracts.rpc.guidance import WordPlace, WordRole
from prism_search.core.sentences import is_prose
from prism_search.core.words import stem
from prism_source.words import PART

WORDS_MAX = 4
PLACES_MAX = 3
TEXT_CHARS_MAX = 100
COMMENT = re.compile(r"\s*(?://|/\*|\*|#(?!\[|include|define)|--|;|\"\"\"|''')")
ORDER = list(WordRole)


@dataclass(frozen=True)
class WordChunk:
    """The text of a chunk with a word; `names` are the lines of its file that name a definition."""

    repo: str
    path: str
    flags: str
    first: int
    text: str
    names: Collection[int]


def word_places(word: str, chunks: Iterable[WordChunk]) -> tuple[WordPlace, ...]:
    """Returns the best line of each chunk, product code before tests, definitions before comments."""
    found = [(chunk, place) for chunk in chunks for place in islice(_places(word, chunk), 1)]
    found.sort(key=lambda one: (bool(ASIDE.intersection(one[0].flags)), ORDER.index(one[1].role)))
    return tuple({(place.repo, place.file_path, place.line): place for _, place in found}.values())[
        :PLACES_MAX
    ]


def _places(word: str, chunk: WordChunk) -> Iterator[WordPlace]:
    """Yields the lines of a chunk with a word, those that name a definition first."""
    wanted = stem(word)
    lines = [
        (_role(chunk, number, line), number, line)
        for number, line in enumerate(chunk.text.split("\n"), chunk.first)
        if any(stem(part.lower()) == wanted for part in PART.findall(line))
    ]
    for role, number, line in sorted(lines, key=lambda one: ORDER.index(one[0])):
        text = line.strip()
        cut = f"{text[:TEXT_CHARS_MAX].rstrip()}…" if len(text) > TEXT_CHARS_MAX else text
        yield WordPlace(word=word, repo=chunk.repo, file_path=chunk.path, line=number, text=cut, role=role)


def _role(chunk: WordChunk, number: int, line: str) -> WordRole:
    if number in chunk.names:
        return WordRole.NAME
    return WordRole.COMMENT if COMMENT.match(line) or is_prose(line) else WordRole.CODE
