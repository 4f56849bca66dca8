"""Answers `existing`: whether code that does this exists already.

the intent as a question ▶ chunks near in meaning or with its words, files with its names ▶ their definitions,
scored by what their files say of them and by the prose of the chunks with most of the words
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.base import file_of, is_of_generation, ordinal_of
from prism_contracts.code import FileStatus
from prism_contracts.rpc.guidance import (
    ExistingDefinition,
    ExistingReply,
    ExistingRequest,
    Verdict,
    WordPlace,
)
from prism_runtime.packing import unpack_symbols
from prism_search.adapters.embedding import QueryEmbedding
from prism_search.adapters.filters import refuse_unknown_language
from prism_search.adapters.rarity import RarityCounter
from prism_search.core.definitions import definition_reply
from prism_search.core.existing import CodeFile, Existing, find_existing, read_intent
from prism_search.core.matching import Question, Rarity
from prism_search.core.query import Query, parse_query
from prism_search.core.retrieval.candidates import ChunkHit, chunk_places
from prism_search.core.retrieval.fuse import fuse
from prism_search.core.retrieval.plan import FAST_LEG
from prism_search.core.word_places import WORDS_MAX, WordChunk, word_places
from prism_search.core.words import stem
from prism_source.words import PART
from prism_store.reader import Leg, Reader, StoredPoint, TextLeg, VectorLeg, has

CHUNKS_MAX = 80
FILES_MAX = 60
# Chunks whose texts are read: one that holds the intent word for word is among the first.
TEXTS_MAX = 20
# Chunks of one word that are read for the places where it occurs.
WORD_CHUNKS_MAX = 8
FIELDS = ("scope", "path", "language", "flags", "generation", "status", "symbols", "prose", "starts", "lines")


class ExistingHandler:
    """Answers `existing`."""

    def __init__(self, reader: Reader, repositories: RepositoryCatalog, embedding: QueryEmbedding) -> None:
        self._reader = reader
        self._repositories = repositories
        self._embedding = embedding
        self._rarity = RarityCounter(reader, repositories)

    async def existing(self, request: ExistingRequest) -> ExistingReply:
        """Returns definitions, best first, with a verdict. Raises EMPTY_QUERY, QUERY_TOO_LONG."""
        intent = read_intent(request.intent)
        query = parse_query(intent.words)
        target = await self._repositories.target(request)
        await refuse_unknown_language(self._reader, self._repositories, target, request.language)
        vector = self._embedding.fast(query.text)
        rarity = await self._rarity.rarity(target, query)
        near, files, by_words = await self._ask(target, query, vector, request.language)
        points = await self._reader.points(target.scope, files, FIELDS)
        texts = await self._reader.points(target.scope, by_words[:TEXTS_MAX], ["scope", "text"])
        # In a thread: unpacking the symbols of dozens of files would delay other questions.
        found = await asyncio.to_thread(
            find_existing,
            Question(query, *rarity),
            intent,
            _files(points.values(), near, texts),
            request.limit,
        )
        words = tuple(dict.fromkeys(part.lower() for term in query.terms for part in PART.findall(term)))
        missing = (FAST_LEG,) if vector is None else ()
        absent = await self._rarity.absent(target, words)
        verdict = found[0].verdict if found else Verdict.NONE
        is_sure = verdict is Verdict.LIKELY or (verdict is Verdict.MAYBE and not absent)
        return ExistingReply(
            verdict=verdict,
            existing=tuple(_reply(target, points[one.key], one) for one in found),
            words=words,
            absent_words=tuple(absent),
            places=() if is_sure else await self._places(target, _rarest(words, absent, rarity[0])),
            receipt=await self._repositories.receipt(target, missing),
        )

    async def _places(self, target: Target, words: Sequence[str]) -> tuple[WordPlace, ...]:
        """Returns some lines with each word."""
        legs = [TextLeg("text", word, WORD_CHUNKS_MAX) for word in words]
        found = await self._reader.ask_legs(target.scope, legs) if legs else []
        ids = list(dict.fromkeys(point.id for points in found for point in points))
        texts, files = await asyncio.gather(
            self._reader.points(target.scope, ids, ["scope", "text"]),
            self._reader.points(target.scope, list(dict.fromkeys(map(file_of, ids))), FIELDS),
        )
        return await asyncio.to_thread(
            lambda: tuple(
                place
                for word, points in zip(words, found, strict=True)
                for place in word_places(word, _word_chunks(target, [one.id for one in points], texts, files))
            )
        )

    async def _ask(
        self, target: Target, query: Query, vector: tuple[float, ...] | None, language: str
    ) -> tuple[dict[str, list[ChunkHit]], list[str], list[str]]:
        """Returns chunks with cosines by file, the files to score, and the chunks with most of the words."""
        conditions = (has("language", language.lower()),) if language else ()
        words = " ".join(query.terms) or query.text
        legs: list[Leg] = [
            TextLeg("symbol_text", words, FILES_MAX, conditions),
            TextLeg("text", words, CHUNKS_MAX, conditions),
        ]
        if vector and any(vector):
            legs.append(VectorLeg(vector, CHUNKS_MAX, conditions))
        by_symbol, by_text, *by_vector = await self._reader.ask_legs(target.scope, legs)
        cosines = {point.id: point.score for points in by_vector for point in points}
        near: dict[str, list[ChunkHit]] = defaultdict(list)
        for id_ in dict.fromkeys([*cosines, *(point.id for point in by_text)]):
            near[file_of(id_)].append(ChunkHit(id_, cosines.get(id_, 0.0)))
        ranked = {
            "symbol": [point.id for point in by_symbol],
            "keyword": [file_of(point.id) for point in by_text],
            FAST_LEG: [file_of(id_) for id_ in cosines],
        }
        return near, list(fuse(ranked, FILES_MAX)), [point.id for point in by_text]


def _files(
    points: Iterable[StoredPoint], near: Mapping[str, Sequence[ChunkHit]], texts: Mapping[str, StoredPoint]
) -> Iterator[CodeFile]:
    return (_file(point, near.get(point.id, ()), texts) for point in points if _is_code(point))


def _is_code(point: StoredPoint) -> bool:
    return point.text("status") == FileStatus.INDEXED and not point.payload.get("prose")


def _file(point: StoredPoint, near: Sequence[ChunkHit], texts: Mapping[str, StoredPoint]) -> CodeFile:
    generation, places = point.text("generation"), chunk_places(point.text("starts"), point.number("lines"))
    chunks = [
        (chunk, places[ordinal_of(chunk.id)]) for chunk in near if is_of_generation(chunk.id, generation)
    ]
    return CodeFile(
        point.id,
        point.text("flags"),
        unpack_symbols(point.text("symbols")),
        [(*place, chunk.score) for chunk, place in chunks],
        [(first, texts[chunk.id].text("text")) for chunk, (first, _) in chunks if chunk.id in texts],
        point.text("path"),
    )


def _rarest(words: Sequence[str], absent: Collection[str], rarity: Rarity) -> list[str]:
    """Returns the rarest words that occur, in the order of the intent."""
    known = [word for word in words if word not in absent]
    rarest = sorted(known, key=lambda word: -rarity.get(stem(word), 0.0))[:WORDS_MAX]
    return [word for word in known if word in rarest]


def _word_chunks(
    target: Target, ids: Iterable[str], texts: Mapping[str, StoredPoint], files: Mapping[str, StoredPoint]
) -> Iterator[WordChunk]:
    """Returns the chunks of code with their texts."""
    for id_ in ids:
        file = files.get(file_of(id_))
        if id_ not in texts or file is None or not _is_code(file):
            continue
        if not is_of_generation(id_, file.text("generation")):
            continue
        first, _ = chunk_places(file.text("starts"), file.number("lines"))[ordinal_of(id_)]
        names = {symbol.name_line for symbol in unpack_symbols(file.text("symbols"))}
        yield WordChunk(
            target.name_of(file.repo),
            file.text("path"),
            file.text("flags"),
            first,
            texts[id_].text("text"),
            names,
        )


def _reply(target: Target, point: StoredPoint, one: Existing) -> ExistingDefinition:
    return ExistingDefinition(
        definition=definition_reply(target, point, one.symbol),
        verdict=one.verdict,
        score=one.score,
        reasons=one.reasons,
        aside=one.aside,
    )
