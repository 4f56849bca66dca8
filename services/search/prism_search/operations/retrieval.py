"""Asks the store and the models for what a search needs: vectors, legs, facts of files, the text of hits."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.rpc.search import Corpus, Detail, Hit
from prism_runtime.tasks import running
from prism_runtime.tracing import Attribute
from prism_search.adapters.embedding import QueryEmbedding, Vector
from prism_search.adapters.facts import Facts
from prism_search.adapters.filters import no_file_passes
from prism_search.adapters.member_texts import MemberTexts
from prism_search.adapters.metrics import SearchMetrics
from prism_search.adapters.near_symbols import most_similar, near_symbols
from prism_search.adapters.texts import Excerpt, read_excerpts
from prism_search.core.diagnosis import diagnose
from prism_search.core.matching import Question
from prism_search.core.passages import Range
from prism_search.core.retrieval.assemble import MemberHit, Passage, hit_of, members, text_range
from prism_search.core.retrieval.candidates import Candidate
from prism_search.core.retrieval.context import SearchContext
from prism_search.core.retrieval.filters import dropped_by, filters_of
from prism_search.core.retrieval.fuse import LegResults, candidates_of, fuse_legs
from prism_search.core.retrieval.members import extent, whole_file
from prism_search.core.retrieval.plan import (
    DEEP_LEG,
    FAST_LEG,
    candidates_limit,
    plan_deep_leg,
    plan_legs,
)
from prism_search.core.retrieval.stale import stale_files
from prism_search.operations.prose import prefer_text
from prism_store.reader import Leg, Reader, StoredPoint

# Imports may replace files while they are read. After so many repeats, what is consistent is used.
REPEATS_MAX = 2
# So many of the best files are read whole, to compare all their members.
WHOLE_FILES_MAX = 3

Points = dict[str, list[StoredPoint]]
Ask = Callable[[Mapping[str, Leg]], Awaitable[Points]]


class QueryVectors(NamedTuple):
    """The vectors of a question: the fast model's, and a task that makes the leg of the deep model."""

    fast: Vector | None
    deep: (
        asyncio.Task[Leg | None] | None
    )  # None if no deep model runs; its result is None if it did not answer


@dataclass(frozen=True)
class Retrieved:
    """What the legs found, and the candidates, best first by fused rank."""

    found: LegResults
    candidates: Sequence[Candidate]
    stale: set[str]  # files that were replaced while they were read
    is_crowded: bool  # the legs ran without the scope condition, and returned points outside the scope


class Hits(NamedTuple):
    """The hits of passages. `is_whole` is False if a file was replaced while it was read."""

    hits: tuple[Hit, ...]
    is_whole: bool


