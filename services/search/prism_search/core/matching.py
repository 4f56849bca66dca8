"""Matches names with a question: which of its words a name has, and how fully. One object per question."""

from collections.abc import Mapping

from prism_search.core.query import Query, last_name
from prism_search.core.words import EQUAL, HEAD_CHARS, head_code, likeness, stems_of

Rarity = Mapping[str, float]  # stem -> inverse document frequency

NOTHING: Mapping[str, float] = {}


class Question:
    """A query with the rarity of its words. Caches how similar each name's words are to them."""

    def __init__(self, query: Query, rarity: Rarity, overall: Rarity | None = None) -> None:
        self.query = query
        self.rarity = rarity
        self.shallowest = 0  # folders above the shallowest candidate
        self.total = sum(rarity.get(stem, 0.0) for stem in query.stems)
        # From the frequencies that the BM25 scores of chunks use.
        self.bm25_total = sum((overall or rarity).values())
        self._stems = frozenset(query.stems)
        self._first_half = frozenset(query.first_half)
        # The last components of the symbols that it names.
        self.symbol_names = tuple(map(last_name, query.symbols))
        # A word that begins like no stem is similar to none of them: this check rejects most words.
        self.heads = frozenset(stem[:HEAD_CHARS] for stem in query.stems)
        self.stem_heads = {stem: head_code(stem[:HEAD_CHARS]) for stem in query.stems}
        self._kin: dict[str, tuple[tuple[str, float], ...]] = {}
        self._matched: dict[frozenset[str], Mapping[str, float]] = {}
        self._names: dict[str, Mapping[str, float]] = {}

    def matched_stems(self, words: frozenset[str]) -> Mapping[str, float]:
        """Returns the stems of the question that match one of the words, each with its best likeness."""
        known = self._matched.get(words)
        if known is None:
            known = self._matched[words] = self._best_kin(words) or NOTHING
        return known

    def matched_stems_of_name(self, name: str) -> Mapping[str, float]:
        """Returns the same for the words of an identifier."""
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = self.matched_stems(stems_of(name))
        return known

    def in_first_half(self, word: str) -> float:
        """Returns the best likeness of a word to the words of the question's first half."""
        kin = self._kin_of(word)
        return max((degree for stem, degree in kin if stem in self._first_half), default=0.0) if kin else 0.0

    def share(self, matched: Mapping[str, float]) -> float:
        """Returns the rarity-weighted share of the question in these matches, 0 to 1."""
        if not matched or not self.total:
            return 0.0
        rarity = self.rarity
        return sum(rarity.get(stem, 0.0) * degree for stem, degree in matched.items()) / self.total

    def name_match(self, name: str) -> float:
        """Returns the name's share of the question, times the question's share of the name."""
        matched = self.matched_stems_of_name(name)
        return self.share(matched) * _name_share(name, matched) if matched else 0.0

    def name_match_within(self, name: str, common: frozenset[str]) -> float:
        """Returns the same without `common` stems: the subject of a file does not distinguish its names."""
        matched = self.matched_stems_of_name(name)
        rest = self.total - sum(self.rarity.get(stem, 0.0) for stem in common)
        if not matched or rest <= 0:
            return 0.0
        covered = sum(self.rarity.get(stem, 0.0) * matched[stem] for stem in matched.keys() - common)
        return covered / rest * _name_share(name, matched)

    def exact_name_match(self, name: str) -> float:
        """Returns the same for equal words only."""
        equal = {stem: EQUAL for stem, degree in self.matched_stems_of_name(name).items() if degree == EQUAL}
        return self.share(equal) * len(equal) / len(stems_of(name)) if equal else 0.0

    def _best_kin(self, words: frozenset[str]) -> dict[str, float]:
        found: dict[str, float] = {}
        for word in words:
            for stem, degree in self._kin_of(word):
                if degree > found.get(stem, 0.0):
                    found[stem] = degree
        return found

    def _kin_of(self, word: str) -> tuple[tuple[str, float], ...]:
        if word[:HEAD_CHARS] not in self.heads:
            return ()
        known = self._kin.get(word)
        if known is None:
            degrees = ((stem, likeness(stem, word)) for stem in self._stems)
            known = self._kin[word] = tuple((stem, degree) for stem, degree in degrees if degree)
        return known


def _name_share(name: str, matched: Mapping[str, float]) -> float:
    """Returns the share of a name's words that the question has."""
    return min(1.0, sum(matched.values()) / len(stems_of(name)))
