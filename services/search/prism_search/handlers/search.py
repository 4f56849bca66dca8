"""Find the lines that answer a question.

words, symbols and vector of the question ──▶ legs ─┐
its deep vector, where that tier runs ──────▶ leg ──┴▶ fused candidates ▶ their file points
▶ signals, score sum, order ▶ the lines to show ▶ their text ▶ receipt
"""

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from qdrant_client import models

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.base import file_of, is_of_generation
from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.rpc.search import Corpus, Detail, Hit, SearchAnswer, SearchReply, SearchRequest
from prism_runtime.tasks import running
from prism_search.adapters.answers import Answers
from prism_search.adapters.embedding import DEEP_LEG, FAST_LEG, QueryEmbedding, Vector
from prism_search.adapters.facts import Facts, RankFacts
from prism_search.adapters.filters import no_file_passes, refuse_unknown_language
from prism_search.adapters.near_symbols import alike, near_symbols
from prism_search.adapters.rarity import RarityCounter
from prism_search.adapters.texts import Excerpt, read_excerpts
from prism_search.core.advice import next_actions
from prism_search.core.candidates import CANDIDATES_MAX, Candidate, ChunkHit, fuse, locate_chunks
from prism_search.core.confidence import confidence
from prism_search.core.diagnosis import diagnose
from prism_search.core.dropping import dropped_by, filters_of
from prism_search.core.file_context import file_context
from prism_search.core.hit_pages import next_cursor, read_page
from prism_search.core.matching import Question
from prism_search.core.passages import Range, best_range, further_ranges
from prism_search.core.query import Query, dotted, last_name, parse_query
from prism_search.core.ranking import rank
from prism_search.handlers.prose import prefer_text
from prism_store.globs import literal_prefix
from prism_store.reader import (
    Leg,
    MatchLeg,
    Reader,
    StoredPoint,
    TextLeg,
    VectorLeg,
    has,
    has_any,
    starts_with,
)
from prism_store.schema import deep_vector

CHUNK_LIMIT = 150
VECTOR_LIMIT = 100
FILE_LIMIT = 60
EXACT_LIMIT = 40
READ_AHEAD_PAUSE_S = 2.0
FILTERED_FACTOR = 3  # more is asked for and considered where a filter will drop some afterwards

CHUNK_LEGS = ("keyword", FAST_LEG)
FILE_LEGS = frozenset({"path", "symbol", "exact", DEEP_LEG})

log = logging.getLogger(__name__)

Shown = tuple[Candidate, Range]


@dataclass
class Found:
    """What the legs brought, by leg."""

    points: dict[str, list[StoredPoint]]
    missing: tuple[str, ...] = ()


class Vectors(NamedTuple):
    """Of a question: the fast model's, and the leg of the deep model's, None if none runs. The leg is None if it cannot be asked."""

    fast: Vector | None
    deep: asyncio.Task[Leg | None] | None