class Retrieval:
    """Reads what a search needs from the store."""

    def __init__(
        self,
        reader: Reader,
        repositories: RepositoryCatalog,
        embedding: QueryEmbedding,
        facts: Facts,
        metrics: SearchMetrics,
        *,
        texts: MemberTexts,
    ) -> None:
        self._reader = reader
        self._texts = texts
        self._repositories = repositories
        self._embedding = embedding
        self._facts = facts
        self._metrics = metrics

    @asynccontextmanager
    async def vectors(self, context: SearchContext) -> AsyncIterator[QueryVectors]:
        """Computes the fast vector, and asks for the deep one in the background."""
        with context.steps.step("embed"):
            fast, model = self._embedding.fast(context.query.text), self._embedding.deep_model()
        if not model:
            yield QueryVectors(fast, None)
            return
        async with running(self._deep_leg(context, model)) as deep:
            yield QueryVectors(fast, deep)

    async def candidates(self, context: SearchContext, vectors: QueryVectors) -> Retrieved:
        """Returns candidates whose chunks and file points are of one version.

        Repeats the legs if an import replaced files in between. Repeats them within the scope if points came
        from outside: those took the places of others.
        """
        is_whole = self._repositories.is_whole(context.target)
        for _ in range(REPEATS_MAX):
            retrieved = await self._candidates(context, vectors, is_whole=is_whole)
            if not retrieved.stale and not retrieved.is_crowded:
                return retrieved
            self._facts.forget(retrieved.stale)
            is_whole = is_whole and not retrieved.is_crowded
        return await self._candidates(context, vectors, is_whole=is_whole)

    async def hits(
        self,
        context: SearchContext,
        question: Question,
        passages: Sequence[Passage],
        candidates: Sequence[Candidate],
    ) -> Hits:
        """Returns the hits of passages with their texts, except where the file was replaced meanwhile."""
        if context.request.corpus is Corpus.CODE:
            return await self._members(context, question, passages, candidates)
        read = partial(self.contents, context.target)
        passages, contents = await prefer_text(question, passages, await read(passages), read)
        found = [
            hit_of(context, passage, content)
            for passage, content in zip(passages, contents, strict=True)
            if content is not None
        ]
        return Hits(tuple(found), is_whole=len(found) == len(passages))

    async def contents(self, target: Target, passages: Sequence[Passage]) -> Sequence[str | None]:
        """Returns the text of each passage; None if its file was replaced."""
        return await read_excerpts(self._reader, target.scope, [_excerpt(*passage) for passage in passages])

    async def _members(
        self,
        context: SearchContext,
        question: Question,
        passages: Sequence[Passage],
        candidates: Sequence[Candidate],
    ) -> Hits:
        """Returns the hits as symbols, from the text of the functions that the passages touch."""
        whole = _whole_files(passages)
        ranges = [known or extent(file, found) for (file, found), known in zip(passages, whole, strict=True)]
        wider = [_excerpt(file, lines) for (file, _), lines in zip(passages, ranges, strict=True)]
        languages = [file.language for file, _ in passages]
        texts = await self._texts.read(context.target.scope, wider, languages)
        read = [
            (passage, file_range, text)
            for passage, file_range, text in zip(passages, whole, texts, strict=True)
            if text is not None
        ]
        found = members(context, question, read, candidates)
        is_whole = len(read) == len(passages)
        if context.request.detail is not Detail.FULL:
            return Hits(tuple(member.hit for member in found), is_whole)
        hits = [
            member.hit.model_copy(update={"content": text})
            for member, text in zip(found, await self._full_texts(context.target, found), strict=True)
            if text is not None
        ]
        return Hits(tuple(hits), is_whole and len(hits) == len(found))

    async def _full_texts(self, target: Target, found: Sequence[MemberHit]) -> Sequence[str | None]:
        """Returns the text of each hit, of which a long symbol was not read to its end."""
        texts = [member.text.text_of(text_range(member.hit)) for member in found]
        missing = [index for index, text in enumerate(texts) if text is None]
        read = await self.contents(
            target, [(found[index].file, text_range(found[index].hit)) for index in missing]
        )
        for index, text in zip(missing, read, strict=True):
            texts[index] = text
        return texts

    async def diagnose(self, context: SearchContext, retrieved: Retrieved) -> dict[str, object]:
        """Returns why a question has no hits."""
        request, query, scope = context.request, context.query, context.target.scope
        dropped = (dropped_by(file, request) for file in retrieved.candidates)
        name = query.symbols[0] if query.symbols else query.text
        near = await near_symbols(self._reader, scope, " ".join(query.terms) or query.text)
        return diagnose(
            query,
            {leg: len(points) for leg, points in retrieved.found.points.items()},
            missing=retrieved.found.missing,
            filters=filters_of(request),
            dropped=Counter(filter(None, dropped)),
            excluded=await no_file_passes(self._reader, scope, request.path_filter, request.language),
            near_symbols=most_similar(near, name, chars_min=len(name) / 2),
        )

    def forget(self, files: Sequence[str]) -> None:
        """Evicts the cached facts of these files."""
        self._facts.forget(files)

    async def _candidates(
        self, context: SearchContext, vectors: QueryVectors, *, is_whole: bool
    ) -> Retrieved:
        with context.steps.step("legs") as span:
            found = await self._ask(context, vectors, is_whole=is_whole)
            span.set_attributes(_counted(found))
        with context.steps.step("fuse") as span:
            ranks = fuse_legs(found, candidates_limit(context.request))
            span.set_attribute(Attribute.CANDIDATES, len(ranks))
        with context.steps.step("files"):
            files = await self._facts.files(context.target, ranks)
        stale = stale_files(found, files)
        # Points without a file in scope: of a repository not received yet, or of deleted layers not swept
        # yet.
        is_crowded = is_whole and not ranks.keys() <= files.keys()
        return Retrieved(found, candidates_of(found, files, ranks, stale), stale, is_crowded)

    async def _ask(self, context: SearchContext, vectors: QueryVectors, *, is_whole: bool) -> LegResults:
        """Asks all legs. The others do not wait for a deep vector."""
        ask = partial(self._points, context.target, is_whole=is_whole)
        legs = plan_legs(context.request, context.query, vectors.fast)
        missing = (FAST_LEG,) if vectors.fast is None else ()
        if vectors.deep is None:
            found = LegResults(await self._measured(ask, legs), missing)
        else:
            points, deep = await asyncio.gather(
                self._measured(ask, legs), self._deep_points(ask, vectors.deep)
            )
            found = LegResults(points | deep, missing if deep else (*missing, DEEP_LEG))
        for leg in found.missing:
            self._metrics.count_failure(leg)
        return found

    async def _measured(self, ask: Ask, legs: Mapping[str, Leg]) -> Points:
        with self._metrics.asking(legs):
            return await ask(legs)

    async def _deep_points(self, ask: Ask, leg: asyncio.Task[Leg | None]) -> Points:
        made = await leg
        return await self._measured(ask, {DEEP_LEG: made}) if made else {}

    async def _points(self, target: Target, legs: Mapping[str, Leg], *, is_whole: bool) -> Points:
        if not legs:
            return {}
        answers = await self._reader.ask_legs(target.scope, list(legs.values()), is_whole=is_whole)
        return dict(zip(legs, answers, strict=True))

    async def _deep_leg(self, context: SearchContext, model: str) -> Leg | None:
        vector = await self._embedding.deep(context.query.text)
        if vector is None or not await self._reader.has_deep_vectors(context.request.tenant, model):
            return None
        return plan_deep_leg(context.request, vector, model)


def _counted(found: LegResults) -> dict[str, str | int]:
    """Returns the attributes of a span: the legs that answered, those that did not, and the points found."""
    return {
        Attribute.LEGS: ",".join(sorted(found.points)),
        Attribute.MISSING_LEGS: ",".join(found.missing),
        Attribute.POINTS: sum(map(len, found.points.values())),
    }


def _excerpt(file: Candidate, lines: Range) -> Excerpt:
    return Excerpt(file.file, file.generation, file.starts, lines.start, lines.end)


def _whole_files(passages: Sequence[Passage]) -> list[Range | None]:
    """Returns the range of the whole file for the first passage of each of the best files, else None."""
    best = list(dict.fromkeys(file.file for file, _ in passages))[:WHOLE_FILES_MAX]
    seen: set[str] = set()
    ranges: list[Range | None] = []
    for file, _ in passages:
        is_compared = file.file in best and file.file not in seen
        ranges.append(whole_file(file) if is_compared else None)
        seen.add(file.file)
    return ranges
