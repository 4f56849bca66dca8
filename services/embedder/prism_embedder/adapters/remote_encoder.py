"""A model behind an HTTP server with OpenAI's endpoint for embeddings, as Ollama, vLLM and most providers have.

A question is sent once, because its caller does not wait for long. Documents are sent again after a pause if
the server is busy or unreachable. A text that the server refuses is MESSAGE_INVALID, so that no other text waits
behind it. Every other failure is UNAVAILABLE: documents wait, and Prism answers without deep vectors.
"""

import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
import numpy as np

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.core.rows import Matrix, unit_rows

log = logging.getLogger(__name__)

QUERY_TIMEOUT_S = 5.0
DOCUMENTS_TIMEOUT_S = 60.0
ATTEMPTS_MAX = 3
PAUSES_S = (1.0, 4.0)
PAUSE_S_MAX = 30.0  # longest wait that a server may ask for
# 64 vectors of 8,192 numbers, as JSON.
REPLY_BYTES_MAX = 16 * 1024 * 1024
# Servers count tokens in their own way, and some refuse a text that is too long.
CHARS_PER_TOKEN = 4
DETAIL_CHARS_MAX = 200
PROBE = "Which dimension do the vectors have?"
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
REFUSED = frozenset({400, 413, 422})  # the server rejects these texts, so sending them again does not help
OK = 200


@dataclass(frozen=True)
class Endpoint:
    """Where the model is, and how to ask it."""

    url: str  # ends before `/embeddings`, such as http://127.0.0.1:11434/v1
    model: str
    key: str = ""
    query_prompt: str = ""
    document_prompt: str = ""

    @property
    def identity(self) -> str:
        """What decides the vectors, as far as a client can know."""
        return f"remote\0{self.model}\0{self.query_prompt}\0{self.document_prompt}"


class RemoteEncoder:
    """A model on a server."""

    def __init__(
        self,
        endpoint: Endpoint,
        tokens_max: int,
        *,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Asks for one vector to learn the dimension. Raises PrismError(UNAVAILABLE) if it gets none."""
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._http = httpx2.Client(headers=headers, follow_redirects=False, transport=transport)
        self._endpoint = endpoint
        self._sleep = sleep
        self.tokens_max = tokens_max
        self.dimension = 0
        self.dimension = self._ask([PROBE], DOCUMENTS_TIMEOUT_S).shape[1]

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of questions."""
        return self._ask(self._prompted(self._endpoint.query_prompt, texts), QUERY_TIMEOUT_S)

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of documents."""
        prompted = self._prompted(self._endpoint.document_prompt, texts)
        for pause_s in PAUSES_S:
            try:
                return self._ask(prompted, DOCUMENTS_TIMEOUT_S)
            except _BusyError as busy:
                wait_s = min(busy.retry_after_s or pause_s, PAUSE_S_MAX)
                log.warning("documents are sent again in %g s: %s", wait_s, busy)
                self._sleep(wait_s)
        return self._ask(prompted, DOCUMENTS_TIMEOUT_S)

    def _prompted(self, prompt: str, texts: Sequence[str]) -> list[str]:
        return [prompt + text[: self.tokens_max * CHARS_PER_TOKEN] for text in texts]

    def _ask(self, texts: list[str], timeout_s: float) -> Matrix:
        asked = {"model": self._endpoint.model, "input": texts, "encoding_format": "float"}
        try:
            # The deadline of one read; a server that sends a byte now and then is cut off by the size.
            with self._http.stream(
                "POST", f"{self._endpoint.url.rstrip('/')}/embeddings", json=asked, timeout=timeout_s
            ) as response:
                body = _limited(response, time.monotonic() + timeout_s)
        except httpx2.HTTPError as error:
            raise _BusyError(f"{type(error).__name__}: {error}") from error
        if response.status_code in BUSY:
            raise _BusyError(_refusal(response.status_code, body), _retry_after_s(response))
        if response.status_code in REFUSED:
            raise _failure(_refusal(response.status_code, body), ErrorCode.MESSAGE_INVALID)
        if response.status_code != OK:
            raise _unavailable(_refusal(response.status_code, body))
        return unit_rows(_rows(body, len(texts), self.dimension))


class _BusyError(PrismError):
    """The server is busy or unreachable: it may answer later."""

    def __init__(self, detail: str, retry_after_s: float = 0.0) -> None:
        failure = _unavailable(detail).body
        super().__init__(failure.code, failure.message, failure.next_action)
        self.retry_after_s = retry_after_s


def _limited(response: httpx2.Response, ends_at: float) -> bytes:
    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > REPLY_BYTES_MAX:
            raise _unavailable(f"its reply is larger than {REPLY_BYTES_MAX:,} bytes")
        if time.monotonic() > ends_at:
            raise _BusyError("its reply takes too long")
    return bytes(body)


def _rows(body: bytes, count: int, dimension: int) -> Matrix:
    """Returns the vectors in the order of the texts. Raises UNAVAILABLE for a reply of another shape."""
    try:
        data: list[dict[str, Any]] = json.loads(body)["data"]
        by_index = {int(item.get("index", at)): item["embedding"] for at, item in enumerate(data)}
        rows = np.array([by_index[at] for at in range(count)], np.float32)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _unavailable(f"its reply is not a list of {count} vectors") from error
    if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():  # noqa: PLR2004 - a matrix
        raise _unavailable("its vectors are not rows of finite numbers")
    if dimension and rows.shape[1] != dimension:
        raise _unavailable(f"its vectors have {rows.shape[1]} numbers instead of {dimension}")
    return rows


def _refusal(status: int, body: bytes) -> str:
    text = " ".join(body[:DETAIL_CHARS_MAX].decode("utf-8", "replace").split())
    return f"it answers {status}: {text}" if text else f"it answers {status}"


def _retry_after_s(response: httpx2.Response) -> float:
    stated = response.headers.get("retry-after", "")
    return float(stated) if stated.isdecimal() else 0.0


def _unavailable(detail: str) -> PrismError:
    return _failure(detail, ErrorCode.UNAVAILABLE)


def _failure(detail: str, code: ErrorCode) -> PrismError:
    return PrismError(
        code,
        f"The server of the deep model gives no vectors: {detail}",
        "Check PRISM_EMBEDDER_DEEP_URL, PRISM_EMBEDDER_DEEP_KEY and PRISM_EMBEDDER_DEEP_MODEL, and that the server "
        "runs. Until then, Prism answers without deep vectors.",
    )
