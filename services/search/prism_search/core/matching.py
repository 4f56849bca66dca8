"""How names answer a question: which of its words a name takes up, and how fully. One object a question."""

from collections.abc import Mapping

from prism_search.core.query import Query, last_name
from prism_search.core.words import EQUAL, HEAD_CHARS, head_code, likeness, stems_of

Rarity = Mapping[str, float]  # stem -> inverse document frequency

NOTHING: Mapping[str, float] = {}


class Question:
    """A query with the rarity of its words; remembers how alike each name's words are to them."""

    def __init__(self, query: Query, rarity: Rarity, overall: Rarity | None = None) -> None:
        self.query = query
        self.rarity = rarity
        self.shallowest = 0  # folders above the shallowest candidate
        self.total = sum(rarity.get(stem, 0.0) for stem in query.stems)
        # By the frequencies that BM25 scores of chunks are made with.
        self.bm25_total = sum((overall or rarity).values())
        self._stems = frozenset(query.stems)
        self._first_half = frozenset(query.first_half)
        # The last components of the symbols that it names, and the same as `flat` spells them.
        self.symbol_names = tuple(map(last_name, query.symbols))
        # A word that begins otherwise than every stem is like none of them: most words are seen off by this.
        self._heads = frozenset(stem[:HEAD_CHARS] for stem in query.stems)
        self.stem_heads = {stem: head_code(stem[:HEAD_CHARS]) for stem in query.stems}
        self._kin: dict[str, tuple[tuple[str, float], ...]] = {}
        self._taken: dict[frozenset[str], Mapping[str, float]] = {}
        self._names: dict[str, Mapping[str, float]] = {}

    def taken_up(self, words: frozenset[str]) -> Mapping[str, float]:
        """Stems of the question that the words take up, each with the best likeness; those with none are left out."""
        known = self._taken.get(words)
        if known is None:
            known = self._taken[words] = self._best_kin(words) or NOTHING
        return known

    def taken_up_by_name(self, name: str) -> Mapping[str, float]:
        """The same for the words of an identifier."""
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = self.taken_up(stems_of(name))
        return known

    def in_first_half(self, word: str) -> float:
        """How alike a word is to the best word of the question's first half."""
        kin = self._kin_of(word)
        return max((degree for stem, degree in kin if stem in self._first_half), default=0.0) if kin else 0.0

    def share(self, taken: Mapping[str, float]) -> float:
        """Rarity-weighted share of the question that is taken up, 0 to 1."""
        if not taken or not self.total:
            return 0.0
        rarity = self.rarity
        return sum(rarity.get(stem, 0.0) * degree for stem, degree in taken.items()) / self.total

    def name_match(self, name: str) -> float:
        """Share of the question that a name takes up, times share of the name that the question takes up."""
        taken = self.taken_up_by_name(name)
        return self.share(taken) * _filled(name, taken) if taken else 0.0

    def name_match_within(self, name: str, common: frozenset[str]) -> float:
        """The same without the stems that a whole file is about, as they tell nothing of one of its names."""
        taken = self.taken_up_by_name(name)
        rest = self.total - sum(self.rarity.get(stem, 0.0) for stem in common)
        if not taken or rest <= 0:
            return 0.0
        told = sum(self.rarity.get(stem, 0.0) * taken[stem] for stem in taken.keys() - common)
        return told / rest * _filled(name, taken)

    def exact_name_match(self, name: str) -> float:
        """The same by equal words only."""
        equal = {stem: EQUAL for stem, degree in self.taken_up_by_name(name).items() if degree == EQUAL}
        return self.share(equal) * len(equal) / len(stems_of(name)) if equal else 0.0

    def _best_kin(self, words: frozenset[str]) -> dict[str, float]:
        found: dict[str, float] = {}
        for word in words:
            for stem, degree in self._kin_of(word):
                if degree > found.get(stem, 0.0):
                    found[stem] = degree
        return found

    def _kin_of(self, word: str) -> tuple[tuple[str, float], ...]:
        if word[:HEAD_CHARS] not in self._heads:
            return ()
        known = self._kin.get(word)
        if known is None:
            degrees = ((stem, likeness(stem, word)) for stem in self._stems)
            known = self._kin[word] = tuple((stem, degree) for stem, degree in degrees if degree)
        return known


def _filled(name: str, taken: Mapping[str, float]) -> float:
    """Share of a name's words that the question takes up."""
    return min(1.0, sum(taken.values()) / len(stems_of(name)))
