"""What a context has found: places with their texts, and the reasons why they are in it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from prism_contracts.rpc.context import ContextItem, Domain
from prism_contracts.rpc.search import Hit

REASONS_MAX = 3


@dataclass(frozen=True)
class ContextPlace:
    """Lines of a file that may answer a question. `score` is from 0 to 1, and compares within a context."""

    domain: Domain
    repo: str
    file_path: str
    start_line: int
    end_line: int
    content: str
    score: float
    round: int
    why: tuple[str, ...]
    symbol: str = ""
    kind: str = ""
    name_line: int = 0
    is_named: bool = False  # the question names its symbol

    def overlaps(self, other: "ContextPlace") -> bool:
        """Whether two places share a line."""
        same_file = (self.repo, self.file_path) == (other.repo, other.file_path)
        return same_file and self.start_line <= other.end_line and other.start_line <= self.end_line

    def item(self, content: str, skipped: int = 0) -> ContextItem:
        """Returns the place as a part of an answer, with this much of its text, without its first lines."""
        return ContextItem(
            domain=self.domain,
            repo=self.repo,
            file_path=self.file_path,
            start_line=self.start_line + skipped,
            end_line=self.end_line,
            symbol=self.symbol,
            kind=self.kind,
            content=content,
            why="; ".join(self.why[:REASONS_MAX]),
            round=self.round,
            score=round(self.score, 4),
        )


def place_of(hit: Hit, domain: Domain, score: float, number: int, why: str) -> ContextPlace:
    """Returns a hit of a search as a place. `score` replaces that of the hit."""
    return ContextPlace(
        domain, hit.repo, hit.file_path, hit.start_line, hit.end_line, hit.content, score, number, (why,),
        hit.symbol, hit.kind, hit.symbol_start or hit.start_line,
    )  # fmt: skip


class ContextPlaces:
    """The places of a context, without overlaps: of two that overlap, the better one stays, with both reasons."""

    def __init__(self, places: Iterable[ContextPlace] = ()) -> None:
        self._by_file: dict[tuple[str, str], list[ContextPlace]] = {}
        for place in places:
            self.add(place)

    def __len__(self) -> int:
        return sum(map(len, self._by_file.values()))

    def add(self, place: ContextPlace) -> bool:
        """Add a place. Returns whether no place of an earlier round had any of its lines."""
        known = self._by_file.setdefault((place.repo, place.file_path), [])
        same = next((one for one in known if one.overlaps(place)), None)
        if same is None:
            known.append(place)
            return True
        better, other = (same, place) if same.score >= place.score else (place, same)
        known[known.index(same)] = replace(
            better,
            is_named=same.is_named or place.is_named,
            round=min(same.round, place.round),
            why=tuple(dict.fromkeys((*better.why, *other.why))),
        )
        return False

    def best(self) -> list[ContextPlace]:
        """Returns all places, best first; equal ones by their path and line, so that answers repeat."""
        every = (place for places in self._by_file.values() for place in places)
        return sorted(every, key=lambda place: (-place.score, place.repo, place.file_path, place.start_line))

    def copy(self) -> "ContextPlaces":
        """Returns places that can be added to without a change of these."""
        return ContextPlaces(self.best())
