"""Reads the store. Every read takes a `Scope` and stays inside it. Outages are errors, never empty results.

At a view, the reader drops hidden base files from the results by their ids: a condition that excludes them
would make the store check the path of each point.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse

from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_runtime.tracing import Attribute
from prism_store.client import StoreClient
from prism_store.gate import is_missing, scope_condition, store_call, view_condition
from prism_store.schema import FAST_VECTOR, alias, deep_vector, repo_of
from prism_store.scope import Scope, View

Condition = models.Condition

PAGE_POINTS = 2_000
COUNTS_MAX = 10_000
# A filter with this many values costs a count little; ten times as many cost a hundred times as much.
VALUES_PER_COUNT = 100
LEG_LIMIT_MAX = 10_000
LIMIT_GROWTH = 4
SEARCHES_MAX = 48  # in one request

RANK_FIELDS = [
    "path", "generation", "status", "language", "prose", "flags", "definitions", "lines", "starts", "chunk_symbols",
]  # fmt: skip


@dataclass(frozen=True)
class VectorLeg:
    """Nearest points by vector: chunks with the fast model, files with a deep one."""

    vector: tuple[float, ...]
    limit: int
    conditions: tuple[models.Condition, ...] = ()
    using: str = FAST_VECTOR


@dataclass(frozen=True)
class TextLeg:
    """Best points by BM25 over a text field: chunks for `text`, files for `path_text` and `symbol_text`."""

    field: str
    query: str
    limit: int
    conditions: tuple[models.Condition, ...] = ()


@dataclass(frozen=True)
class MatchLeg:
    """Points that match conditions, in no order."""

    limit: int
    conditions: tuple[models.Condition, ...]


Leg = VectorLeg | TextLeg | MatchLeg


class StoredPoint(NamedTuple):
    """A point that a leg found. `score` is cosine or BM25, 0 for a match."""

    id: str
    score: float
    payload: dict[str, object]

    @property
    def repo(self) -> str:
        """The id of the repository, from the field `scope`."""
        return repo_of(self.text("scope"))

    def text(self, key: str) -> str:
        """Returns a string field, empty if it is missing."""
        value = self.payload.get(key)
        return value if isinstance(value, str) else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Returns a field with a list of strings, empty if it is missing."""
        value = self.payload.get(key)
        return tuple(map(str, value)) if isinstance(value, list) else ()

    def number(self, key: str) -> int:
        """Returns an integer field, 0 if it is missing."""
        value = self.payload.get(key)
        return value if isinstance(value, int) else 0


@dataclass
class _Turn:
    """The searches of a tenant that were requested in one turn of the event loop."""

    searches: list[dict[str, Any]] = field(default_factory=list)
    replies: asyncio.Task[list[dict[str, Any]]] | None = None


