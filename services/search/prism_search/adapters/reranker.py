"""Asks a remote reranker in which order passages answer a question.

It speaks the interface that Cohere, Jina, vLLM, Infinity and others share: POST {model, query, documents,
top_n} is answered with {results: [{index, relevance_score}]}. A reranker that fails, is late or answers nonsense
changes no order. After repeated failures it is not asked for a while.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import aiohttp
import orjson
from prometheus_client import CollectorRegistry, Counter

from prism_runtime import tracing
from prism_runtime.tracing import Attribute
from prism_search.core.reranking import read_order, rerank_request
from prism_search.settings import SearchSettings

# Some endpoints quote the documents: fifty of 2,000 characters, escaped, are 600 kB.
REPLY_BYTES_MAX = 1024 * 1024
CONNECTIONS_MAX = 16
# A TLS handshake with a remote host may cost half the timeout, so connections are kept between questions.
IDLE_CONNECTION_S = 15.0
FAILURES_MAX = 3  # in a row
PAUSE_S = 10.0
OK = 200

log = logging.getLogger(__name__)


class Result(StrEnum):
    """What became of a question for the reranker."""

    ORDERED = "ordered"
    LATE = "late"
    FAILED = "failed"  # no connection, or a status other than 200
    INVALID = "invalid"  # a reply of another shape, without a finite score for each document, or too large
    PAUSED = "paused"  # not asked, after repeated failures


class RerankerMetrics:
    """Counts questions for the reranker by what became of them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._results = Counter(
            "prism_search_reranks",
            "Questions for the reranker by result: ordered; late; failed (no connection, or a status other than 200); "
            "invalid (a reply without a finite score for each passage); paused (not asked, after repeated failures).",
            ["result"],
            registry=registry,
        )
        for result in Result:
            self._results.labels(result.value)

    def count(self, result: Result) -> None:
        """Count a question."""
        self._results.labels(result.value).inc()


class Reranker:
    """The reranker that the settings name."""

    def __init__(
        self, settings: SearchSettings, metrics: RerankerMetrics, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self.candidates = settings.reranker_candidates
        self.timeout_s = settings.reranker_timeout_s
        self._metrics = metrics
        self._now = now
        self._failures = 0  # since it last answered
        self._paused_until = 0.0
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        """What determines its order: the model, and how many passages it gets."""
        return f"{self._settings.reranker_model} of {self.candidates}"

    def is_asked(self) -> bool:
        """Whether it is asked now. Counts a question that is not, because earlier ones failed."""
        if self._now() >= self._paused_until:
            return True
        self._metrics.count(Result.PAUSED)
        return False

    async def order(self, query: str, documents: Sequence[str], deadline: float) -> list[int] | None:
        """Returns the positions of the documents, best first; None if it gave no valid order by the deadline.

        `deadline` is a time of the event loop.
        """
        with tracing.span("ask reranker", kind=tracing.CLIENT) as span:
            try:
                reply = await self._ask(query, documents, deadline)
                order = read_order(reply, len(documents))
            except _FailedError as failure:
                result, reason = failure.result, failure.reason
            except ValueError as error:
                result, reason = Result.INVALID, str(error)
            else:
                self._failures = 0
                self._metrics.count(Result.ORDERED)
                return order
            span.set_attribute(Attribute.ERROR, result.value)
        self._metrics.count(result)
        self._note_failure(reason)
        return None

    async def close(self) -> None:
        """Close the connections."""
        if self._session:
            await self._session.close()

    async def _ask(self, query: str, documents: Sequence[str], deadline: float) -> bytes:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._post(rerank_request(self._settings.reranker_model, query, documents))
        except TimeoutError:
            raise _FailedError(Result.LATE, "it is late") from None
        except (aiohttp.ClientError, OSError) as error:
            # The library's messages quote the URL, which may have a key in it.
            raise _FailedError(Result.FAILED, type(error).__name__) from None

    async def _post(self, request: Mapping[str, Any]) -> bytes:
        call = self._connections().post(
            self._settings.reranker_url, data=orjson.dumps(request), allow_redirects=False
        )
        async with call as reply:
            if reply.status != OK:
                raise _FailedError(Result.FAILED, f"status {reply.status}")
            body = bytearray()
            async for part in reply.content.iter_any():
                body += part
                if len(body) > REPLY_BYTES_MAX:
                    raise _FailedError(Result.INVALID, f"it is larger than {REPLY_BYTES_MAX} bytes")
            return bytes(body)

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            # A compressed reply could be small on the way and large here, so none is asked for or unpacked.
            headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
            if key := self._settings.reranker_api_key.get_secret_value():
                headers["Authorization"] = f"Bearer {key}"
            self._session = aiohttp.ClientSession(
                headers=headers,
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                # The deadline of each question is the limit.
                timeout=aiohttp.ClientTimeout(total=None),
                connector=aiohttp.TCPConnector(limit=CONNECTIONS_MAX, keepalive_timeout=IDLE_CONNECTION_S),
            )
        return self._session

    def _note_failure(self, reason: str) -> None:
        log.warning("the reranker did not order an answer: %s", reason)
        self._failures += 1
        # One more failure after a pause begins the next one.
        if self._failures >= FAILURES_MAX and self._now() >= self._paused_until:
            log.warning("answering without the reranker for %g s", PAUSE_S)
            self._paused_until = self._now() + PAUSE_S


class _FailedError(Exception):
    """The reranker gave no reply that could be read."""

    def __init__(self, result: Result, reason: str) -> None:
        super().__init__(reason)
        self.result = result
        self.reason = reason
