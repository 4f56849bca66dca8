"""Tags of a document from its words: first tags that other documents have, then terms that are rare elsewhere.

A language model may choose instead (`accepted`). A term counts more in the title and in headings than in the text, and code in backticks
counts as one term. Rarity is that of Robertson and Spärck Jones (1976): the logarithm of the share of other
documents without the term.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from prism_contracts.records import DocumentRecord

TAGS_PROPOSED_MAX = 8
NEW_TERMS_MAX = 3
CONTENT_CHARS_READ_MAX = 100_000
TITLE_WEIGHT, HEADING_WEIGHT, CODE_WEIGHT, TEXT_WEIGHT = 6.0, 3.0, 1.5, 1.0
# A new term is one that the document is about, not one that it has once.
NEW_TERM_STRENGTH_MIN = 6.0
# The strength at which half of the tags in use that are proposed were chosen by the authors, and how fast that
# share rises. Fitted on 331 documents of influxdata/docs-v2, with the tags of 330 others in use.
HALF_AT, SLOPE = 20.0, 0.18
LIKELIHOOD_MIN = 0.06
NEW_TERM_CONFIDENCE = 0.1
WORDS_OF_NEW_TAG_MAX = 3
# Shorter words keep their last letter: `was`, `bus`, `dies`.
PLURAL_CHARS_MIN = 4

Name = TypeVar("Name", bound=Hashable)

_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.DOTALL | re.MULTILINE)
_LINK_TARGET = re.compile(r"\]\([^)\n]*\)|https?://\S+|<[^>\n]{1,200}>")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]{2,60})`")
_WORD = re.compile(r"[^\W_][\w+#.]*[\w+#]|[^\W_]")
_NAME = re.compile(r"[A-Za-z_][\w.:-]+\Z")
_STOP = frozenset([
    "a", "about", "after", "again", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "below", "between", "both", "but", "by", "can", "could", "create", "does", "doing",
    "done", "each", "example", "examples", "few", "following", "for", "from", "get", "guide", "has",
    "have", "here", "how", "if", "in", "into", "is", "it", "its", "just", "like", "made", "make", "many",
    "may", "more", "most", "must", "need", "new", "no", "not", "note", "now", "of", "off", "on", "once",
    "one", "only", "or", "other", "our", "out", "over", "overview", "own", "per", "same", "see", "set",
    "should", "show", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "through", "to", "too", "two", "under", "until", "up", "use", "used",
    "uses", "using", "very", "want", "was", "way", "we", "were", "what", "when", "where", "which", "while",
    "who", "why", "will", "with", "without", "work", "works", "would", "you", "your",
])  # fmt: skip


@dataclass(frozen=True)
class Proposal:
    """Tags, the strongest first, and how likely it is that an author would choose one of them, from 0 to 1."""

    tags: tuple[str, ...]
    category: str
    confidence: float


class TagVocabulary:
    """The words, tags and categories of the documents of a tenant. It follows them as they change."""

    def __init__(self, records: Iterable[DocumentRecord] = ()) -> None:
        self.in_use: Counter[str] = Counter()
        self._with: Counter[str] = Counter()  # documents with a term in their titles, summaries or tags
        self._categories: Counter[tuple[str, str]] = Counter()  # documents with a tag and a category
        self._known: dict[str, DocumentRecord] = {}
        self.follow(records)

    def follow(self, records: Iterable[DocumentRecord]) -> None:
        """Take these documents as all there are. Costs time only for those that differ from the last ones."""
        now = {record.document: record for record in records}
        for document, known in list(self._known.items()):
            if now.get(document) is not known:
                self._count(known, -1)
                del self._known[document]
        for document in now.keys() - self._known.keys():
            self._count(now[document], 1)
            self._known[document] = now[document]

    def without(self, document: str) -> "TagVocabulary":
        """Returns the vocabulary of the other documents, for one question: it follows nothing."""
        if document not in self._known:
            return self
        others = TagVocabulary()
        others.in_use, others._with = self.in_use.copy(), self._with.copy()
        others._categories, others._known = self._categories.copy(), self._known.copy()
        others._count(others._known.pop(document), -1)
        return others

    def rarity(self, term: str) -> float:
        """Returns the weight of a term, 0 or more. That of several words is the mean of theirs."""
        words = term.split(" ")
        return sum(map(self._rarity_of_word, words)) / len(words)

    def category(self, tags: Iterable[str]) -> str:
        """Returns the category of the documents with the most of these tags; empty if none has one."""
        wanted, votes = set(tags), Counter[str]()
        for (tag, category), documents in self._categories.items():
            if tag in wanted:
                votes[category] += documents
        return max(votes, key=lambda name: (votes[name], name)) if any(votes.values()) else ""

    def _rarity_of_word(self, word: str) -> float:
        found = self._with[word]
        return math.log(1 + (len(self._known) - found + 0.5) / (found + 0.5))

    def _count(self, record: DocumentRecord, by: int) -> None:
        texts = (record.title, record.summary, *record.tags)
        _add(self._with, {term for text in texts for term in terms_of(text)}, by)
        _add(self.in_use, record.tags, by)
        if record.category:
            _add(self._categories, {(tag, record.category) for tag in record.tags}, by)


def propose(title: str, content: str, others: TagVocabulary) -> Proposal:
    """Returns tags for a document, by its words and by the other documents of its tenant.

    The category is that of the other documents with the most of these tags; empty if none has one.
    """
    weights = weights_of(title, content)
    known = {tag: strength for tag in others.in_use if (strength := _strength_of(tag, weights, others)) > 0}
    best = sorted(known, key=lambda tag: (-known[tag], tag))[:TAGS_PROPOSED_MAX]
    kept = [tag for tag in best if likelihood(known[tag]) >= LIKELIHOOD_MIN]
    room = min(NEW_TERMS_MAX, TAGS_PROPOSED_MAX - len(kept))
    new = _new_terms(weights, others, taken=[term for tag in known for term in terms_of(tag)])[:room]
    confidences = [likelihood(known[tag]) for tag in kept] + [NEW_TERM_CONFIDENCE] * len(new)
    mean = sum(confidences) / len(confidences) if confidences else 0.0
    return Proposal((*kept, *new), others.category(kept), round(mean, 3))


def accepted(chosen: Iterable[str], title: str, content: str, others: TagVocabulary) -> Proposal:
    """Returns what remains of tags that a language model chose: those in use, and those whose words the document has.

    A document can contain instructions to a model, so all other tags are dropped. `confidence` is computed from the
    words of the document, as in `propose`.
    """
    weights = weights_of(title, content)
    words = set(terms_of(title)) | set(terms_of(content[:CONTENT_CHARS_READ_MAX]))
    known = {_spelled(tag): tag for tag in others.in_use}
    kept: dict[str, float] = {}
    for tag in map(_spelled, chosen):
        if tag in known:
            strength = _strength_of(known[tag], weights, others)
            kept[known[tag]] = likelihood(strength) if strength else 0.0
        elif 0 < len(terms := terms_of(tag)) <= WORDS_OF_NEW_TAG_MAX and words.issuperset(terms):
            kept[tag] = NEW_TERM_CONFIDENCE
    tags = tuple(kept)[:TAGS_PROPOSED_MAX]
    mean = sum(kept[tag] for tag in tags) / len(tags) if tags else 0.0
    return Proposal(tags, others.category(tags), round(mean, 3))


def likelihood(strength: float) -> float:
    """Returns how likely it is that an author gives a document a tag in use, from 0 to 1."""
    return 1 / (1 + math.exp(-SLOPE * (strength - HALF_AT)))


def weights_of(title: str, content: str) -> dict[str, float]:
    """Returns the weight of each term of a document: of words, of pairs of words, and of code in backticks."""
    prose = _LINK_TARGET.sub(" ", _FENCE.sub(" ", content[:CONTENT_CHARS_READ_MAX]))
    weights: defaultdict[str, float] = defaultdict(float)
    for text, weight in (
        (title, TITLE_WEIGHT),
        *((heading, HEADING_WEIGHT) for heading in _HEADING.findall(prose)),
        *((line, TEXT_WEIGHT) for line in prose.splitlines() if not line.startswith("#")),
    ):
        terms = terms_of(text)
        for term in (*terms, *(" ".join(pair) for pair in pairwise(terms))):
            weights[term] += weight
    for code in _CODE.findall(prose):
        if _NAME.match(code):
            weights[code.lower()] += CODE_WEIGHT
    return dict(weights)


def terms_of(text: str) -> list[str]:
    """Returns the words of a text in lower case, singular, without those that say nothing."""
    words = (word.casefold() for word in _WORD.findall(text.replace("-", " ")))
    return [_singular(word) for word in words if word not in _STOP and len(word) > 1]


def _spelled(tag: str) -> str:
    return "-".join(tag.casefold().split())


def _strength_of(tag: str, weights: Mapping[str, float], others: TagVocabulary) -> float:
    """Returns the strength of a tag in a document; 0 if one of the tag's words is missing."""
    terms = terms_of(tag)
    if not terms:
        return 0.0
    if len(terms) > 1 and (together := weights.get(" ".join(terms))):
        return others.rarity(" ".join(terms)) * (1 + math.log(together)) * len(terms)
    weakest = min(weights.get(term, 0.0) for term in terms)
    return others.rarity(" ".join(terms)) * (1 + math.log(weakest)) if weakest else 0.0


def _new_terms(weights: Mapping[str, float], others: TagVocabulary, taken: Iterable[str]) -> list[str]:
    """Returns the terms that a document is about and no tag in use covers, as tags, the strongest first."""
    covered = set(taken)
    strong = sorted(
        (-weight * others.rarity(term), term)
        for term, weight in weights.items()
        if weight >= NEW_TERM_STRENGTH_MIN and not term.replace(".", "").isdigit()
    )
    chosen: list[str] = []
    for _, term in strong:
        if covered.isdisjoint(term.split(" ")):
            chosen.append(term.replace(" ", "-"))
            covered.update(term.split(" "))
        if len(chosen) == NEW_TERMS_MAX:
            break
    return chosen


def _add(counts: Counter[Name], names: Iterable[Name], by: int) -> None:
    """Add to counts, and keep none that is zero."""
    for name in names:
        counts[name] += by
        if not counts[name]:
            del counts[name]


def _singular(word: str) -> str:
    if len(word) <= PLURAL_CHARS_MIN - 1 or word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    return word[:-3] + "y" if word.endswith("ies") and len(word) > PLURAL_CHARS_MIN else word[:-1]