class Reader:
    """Reads points, counts and statistics."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client
        self._turns: dict[str, _Turn] = {}  # by tenant
        self._deep_models: dict[str, str] = {}  # tenant -> the model whose vectors were last seen

    async def ask_legs(
        self, scope: Scope, legs: Sequence[Leg], fields: Sequence[str] = (), *, is_whole: bool = False
    ) -> list[list[StoredPoint]]:
        """Runs all legs in one round trip, and returns the points of each, best first, with these fields.

        Without fields no payload is read, which is several times as fast. Then `is_whole` may declare that
        the scope is everything that the tenant has: the store skips the check of each point's scope, which
        takes as long as the leg itself. A point from outside then leaks only an id and a score, and `points`
        does not return it.
        """
        if is_whole and fields:
            raise ValueError("payload can only be read within a scope")
        within = scope_condition(scope)  # refuses a scope without tenant or repository
        if scope.view is None:
            requests = [_leg_request(None if is_whole else within, leg, fields) for leg in legs]
            return await self._ask_requests(scope, requests)
        return await self._ask_at_view(scope, scope.view, legs, fields)

    async def _ask_at_view(
        self, scope: Scope, view: View, legs: Sequence[Leg], fields: Sequence[str]
    ) -> list[list[StoredPoint]]:
        """Queries base and view separately, in one round trip: a filter for both is several times slower."""
        within = scope_condition(scope)
        requests = [_leg_request(within, leg, fields, more=len(view.hidden)) for leg in legs]
        own = [_leg_request(view_condition(view), leg, fields) for leg in legs] if view.keys else []
        answers = await self._ask_requests(scope, [*requests, *own])
        found: list[list[StoredPoint]] = []
        for number, (leg, request) in enumerate(zip(legs, requests, strict=True)):
            seen = await self._past_hidden(scope, view, leg, request, answers[number])
            added = answers[len(legs) + number] if own else []
            found.append(sorted([*seen, *added], key=_best_first)[: leg.limit])
        return found

    async def _past_hidden(
        self, scope: Scope, view: View, leg: Leg, request: dict[str, Any], points: list[StoredPoint]
    ) -> list[StoredPoint]:
        """Fetches more points until the leg has enough visible ones, or no more exist."""
        while True:
            seen = [point for point in points if not view.hides(point.id)]
            asked = request["limit"]
            if len(seen) >= leg.limit or len(points) < asked or asked == LEG_LIMIT_MAX:
                return seen
            request = {**request, "limit": min(LIMIT_GROWTH * asked, LEG_LIMIT_MAX)}
            (points,) = await self._ask_requests(scope, [request])

    async def _ask_requests(
        self, scope: Scope, requests: Sequence[dict[str, Any]]
    ) -> list[list[StoredPoint]]:
        replies = await self._search(scope, requests)
        return [[_stored(point) for point in reply["points"]] for reply in replies]

    async def rarities(self, scope: Scope, words: Sequence[str]) -> list[float]:
        """Returns the inverse document frequency of each word, as in BM25, over all chunks of the tenant.

        The value is 0 for a word that no chunk contains.
        """
        if not words:
            return []
        scope_condition(scope)  # refuses a scope without tenant or repository
        # Without saturation and length normalization, the score of a word is its inverse document frequency.
        scoring = {"bm25": {"k": 0.0, "b": 0.0}}
        searches = [
            {"query": {"text": {"query": word, "scoring": scoring}}, "using": "text", "limit": 1}
            for word in words
        ]
        replies = await self._search(scope, searches)
        return [reply["points"][0]["score"] if reply["points"] else 0.0 for reply in replies]

    async def has_deep_vectors(self, tenant: str, model: str) -> bool:
        """Returns whether the tenant's collection has vectors of a deep model. Caches a positive result."""
        if self._deep_models.get(tenant) != model:
            with store_call(self._client, "has_deep_vectors", alias(tenant)):
                try:
                    info = await self._client.get_collection(alias(tenant))
                except UnexpectedResponse as error:
                    if is_missing(error):
                        return False
                    raise
            vectors = info.config.params.vectors
            if not isinstance(vectors, dict) or deep_vector(model) not in vectors:
                return False
            self._deep_models[tenant] = model
        return True

    async def points(self, scope: Scope, ids: Sequence[str], fields: Sequence[str]) -> dict[str, StoredPoint]:
        """Returns the points that exist within the scope, by id."""
        found = await self._points("points", scope, ids, fields)
        return {point.id: point for point in found if scope.sees(point.id, point.text("scope"))}

    async def points_of_any_layer(
        self, scope: Scope, ids: Sequence[str], fields: Sequence[str]
    ) -> dict[str, StoredPoint]:
        """Returns the points in any layer of the scope's repositories, by id. For writers of layers."""
        found = await self._points("points_of_any_layer", scope, ids, fields)
        return {point.id: point for point in found if repo_of(point.text("scope")) in scope.repos}

    async def scan(
        self,
        scope: Scope,
        conditions: Sequence[models.Condition],
        fields: Sequence[str],
        page: int = PAGE_POINTS,
    ) -> AsyncIterator[StoredPoint]:
        """Yields every point of the scope that matches the conditions, in no order, page by page."""
        async for point in self._scan(scope, scope_condition(scope), conditions, fields, page):
            if scope.view is None or not scope.view.hides(point.id):
                yield point
        async for point in self.scan_added(scope, conditions, fields, page):
            yield point

    async def scan_added(
        self,
        scope: Scope,
        conditions: Sequence[models.Condition],
        fields: Sequence[str],
        page: int = PAGE_POINTS,
    ) -> AsyncIterator[StoredPoint]:
        """Yields those of the points that are variants of the view."""
        if scope.view and scope.view.keys:
            async for point in self._scan(scope, view_condition(scope.view), conditions, fields, page):
                yield point

    async def page(
        self,
        scope: Scope,
        conditions: Sequence[models.Condition],
        fields: Sequence[str],
        cursor: str,
        limit: int,
    ) -> tuple[list[StoredPoint], str]:
        """Returns a page of points by id, and the cursor of the next page, empty at the end.

        Not for views.
        """
        if scope.view:
            raise ValueError("paging does not support views")
        return await self._page(scope, [scope_condition(scope), *conditions], fields, cursor, limit)

    async def count(self, scope: Scope, conditions: Sequence[models.Condition] = ()) -> int:
        """Counts the points of the scope that match the conditions."""
        total = 0
        for sign, within in ((1, scope_condition(scope)), *_differences(scope)):
            total += sign * await self._count(scope, [within, *conditions])
        return total

    async def chunks_of(self, tenant: str) -> int:
        """Counts the chunks of a tenant, in all repositories and layers.

        Replaced ones count until they are deleted.
        The only read without repositories: the number is for the limit of the tenant's plan.
        """
        if not tenant:
            raise PrismError(ErrorCode.FORBIDDEN, "A read of the store needs a tenant.")
        return await self._count(Scope(tenant, ()), [without_status()])

    async def counts_by(
        self, scope: Scope, field: str, conditions: Sequence[models.Condition] = ()
    ) -> dict[str, int]:
        """Counts the points per value of a keyword field, exactly."""
        counts = await self._counts_by(scope, field, [scope_condition(scope), *conditions])
        added = await self.added_by(scope, field, conditions)
        return summed(counts, added)

    async def added_by(
        self, scope: Scope, field: str, conditions: Sequence[models.Condition] = ()
    ) -> dict[str, int]:
        """Returns the view's change in the number of points per value of a keyword field, exactly.

        May be negative.
        """
        added: dict[str, int] = {}
        for sign, within in _differences(scope):
            for value, number in (await self._counts_by(scope, field, [within, *conditions])).items():
                added[value] = added.get(value, 0) + sign * number
        return added

    async def counts_of_keys(
        self, scope: Scope, keys: Sequence[str], conditions: Sequence[models.Condition] = ()
    ) -> dict[str, int]:
        """Counts the points per value of the field `scope`. Ignores values of other repositories."""
        counts: dict[str, int] = {}
        for start in range(0, len(keys), VALUES_PER_COUNT):
            some = [key for key in keys[start : start + VALUES_PER_COUNT] if repo_of(key) in scope.repos]
            counts |= await self._counts_by(scope, "scope", [has_any("scope", some), *conditions])
        return counts

    async def _points(
        self, operation: str, scope: Scope, ids: Sequence[str], fields: Sequence[str]
    ) -> list[StoredPoint]:
        """Returns points of the tenant with their field `scope`, which the caller must check."""
        scope_condition(scope)  # refuses a scope without tenant or repository
        if not ids:
            return []
        body = {"ids": list(ids), "with_payload": ["scope", *fields], "with_vector": False}
        return [_stored(point) for point in await self._ask(operation, scope, "points", body, [])]

    async def _scan(
        self,
        scope: Scope,
        within: models.Condition,
        conditions: Sequence[models.Condition],
        fields: Sequence[str],
        page: int,
    ) -> AsyncIterator[StoredPoint]:
        cursor = ""
        while True:
            found, cursor = await self._page(scope, [within, *conditions], fields, cursor, page)
            for point in found:
                yield point
            if not cursor:
                return

    async def _page(
        self,
        scope: Scope,
        conditions: Sequence[models.Condition],
        fields: Sequence[str],
        cursor: str,
        limit: int,
    ) -> tuple[list[StoredPoint], str]:
        body = {
            "filter": models.Filter(must=list(conditions)),
            "limit": limit,
            "offset": cursor or None,
            "with_payload": list(fields),
            "with_vector": False,
        }
        reply = await self._ask(
            "page", scope, "points/scroll", body, {"points": [], "next_page_offset": None}
        )
        return [_stored(point) for point in reply["points"]], reply["next_page_offset"] or ""

    async def _count(self, scope: Scope, conditions: Sequence[models.Condition]) -> int:
        body = {"filter": models.Filter(must=list(conditions)), "exact": True}
        reply = await self._ask("count", scope, "points/count", body, {"count": 0})
        return int(reply["count"])

    async def _counts_by(
        self, scope: Scope, field: str, conditions: Sequence[models.Condition]
    ) -> dict[str, int]:
        matching = models.Filter(must=list(conditions))
        body = {"key": field, "filter": matching, "limit": COUNTS_MAX, "exact": True}
        reply = await self._ask("counts_by", scope, "facet", body, {"hits": []})
        return {str(hit["value"]): hit["count"] for hit in reply["hits"]}

    async def _search(self, scope: Scope, searches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns one reply per search.

        Combines all searches of one turn of the event loop into one request.
        """
        turn = self._turns.get(scope.tenant)
        if turn is None or len(turn.searches) + len(searches) > SEARCHES_MAX:
            turn = self._turns[scope.tenant] = _Turn()
            turn.replies = asyncio.create_task(self._send(scope, turn))
        first = len(turn.searches)
        turn.searches += searches
        assert turn.replies
        replies = await asyncio.shield(turn.replies)  # others wait for it too
        return replies[first : first + len(searches)]

    async def _send(self, scope: Scope, turn: "_Turn") -> list[dict[str, Any]]:
        if self._turns.get(scope.tenant) is turn:
            del self._turns[scope.tenant]
        body = {"searches": turn.searches}
        nothing: list[dict[str, Any]] = [{"points": []} for _ in turn.searches]
        replies: list[dict[str, Any]] = await self._ask(
            "ask_legs", scope, "points/query/batch", body, nothing
        )
        return replies

    async def _ask(
        self, operation: str, scope: Scope, what: str, body: Mapping[str, Any], nothing: Any
    ) -> Any:
        """Returns the reply of the tenant's collection; `nothing` if the tenant has none yet."""
        name = alias(scope.tenant)
        with store_call(self._client, operation, name) as span:
            try:
                reply = await self._client.ask(name, what, body)
            except UnexpectedResponse as error:
                if is_missing(error):
                    return nothing
                raise
            if span.is_recording():
                span.set_attributes(_counts(body, reply))
            return reply


def _counts(body: Mapping[str, Any], reply: Any) -> dict[str, int]:
    """Returns the attributes of a span: queries of a request, and points that its reply has or counts."""
    return {Attribute.DB_QUERIES: len(body.get("searches", (body,))), Attribute.POINTS: _points_of(reply)}


def _points_of(reply: Any) -> int:
    if isinstance(reply, list):
        # A batch has a list of points for each query; a retrieval is a list of points.
        return sum(len(part.get("points", (part,))) for part in reply)
    if "points" in reply:
        return len(reply["points"])
    return int(reply["count"]) if "count" in reply else sum(hit["count"] for hit in reply["hits"])


def summed(counts: Mapping[str, int], added: Mapping[str, int]) -> dict[str, int]:
    """Adds changes to counts by value, and drops counts that become 0."""
    sums = {value: counts.get(value, 0) + added.get(value, 0) for value in {**counts, **added}}
    return {value: number for value, number in sums.items() if number}


def has(key: str, value: str | bool) -> models.FieldCondition:
    """The field has this value, or contains it among its values."""
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def has_any(key: str, values: Sequence[str]) -> models.FieldCondition:
    """The field has one of these values."""
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))


