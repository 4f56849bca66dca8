"""The introduction of a page that a language model writes from the statements of the page, and from nothing else.

Each sentence names the statements that it is drawn from. One that names none, or that has a name or a number
which these do not have, is dropped.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, StringConstraints

from prism_contracts.records import WikiPageKind
from prism_scribe.core.wiki import markdown
from prism_scribe.core.writing import EvidenceText, plain

SENTENCES_MAX = 10
SENTENCE_CHARS_MAX = 400
STATEMENTS_MAX = 48
STATEMENT_CHARS_MAX = 500
SOURCES_MAX = 6
ID_CHARS_MAX = 8
TITLE = "In short, by a language model"

INTRODUCED = frozenset(
    {WikiPageKind.OVERVIEW, WikiPageKind.COMPONENT, WikiPageKind.FLOWS, WikiPageKind.GUIDE}
)
INSTRUCTIONS = (
    "You write the introduction of a wiki page for engineers who are new to a code repository. The evidence is "
    "the statements of the page. Say what this part is for, what its main pieces are and how they work together, "
    "and where to begin. Write up to eight short, plain sentences in English. Each sentence names in `sources` the "
    "ids of the statements that it is drawn from. Write nothing that no statement says. Put names of code, paths "
    "and commands in backticks, exactly as the statements have them."
)

_PLACE = re.compile(r"`([^`\s]+:\d+(?:-\d+)?)`")
_CODE = re.compile(r"`([^`]+)`")
# What must be in the statements if it is in a sentence: numbers, paths, and names that are written as code is.
_CHECKED = re.compile(
    r"\d[\d.,]*\d|\d|[\w.-]+/[\w./-]*\w|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b|\b\w+\.\w+\(?"
)

SourceId = Annotated[str, StringConstraints(max_length=ID_CHARS_MAX)]


class WrittenSentence(BaseModel):
    """A sentence, and the ids of the statements that it is drawn from."""

    text: str = Field(max_length=SENTENCE_CHARS_MAX)
    sources: list[SourceId] = Field(max_length=SOURCES_MAX)


class WrittenIntroduction(BaseModel):
    """The introduction of a page."""

    sentences: list[WrittenSentence] = Field(max_length=SENTENCES_MAX)


class Sentence(NamedTuple):
    """A sentence that its statements hold, and the places in them."""

    text: str
    places: tuple[str, ...]


def statements(page: str) -> list[EvidenceText]:
    """Returns the statements of a page as evidence: sentences, items, rows and quotes, without diagrams."""
    lines = list(_statements(page))[:STATEMENTS_MAX]
    return [
        EvidenceText(f"s{number}", text[:STATEMENT_CHARS_MAX], where)
        for number, (where, text) in enumerate(lines, start=1)
    ]


def _statements(page: str) -> Iterator[tuple[str, str]]:
    heading, fence = "", ""
    for line in page.split("\n"):
        if line.startswith("```"):
            ticks = line[: len(line) - len(line.lstrip("`"))]
            fence = "" if line == fence else fence or ticks
        elif line.startswith("#") and not fence:
            heading = line.lstrip("# ")
        elif line.strip("|->— ") and not fence:
            yield heading, line.strip()


def accepted(written: WrittenIntroduction, evidence: Sequence[EvidenceText]) -> list[Sentence]:
    """Returns the sentences that their statements hold."""
    known = {one.id: one.text for one in evidence}
    kept = (_accepted(sentence, known) for sentence in written.sentences)
    return [sentence for sentence in kept if sentence is not None]


def _accepted(written: WrittenSentence, known: Mapping[str, str]) -> Sentence | None:
    cited = [known[source] for source in written.sources if source in known]
    text = plain(written.text)
    if not cited or not text or not _holds(" ".join(cited), text):
        return None
    places = dict.fromkeys(place for statement in cited for place in _PLACE.findall(statement))
    return Sentence(text, tuple(places)[:SOURCES_MAX])


def _holds(statements_text: str, sentence: str) -> bool:
    """Whether each name and number of a sentence is in its statements."""
    names = [*_CODE.findall(sentence), *_CHECKED.findall(_CODE.sub(" ", sentence))]
    return all(name.strip(".,() ") in statements_text for name in names)


def with_introduction(page: str, sentences: Sequence[Sentence]) -> str:
    """Returns a page with its introduction after the title. Each sentence is followed by its places."""
    title, _, rest = page.partition("\n")
    lines = [f"- {_line(sentence)}" for sentence in sentences]
    return "\n".join([title, "", f"## {TITLE}", "", *lines, rest])


def _line(sentence: Sentence) -> str:
    places = ", ".join(markdown.code(place) for place in sentence.places)
    text = markdown.text(sentence.text, SENTENCE_CHARS_MAX)
    return f"{text} ({places})" if places else text
