"""Caches answers: in this process, and in a bucket that all processes of search share.

The key of an answer holds the version of every repository it covers. An import gets its version before its
first write and is recorded as served after its last, so while no import runs, a version identifies all
content of the index, and an answer under its key is current. This process may learn of imports late, so each
hit is verified with NATS. If anything fails here, the question is answered without the cache.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from nats.errors import Error as NatsError
from nats.js.errors import KeyNotFoundError
from nats.js.kv import KeyValue
from prometheus_client import CollectorRegistry, Counter
from pydantic import ValidationError

from prism_catalog.repositories import RepositoryCatalog
from prism_contracts import names
from prism_contracts.errors import reason_of
from prism_contracts.records import (
    CHUNKER_KEY,
    DEEP_MODEL_KEY,
    FAST_MODEL_KEY,
    ModelVersion,
)
from prism_contracts.rpc.search import SearchAnswer
from prism_runtime.records import WatchedRecords
from prism_runtime.weighted_cache import WeightedCache
from prism_search.core.answer_key import answer_key
from prism_search.core.retrieval.context import SearchContext

# NATS answers within a millisecond. If it takes longer than this, it is in trouble, and the cache pauses.
WAIT_S = 0.1
PAUSE_S = 5.0
PUTS_MAX = 16
MODELS = (CHUNKER_KEY, FAST_MODEL_KEY, DEEP_MODEL_KEY)
# The packages whose code determines answers.
PACKAGES = (
    "prism_catalog",
    "prism_contracts",
    "prism_resolver",
    "prism_runtime",
    "prism_source",
    "prism_store",
    "prism_search",
)

log = logging.getLogger(__name__)


class Found(StrEnum):
    """Where an answer was looked up and found."""

    MEMORY = "memory"
    SHARED = "shared"
    NOWHERE = "nowhere"
    PASSED = "passed"  # no lookup


class Lookup(NamedTuple):
    """The result of a lookup."""

    answer: SearchAnswer | None
    found: Found


class AnswerMetrics:
    """Counts questions by where their answers come from."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._found = Counter(
            "prism_search_answers",
            "Cache lookups by result: memory, the shared bucket, or nowhere; passed: no lookup, because an import "
            "is running or NATS fails.",
            ["found"],
            registry=registry,
        )
        for found in Found:
            self._found.labels(found.value)

    def count(self, found: Found) -> None:
        """Count a lookup."""
        self._found.labels(found.value).inc()


class Answers:
    """The cache of answers."""

    def __init__(
        self,
        repositories: RepositoryCatalog,
        model_versions: WatchedRecords[ModelVersion],
        bucket: KeyValue,
        metrics: AnswerMetrics,
        *,
        bytes_max: int,
        reranker: str = "",
    ) -> None:
        """`reranker` is what determines the order of a reranker; empty if there is none."""
        self._repositories = repositories
        self._model_versions = model_versions
        self._bucket = bucket
        self._metrics = metrics
        self._cache: WeightedCache[str, bytes] = WeightedCache(bytes_max)
        self._code = _fingerprint(PACKAGES)
        self._reranker = reranker
        self._paused_until = 0.0
        self._puts: set[asyncio.Task[None]] = set()

    async def find(self, context: SearchContext) -> Lookup:
        """Returns the cached answer to this question for this state of the index, if there is one."""
        lookup = await self._find(context)
        self._metrics.count(lookup.found)
        return lookup

    async def _find(self, context: SearchContext) -> Lookup:
        request, target = context.request, context.target
        if not target.is_quiet or time.monotonic() < self._paused_until:
            return Lookup(None, Found.PASSED)
        try:
            async with asyncio.timeout(WAIT_S):
                lookup = await self._look_up(self._key(context))
                # Only for hits: most questions are new, and this costs as much as the lookup.
                if lookup.answer and not await self._repositories.is_newest(request, target):
                    return Lookup(None, Found.PASSED)
                return lookup
        except (NatsError, TimeoutError) as error:
            self._pause(error)
            return Lookup(None, Found.PASSED)

    def keep(self, context: SearchContext, answer: SearchAnswer) -> None:
        """Caches the answer for this state of the index."""
        if not context.target.is_quiet:
            return
        key, data = self._key(context), answer.model_dump_json().encode()
        self._cache.put(key, data, len(data))
        is_well = time.monotonic() >= self._paused_until
        if is_well and len(data) <= names.MESSAGE_BYTES_MAX and len(self._puts) < PUTS_MAX:
            task = asyncio.create_task(self._put(key, data))
            self._puts.add(task)
            task.add_done_callback(self._puts.discard)

    async def _look_up(self, key: str) -> Lookup:
        known = self._cache.get(key)
        found = known or await self._read(key)
        answer = _answer(found)
        if found and answer and not known:
            self._cache.put(key, found, len(found))
        if not answer:
            return Lookup(None, Found.NOWHERE)
        return Lookup(answer, Found.MEMORY if known else Found.SHARED)

    def _key(self, context: SearchContext) -> str:
        known = (self._model_versions.get(key) for key in MODELS)
        models = (model.version if model else "" for model in known)
        return answer_key(
            context.request, context.query, context.target.state, (self._code, self._reranker, *models)
        )

    async def _read(self, key: str) -> bytes | None:
        try:
            return (await self._bucket.get(key)).value
        except KeyNotFoundError:
            return None

    async def _put(self, key: str, data: bytes) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                await self._bucket.put(key, data)
        except (NatsError, TimeoutError) as error:
            self._pause(error)

    def _pause(self, error: Exception) -> None:
        log.warning("answering without the cache for %g s: %s", PAUSE_S, reason_of(error))
        self._paused_until = time.monotonic() + PAUSE_S


def _answer(data: bytes | None) -> SearchAnswer | None:
    try:
        return SearchAnswer.model_validate_json(data) if data else None
    except ValidationError:
        return None  # not written by this version; the question is answered without it


def _fingerprint(packages: Sequence[str]) -> str:
    """Returns the SHA-256 of the source code of packages."""
    digest = hashlib.sha256()
    for package in packages:
        spec = find_spec(package)
        assert spec is not None
        for folder in spec.submodule_search_locations or ():
            for file in sorted(Path(folder).rglob("*.py")):
                digest.update(file.read_bytes())
    return digest.hexdigest()