def holds_text(key: str, words: str) -> models.FieldCondition:
    """The text field contains all of these words."""
    return models.FieldCondition(key=key, match=models.MatchText(text=words))


def starts_with(key: str, prefix: str) -> models.FieldCondition:
    """One of the field's values starts with this prefix, case-sensitively."""
    return models.FieldCondition(key=key, match=models.MatchPrefix(prefix=prefix))


def with_status(*statuses: FileStatus) -> models.FieldCondition:
    """File points with one of these statuses (chunk points have none)."""
    return has_any("status", [status.value for status in statuses])


def with_vector(name: str) -> models.HasVectorCondition:
    """Points that have a vector of this name."""
    return models.HasVectorCondition(has_vector=name)


def without_vector(name: str) -> models.Filter:
    """Points that have no vector of this name."""
    return models.Filter(must_not=[with_vector(name)])


def newer_than(version: int) -> models.FieldCondition:
    """Points that a later snapshot wrote."""
    return models.FieldCondition(key="version", range=models.Range(gt=version))


def without_status() -> models.IsEmptyCondition:
    """Chunk points, which have no status."""
    return models.IsEmptyCondition(is_empty=models.PayloadField(key="status"))


def _leg_request(
    within: models.Condition | None, leg: Leg, fields: Sequence[str], *, more: int = 0
) -> dict[str, Any]:
    """Returns the request of a leg, with up to `more` points beyond its limit: most views hide few files."""
    limit = leg.limit + min(more, leg.limit // 4)
    request: dict[str, Any] = {"limit": limit, "with_payload": list(fields) or False}
    must = [*([within] if within else []), *leg.conditions]
    if must:  # the store evaluates an empty filter for each point, at a third of the cost of its vector
        request["filter"] = models.Filter(must=must)
    if isinstance(leg, VectorLeg):
        request |= {"query": leg.vector, "using": leg.using}
    elif isinstance(leg, TextLeg):
        request |= {"query": {"text": leg.query}, "using": leg.field}
    return request


def _best_first(point: StoredPoint) -> tuple[float, str]:
    return -point.score, point.id


def _differences(scope: Scope) -> list[tuple[int, models.Condition]]:
    """Returns conditions for the points that a view adds (sign 1) and those that it hides (sign -1)."""
    if scope.view is None:
        return []
    hidden = scope.view.hidden_files()
    of_hidden = models.Filter(
        must=[scope_condition(scope)], should=[models.HasIdCondition(has_id=hidden), has_any("file", hidden)]
    )
    added = [(1, view_condition(scope.view))] if scope.view.keys else []
    return [*added, (-1, of_hidden)]


def _stored(point: dict[str, Any]) -> StoredPoint:
    return StoredPoint(point["id"], point.get("score", 0.0), point.get("payload") or {})
