"""Requests to search and atlas for one context, within its limits, and the cache of searches and contexts.

The key of a cached search begins with its domain and holds the version of the index that answered, so a search
is never reused after the index changes. A search is cached only if its receipt names that version, and a context
only if all its searches were.
"""

import hashlib
import logging
from collections.abc import Sequence
from typing import TypeVar

from prism_contracts.base import Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import RECEIPT, SEVERAL_REPOSITORIES, Receipt, ReceiptRequest, ScopedRequest
from prism_contracts.rpc.context import ContextReply, ContextRequest, Domain
from prism_contracts.rpc.files import LIST_FILES, ListFilesRequest
from prism_contracts.rpc.graph import CALL_HIERARCHY, TYPE_HIERARCHY
from prism_contracts.rpc.search import SEARCH, Hit, SearchRequest
from prism_runtime.bus import Bus
from prism_runtime.weighted_cache import WeightedCache

log = logging.getLogger(__name__)

Request = TypeVar("Request", bound=ScopedRequest)
Answer = TypeVar("Answer", bound=Message)


# What a hit or an item takes besides its text.
ITEM_BYTES = 600
DOMAINS_BYTES_MAX = 1024 * 1024  # some thousand states of indexes


class ContextCache:
    """Contexts, and the hits of the searches that they made, by version of the index and question."""

    def __init__(self, bytes_max: int) -> None:
        self._searches: WeightedCache[str, tuple[Hit, ...]] = WeightedCache(bytes_max // 2)
        self._contexts: WeightedCache[str, ContextReply] = WeightedCache(bytes_max // 2)
        self._domains: WeightedCache[str, bool] = WeightedCache(DOMAINS_BYTES_MAX)

    def hits(self, key: str) -> tuple[Hit, ...] | None:
        """Returns the hits of a search; None if it is not cached."""
        return self._searches.get(key)

    def keep_hits(self, key: str, hits: tuple[Hit, ...]) -> None:
        """Cache the hits of a search."""
        self._searches.put(key, hits, len(key) + sum(len(hit.content) + ITEM_BYTES for hit in hits))

    def has_files(self, key: str) -> bool | None:
        """Returns whether a domain has files; None if it is not cached."""
        return self._domains.get(key)

    def keep_has_files(self, key: str, *, has_files: bool) -> None:
        """Cache whether a domain has files."""
        self._domains.put(key, has_files, len(key))

    def context(self, key: str) -> ContextReply | None:
        """Returns a context; None if it is not cached."""
        return self._contexts.get(key)

    def keep_context(self, key: str, context: ContextReply) -> None:
        """Cache a context."""
        weight = sum(len(item.content) + ITEM_BYTES for item in context.items)
        self._contexts.put(key, context, len(key) + weight)


class ContextSources:
    """What one context may ask. Counts its requests, and stops at `calls_max`."""

    def __init__(
        self, bus: Bus, cache: ContextCache, request: ContextRequest, *, calls_max: int, timeout_s: float
    ) -> None:
        self._bus = bus
        self._cache = cache
        self._request = request
        self._calls_max = calls_max
        self._timeout_s = timeout_s
        self._receipt: Receipt | None = None
        self.calls = 0
        self.cached = 0
        self.notes: dict[str, None] = {}  # a dict keeps their order
        self._is_of_index = True  # all that was found so far

    async def open(self) -> Receipt:
        """Returns the receipt of the index as it is now. Raises REPO_NOT_FOUND and others, as any question does."""
        self._receipt = await self._bus.ask(RECEIPT, self.scoped(ReceiptRequest), timeout_s=self._timeout_s)
        return self._receipt

    def scoped(self, request: type[Request], **fields: object) -> Request:
        """Returns a request with the scope of the context: what its caller may see, and at which ref."""
        asked = self._request
        scope = {"tenant": asked.tenant, "visible": asked.visible, "repo": asked.repo, "ref": asked.ref}
        return request.model_validate({**scope, **fields})

    async def search(self, domain: Domain, **fields: object) -> tuple[Hit, ...]:
        """Returns the hits of a search; from the cache if the index has not changed."""
        request = self.scoped(SearchRequest, **fields)
        key = self.key(domain.value, request)
        known = self._cache.hits(key) if key else None
        if known is not None:
            self.cached += 1
            return known
        reply = await self.ask(SEARCH, request)
        if key and reply is not None and self._is_of_this_index(reply.receipt):
            self._cache.keep_hits(key, reply.results)
        else:
            self._is_of_index = False
        return reply.results if reply is not None else ()

    async def has_files(self, domains: Sequence[Domain], glob: str) -> bool:
        """Returns whether a file may be in one of these domains. A search that finds nothing costs more than others.

        Not counted as a request: it is asked once for each state of the index.
        """
        request = self.scoped(ListFilesRequest, glob=glob, limit=1)
        key = self.key("files:" + "+".join(domains), request)
        known = self._cache.has_files(key) if key else True
        if known is not None:
            return known
        try:
            reply = await self._bus.ask(LIST_FILES, request, timeout_s=self._timeout_s)
        except PrismError:
            return True  # the search says what is wrong
        if self._is_of_this_index(reply.receipt):
            self._cache.keep_has_files(key, has_files=bool(reply.files))
        return bool(reply.files)

    def cached_context(self) -> ContextReply | None:
        """Returns the context of an equal request at this state of the index, with its receipt; None without one."""
        key = self.key(_CONTEXT, self._request)
        known = self._cache.context(key) if key else None
        if known is None or self._receipt is None:
            return None
        rounds = tuple(
            done.model_copy(update={"calls": 0, "cached": done.calls + done.cached}) for done in known.rounds
        )
        receipt = self._receipt.model_copy(update={"cached": True})
        return known.model_copy(update={"rounds": rounds, "receipt": receipt, "timings_ms": {}})

    def keep_context(self, context: ContextReply) -> None:
        """Cache the context, unless a part of it may change while the index does not."""
        key = self.key(_CONTEXT, self._request)
        if key and self._is_of_index and context.is_complete and not context.notes:
            self._cache.keep_context(key, context)

    async def ask(self, rpc: Rpc[Request, Answer], request: Request) -> Answer | None:
        """Returns a reply; None, with a note, if there is none. A context is answered with what it has."""
        if self.calls >= self._calls_max:
            self.notes[f"stopped after {self._calls_max} requests"] = None
            return None
        self.calls += 1
        if rpc in _OF_GRAPH:
            self._is_of_index = False  # a graph may be built again
        try:
            return await self._bus.ask(rpc, request, timeout_s=self._timeout_s)
        except PrismError as error:
            # A name that the question only seems to have is no failure.
            if error.body.code is not ErrorCode.SYMBOL_NOT_FOUND:
                self.notes[f"{rpc.name}: {error.body.code.value}"] = None
                log.debug("a context goes on without %s: %s", rpc.name, error)
            return None

    def key(self, kind: str, request: ScopedRequest) -> str:
        """Returns the key of an answer in the present state of the index; empty if it must not be cached."""
        receipt = self._receipt
        if receipt is None or receipt.repo == SEVERAL_REPOSITORIES or receipt.mixed_with_job:
            return ""
        state = receipt.model_dump_json(include=_STATE)
        digest = hashlib.sha256(f"{state}\0{request.model_dump_json()}".encode()).hexdigest()
        return f"{kind}:{request.tenant}:{receipt.repo}:v{receipt.corpus_version}:{digest}"

    def _is_of_this_index(self, receipt: Receipt) -> bool:
        assert self._receipt is not None
        same = all(getattr(receipt, name) == getattr(self._receipt, name) for name in _STATE)
        return same and not receipt.missing_legs and not receipt.mixed_with_job


_CONTEXT = "context"
_OF_GRAPH = (CALL_HIERARCHY, TYPE_HIERARCHY)
# The fields of a receipt that identify a state of the index.
_STATE = {"repo", "ref", "indexed_commit", "indexed_at", "corpus_version", "dirty", "files_missing"}