class SearchHandler:
    """Answers `search`."""

    def __init__(
        self,
        reader: Reader,
        repositories: RepositoryCatalog,
        embedding: QueryEmbedding,
        answers: Answers | None = None,
    ) -> None:
        self._reader = reader
        self._repositories = repositories
        self._embedding = embedding
        self._answers = answers
        self._rarity = RarityCounter(reader, repositories)
        self._facts = Facts(reader)

    async def search(self, request: SearchRequest) -> SearchReply:
        """Hits, best first, with their legs and the receipt."""
        clock = _Clock()
        query = parse_query(request.query)
        target = await self._repositories.target(request)
        known = await self._answers.find(request, query, target) if self._answers else None
        clock.lap("cache")
        answer, missing_legs = (known, ()) if known else await self._answer(request, query, target, clock)
        receipt = await self._repositories.receipt(target, missing_legs, cached=known is not None)
        clock.lap("receipt")
        return SearchReply(**dict(answer), receipt=receipt, timings_ms=clock.laps)

    async def read_ahead(self) -> None:
        """Learn what ranking needs to know of files, for ever."""
        while True:
            for target in self._repositories.each():
                try:
                    await self._facts.read_ahead(target)
                except Exception as error:  # noqa: BLE001 - whatever it was, questions read what they need
                    log.warning("read-ahead paused: %s", reason_of(error))
            await asyncio.sleep(READ_AHEAD_PAUSE_S)

    async def _answer(
        self, request: SearchRequest, query: Query, target: Target, clock: "_Clock"
    ) -> tuple[SearchAnswer, tuple[str, ...]]:
        """The answer, and the legs that it lacks."""
        page = read_page(request, query, target.state)
        await refuse_unknown_language(self._reader, self._repositories, target, request.language)
        async with (
            running(self._rarity.rarity(target, query)) as rarity,
            self._vectors(request, query) as vectors,
        ):
            question = None
            for last in (False, False, True):
                found, candidates = await self._candidates(request, query, target, vectors, clock)
                question = question or Question(query, *await rarity)
                wanted = (file for file in candidates if not dropped_by(file, request))
                shown = _shown(question, rank(question, wanted, page.end + 1), page.end + 1)
                clock.lap("rank")
                hits, complete = await self._hits(target, question, shown[page.begin : page.end], request)
                if complete:
                    break
                self._facts.forget(file.file for file, _ in shown)
                if last and not hits:
                    raise PrismError(
                        ErrorCode.UNAVAILABLE,
                        "The matching files keep changing while they are read.",
                        "Retry in a second.",
                    )
            clock.lap("assemble")
            answer = SearchAnswer(
                results=hits,
                confidence=confidence(query, shown) if hits else "none",
                query_intent=query.intent,
                next_actions=next_actions(query, hits, with_repo=len(target.repositories) > 1),
                diagnostics={}
                if hits
                else await self._diagnose(
                    request, query, target, found, (dropped_by(file, request) for file in candidates)
                ),
                next_cursor=next_cursor(request, query, page, target.state) if len(shown) > page.end else "",
            )
            # Deep vectors come after an import is done, so an answer with them holds for a moment only.
            if self._answers and not found.missing and DEEP_LEG not in found.points:
                self._answers.keep(request, query, target, answer)
            return answer, found.missing

    @asynccontextmanager
    async def _vectors(self, request: SearchRequest, query: Query) -> AsyncIterator[Vectors]:
        fast, model = self._embedding.fast(query.text), self._embedding.deep_model()
        if not model:
            yield Vectors(fast, None)
            return
        async with running(self._deep_leg(request, query, model)) as deep:
            yield Vectors(fast, deep)

    async def _deep_leg(self, request: SearchRequest, query: Query, model: str) -> Leg | None:
        vector = await self._embedding.deep(query.text)
        if vector is None or not await self._reader.has_deep_vectors(request.tenant, model):
            return None
        return VectorLeg(vector, FILE_LIMIT * _factor(request), _conditions(request), deep_vector(model))

    async def _diagnose(
        self, request: SearchRequest, query: Query, target: Target, found: Found, dropped: Iterable[str]
    ) -> dict[str, object]:
        excluded = await no_file_passes(self._reader, target.scope, request.path_filter, request.language)
        name = query.symbols[0] if query.symbols else query.text
        near = await near_symbols(self._reader, target.scope, " ".join(query.terms) or query.text)
        return diagnose(
            query,
            {leg: len(points) for leg, points in found.points.items()},
            missing=found.missing,
            filters=filters_of(request),
            dropped=Counter(filter(None, dropped)),
            excluded=excluded,
            near_symbols=alike(near, name, chars_min=len(name) / 2),
        )

    async def _candidates(
        self,
        request: SearchRequest,
        query: Query,
        target: Target,
        vectors: Vectors,
        clock: "_Clock",
    ) -> tuple[Found, list[Candidate]]:
        """Candidates whose chunks and file points are of one version each; asked again where one changed between, and within the
        scope where points came from elsewhere: they took the places of others.
        """
        is_whole = self._repositories.is_whole(target)
        for last in (False, False, True):
            found = await self._ask(request, query, target, vectors, is_whole=is_whole)
            clock.lap("legs")
            limit = max(CANDIDATES_MAX, request.limit) * _factor(request)
            ranks = fuse({leg: _files_of(found, leg) for leg in found.points}, limit)
            files = await self._facts.files(target, ranks)
            clock.lap("files")
            stale = _stale_files(found, files)
            # Of a repository that has not been heard of yet, or of layers that are gone and not swept yet.
            is_crowded = is_whole and not ranks.keys() <= files.keys()
            if last or not (stale or is_crowded):
                break
            self._facts.forget(stale)
            is_whole = is_whole and not is_crowded
        return found, _candidates_of(found, files, ranks, stale)

    async def _ask(
        self, request: SearchRequest, query: Query, target: Target, vectors: Vectors, *, is_whole: bool
    ) -> Found:
        """All legs. Those of words and of the fast model do not wait for a deep vector."""
        ask = partial(self._points, target, is_whole=is_whole)
        legs = _word_legs(request, query) | _fast_leg(request, vectors.fast)
        missing = (FAST_LEG,) if vectors.fast is None else ()
        if vectors.deep is None:
            return Found(await ask(legs), missing)
        points, deep = await asyncio.gather(ask(legs), _deep_points(ask, vectors.deep))
        return Found(points | deep, missing if deep else (*missing, DEEP_LEG))

    async def _points(
        self, target: Target, legs: Mapping[str, Leg], *, is_whole: bool
    ) -> dict[str, list[StoredPoint]]:
        if not legs:
            return {}
        answers = await self._reader.ask_legs(target.scope, list(legs.values()), is_whole=is_whole)
        return dict(zip(legs, answers, strict=True))

    async def _hits(
        self, target: Target, question: Question, shown: Sequence[Shown], request: SearchRequest
    ) -> tuple[tuple[Hit, ...], bool]:
        """Hits with their text. False with it: some are left out, as their files were replaced after they were found."""
        read = partial(self._contents, target)
        contents: Sequence[str | None] = [""] * len(shown)
        if request.detail is Detail.FULL or request.corpus is Corpus.DOCS:
            contents = await read(shown)
        if request.corpus is Corpus.DOCS:
            shown, contents = await prefer_text(question, shown, contents, read)
        hits = tuple(
            _hit(target, file, found, content, request)
            for (file, found), content in zip(shown, contents, strict=True)
            if content is not None
        )
        return hits, len(hits) == len(shown)

    async def _contents(self, target: Target, shown: Sequence[Shown]) -> Sequence[str | None]:
        excerpts = [
            Excerpt(file.file, file.generation, file.starts, found.start, found.end) for file, found in shown
        ]
        return await read_excerpts(self._reader, target.scope, excerpts)


