"""What a language model is asked for an answer, and what of it is kept."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from prism_contracts.rpc.context import ContextSentence, ContextSource
from prism_scribe.core.bundle import beginning
from prism_scribe.core.grounding import holds
from prism_scribe.core.places import ContextPlace
from prism_scribe.core.writing import EvidenceText, plain

EVIDENCE_MAX = 24
EVIDENCE_CHARS = 1_600
SEARCHES_MAX = 3
SEARCH_CHARS_MAX = 200
INSTRUCTIONS = (
    "Answer the question about a code base. Each statement is one short sentence that the evidence says, with the ids of "
    "that evidence; use the names and numbers of the evidence. If something that matters is missing, name up to three "
    "short searches for it, such as a symbol or a few words; leave searches empty if the question is answered."
)
LAST_ROUND = " This is the last round: there are no further searches."


class DraftStatement(BaseModel):
    """A sentence, and the evidence that says so."""

    text: Annotated[str, Field(max_length=400, description="One sentence.")]
    evidence: Annotated[
        list[Annotated[str, Field(max_length=12)]],
        Field(max_length=6, description="Ids of the evidence that says so."),
    ]


class Draft(BaseModel):
    """What is known, and what to search for if that is not enough."""

    statements: Annotated[list[DraftStatement], Field(max_length=12)]
    searches: Annotated[
        list[Annotated[str, Field(max_length=SEARCH_CHARS_MAX)]], Field(max_length=SEARCHES_MAX)
    ] = []


class CheckedDraft(NamedTuple):
    """The sentences that are kept, how many are not, and the searches."""

    sentences: tuple[ContextSentence, ...]
    dropped: int
    searches: tuple[str, ...]


class EvidenceBook:
    """Gives ids to the places that a model may cite. An id names the same place in all rounds."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str, int, int], str] = {}

    def choose(self, places: Sequence[ContextPlace]) -> Mapping[str, ContextPlace]:
        """Returns the best places by their ids."""
        chosen = {}
        for place in places[:EVIDENCE_MAX]:
            key = (place.repo, place.file_path, place.start_line, place.end_line)
            chosen[self._ids.setdefault(key, f"e{len(self._ids) + 1}")] = place
        return chosen


def evidence_of(chosen: Mapping[str, ContextPlace]) -> list[EvidenceText]:
    """Returns places as evidence."""
    return [
        EvidenceText(key, _text(place), f"{place.file_path}:{place.start_line}")
        for key, place in chosen.items()
    ]


def check(draft: Draft, chosen: Mapping[str, ContextPlace]) -> CheckedDraft:
    """Returns the statements whose evidence exists and holds them, and the searches.

    Links, markup and hidden characters are taken out before the check.
    """
    kept: dict[str, ContextSentence] = {}
    for statement in draft.statements:
        text = plain(statement.text)
        cited = {key: chosen[key] for key in statement.evidence if key in chosen}
        texts = [f"{place.file_path} {place.symbol} {_text(place)}" for place in cited.values()]
        if text and texts and holds(text, texts):
            kept.setdefault(text, ContextSentence(text=text, sources=tuple(map(_source, cited.values()))))
    searches = dict.fromkeys(plain(search) for search in draft.searches)
    dropped = len(draft.statements) - len(kept)
    return CheckedDraft(tuple(kept.values()), dropped, tuple(search for search in searches if search))


def _text(place: ContextPlace) -> str:
    return beginning(place.content, EVIDENCE_CHARS)


def _source(place: ContextPlace) -> ContextSource:
    shown = _text(place).rstrip("\n").count("\n")
    return ContextSource(
        repo=place.repo,
        file_path=place.file_path,
        start_line=place.start_line,
        end_line=min(place.end_line, place.start_line + shown),
    )