class _Clock:
    """Milliseconds between laps, by name; a name that comes again adds up."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round(self.laps.get(name, 0.0) + (now - self._last) * 1000, 2)
        self._last = now


async def _deep_points(
    ask: Callable[[Mapping[str, Leg]], Awaitable[dict[str, list[StoredPoint]]]],
    leg: asyncio.Task[Leg | None],
) -> dict[str, list[StoredPoint]]:
    made = await leg
    return await ask({DEEP_LEG: made}) if made else {}


def _word_legs(request: SearchRequest, query: Query) -> dict[str, Leg]:
    conditions, factor = _conditions(request), _factor(request)
    words = " ".join(query.terms) or query.text
    legs: dict[str, Leg] = {
        "keyword": TextLeg("text", words, CHUNK_LIMIT * factor, _chunk_conditions(request)),
        "path": TextLeg("path_text", words, FILE_LIMIT * factor, conditions),
        "symbol": TextLeg("symbol_text", words, FILE_LIMIT * factor, conditions),
    }
    if query.symbols:
        names = sorted({name for symbol in query.symbols for name in (last_name(symbol), dotted(symbol))})
        legs["exact"] = MatchLeg(EXACT_LIMIT * factor, (has_any("names", names), *conditions))
    return legs


def _fast_leg(request: SearchRequest, vector: Vector | None) -> dict[str, Leg]:
    # A vector of zeros is that of a question without a known word: it is near to nothing.
    if vector is None or not any(vector):
        return {}
    return {FAST_LEG: VectorLeg(vector, VECTOR_LIMIT * _factor(request), _chunk_conditions(request))}


def _factor(request: SearchRequest) -> int:
    return FILTERED_FACTOR if request.path_filter or request.source_only else 1


def _conditions(request: SearchRequest) -> tuple[models.Condition, ...]:
    conditions: list[models.Condition] = []
    if request.corpus is Corpus.DOCS:
        conditions.append(has("prose", value=True))
    if request.language:
        conditions.append(has("language", request.language.lower()))
    prefix = literal_prefix(request.path_filter)
    if prefix:
        conditions.append(starts_with("path", prefix))
    return tuple(conditions)


def _chunk_conditions(request: SearchRequest) -> tuple[models.Condition, ...]:
    kind = (has("kind", request.kind.value),) if request.kind else ()
    return (*_conditions(request), *kind)


def _files_of(found: Found, leg: str) -> list[str]:
    """The files of a leg's points, in their order."""
    ids = [point.id for point in found.points[leg]]
    return ids if leg in FILE_LEGS else [file_of(id_) for id_ in ids]


def _stale_files(found: Found, files: dict[str, RankFacts]) -> set[str]:
    """Files that were replaced between the legs and their file points: a chunk of another version came, none of this."""
    old: set[str] = set()
    current: set[str] = set()
    for point in _chunks(found):
        file = files.get(file_of(point.id))
        if file is not None:
            (current if is_of_generation(point.id, file.generation) else old).add(file.file)
    return old - current


def _chunks(found: Found) -> Iterator[StoredPoint]:
    return (point for leg in CHUNK_LEGS for point in found.points.get(leg, ()))


def _candidates_of(
    found: Found, files: dict[str, RankFacts], ranks: dict[str, dict[str, int]], stale: set[str]
) -> list[Candidate]:
    """Candidates with their chunks, those of another version left out."""
    keyword, vector = (_chunks_by_file(found, leg) for leg in CHUNK_LEGS)
    deep = {point.id: point.score for point in found.points.get(DEEP_LEG, ())}
    fast_spread, deep_spread = _spread(found, FAST_LEG), _spread(found, DEEP_LEG)
    candidates = []
    for file_id, legs in ranks.items():
        facts = files.get(file_id)
        if facts is None or not facts.generation:
            continue
        file = _candidate(facts, legs)
        file.keyword_chunks = _current(keyword.get(file_id, ()), file)
        file.vector_chunks = _current(vector.get(file_id, ()), file)
        file.nearness = _nearness([chunk.score for chunk in file.vector_chunks], fast_spread)
        file.deep_nearness = _nearness([deep[file_id]] if file_id in deep else [], deep_spread)
        if file_id in stale:
            file.legs = {leg: rank for leg, rank in legs.items() if leg in FILE_LEGS}
        candidates.append(file)
    return candidates


def _spread(found: Found, leg: str) -> tuple[float, float]:
    """Mean and standard deviation of a leg's scores."""
    scores = [point.score for point in found.points.get(leg, ())]
    if not scores:
        return 0.0, 0.0
    mean = fmean(scores)
    # `statistics.pstdev` reckons with fractions, which takes thirty times as long.
    return mean, sqrt(fmean([(score - mean) ** 2 for score in scores]))


def _nearness(scores: Sequence[float], spread: tuple[float, float]) -> float:
    mean, deviation = spread
    return (max(scores) - mean) / deviation if scores and deviation else 0.0


def _candidate(facts: RankFacts, legs: dict[str, int]) -> Candidate:
    return Candidate(
        file=facts.file,
        repo=facts.repo,
        path=facts.path,
        generation=facts.generation,
        language=facts.language,
        flags=facts.flags,
        prose=facts.prose,
        lines=facts.lines,
        starts=facts.starts,
        chunk_symbols=facts.chunk_symbols,
        outline=facts.outline,
        legs=legs,
    )


def _chunks_by_file(found: Found, leg: str) -> dict[str, list[StoredPoint]]:
    points: dict[str, list[StoredPoint]] = defaultdict(list)
    for point in found.points.get(leg, ()):
        points[file_of(point.id)].append(point)
    return points


def _current(points: Sequence[StoredPoint], file: Candidate) -> list[ChunkHit]:
    return [
        ChunkHit(point.id, point.score) for point in points if is_of_generation(point.id, file.generation)
    ]


def _shown(question: Question, ranked: Sequence[Candidate], limit: int) -> list[Shown]:
    """One hit a file; if there are fewer files than asked for, further chunks of the best."""
    for file in ranked:
        locate_chunks(file)
    shown = [(file, best_range(question, file)) for file in ranked]
    for file, first in shown[: len(ranked)]:
        if len(shown) >= limit:
            break
        shown += [(file, found) for found in further_ranges(question, file, [first])[: limit - len(shown)]]
    return shown


def _hit(target: Target, file: Candidate, found: Range, content: str, request: SearchRequest) -> Hit:
    return Hit(
        repo=target.name_of(file.repo),
        file_path=file.path,
        start_line=found.start,
        end_line=found.end,
        content=content if request.detail is Detail.FULL else "",
        symbol=found.symbol,
        kind=found.kind,
        language=file.language,
        score=round(file.score, 4),
        legs=file.legs,
        # Not rounded: whoever sums the shares again gets the order that is served.
        signals={name: share for name, share in file.signals.items() if share} if request.explain else {},
        file_context=file_context(file) if request.include_file_context else None,
    )
