"""Requests that read points: Qdrant's JSON to engine requests, and engine points back to JSON."""

from __future__ import annotations  # some of the engine's types exist in its stub only

from collections.abc import Callable
from typing import Any

import qdrant_edge as edge

from prism_qdrant_local.errors import bad_request
from prism_qdrant_local.limits import (
    BATCH_QUERIES_MAX,
    LIMIT_MAX,
    OFFSET_MAX,
    PREFETCH_DEPTH_MAX,
    VECTOR_SIZE_MAX,
)
from prism_qdrant_local.wire.fields import (
    optional_bool,
    read_choice,
    read_integer,
    read_list,
    read_number,
    read_object,
    read_string,
    read_strings,
    require,
)
from prism_qdrant_local.wire.filters import read_filter, read_optional_filter
from prism_qdrant_local.wire.ids import PointId, read_id, read_ids

_STAGE = frozenset({"prefetch", "query", "using", "filter", "params", "score_threshold", "limit"})
_QUERY = _STAGE | {"offset", "with_vector", "with_payload"}
_SCROLL = frozenset({"offset", "limit", "filter", "with_payload", "with_vector", "order_by"})
_LIMIT_DEFAULT = 10
# Qdrant's own default of the constant in reciprocal rank fusion.
_RRF_K_DEFAULT = 2


def read_query(body: object) -> edge.QueryRequest:
    """Build one query."""
    fields = read_object(body, "query request", _QUERY)
    return edge.QueryRequest(
        offset=read_integer(fields.get("offset", 0), "offset", 0, OFFSET_MAX),
        with_payload=read_with_payload(fields, default=False),
        with_vector=read_with_vector(fields),
        **_read_stage(fields, depth=0),
    )


def read_queries(body: object) -> list[edge.QueryRequest]:
    """Build all queries of a batch."""
    fields = read_object(body, "query batch", frozenset({"searches"}))
    searches = read_list(require(fields, "searches", "query batch"), "searches", BATCH_QUERIES_MAX)
    return [read_query(search) for search in searches]


def _read_stage(fields: dict[str, Any], depth: int) -> dict[str, Any]:
    threshold = fields.get("score_threshold")
    return {
        "limit": read_integer(fields.get("limit", _LIMIT_DEFAULT), "limit", 1, LIMIT_MAX),
        "query": _read_scoring(fields),
        "prefetches": _read_prefetches(fields.get("prefetch", []), depth),
        "filter": read_optional_filter(fields),
        "score_threshold": None if threshold is None else read_number(threshold, "score_threshold"),
        "params": _read_params(fields["params"]) if "params" in fields else None,
    }


def _read_prefetches(value: object, depth: int) -> list[edge.Prefetch]:
    if depth >= PREFETCH_DEPTH_MAX:
        raise bad_request(f"Wrong input: prefetch is nested deeper than {PREFETCH_DEPTH_MAX} levels")
    bodies = read_list(value if isinstance(value, list) else [value], "prefetch", BATCH_QUERIES_MAX)
    stages = [read_object(body, "prefetch", _STAGE) for body in bodies]
    return [edge.Prefetch(**_read_stage(stage, depth + 1)) for stage in stages]


_PARAMS = frozenset({"hnsw_ef", "exact", "indexed_only", "quantization", "acorn", "idf"})


def _read_params(body: object) -> edge.SearchParams:
    fields = read_object(body, "params", _PARAMS)
    return edge.SearchParams(
        hnsw_ef=read_integer(fields["hnsw_ef"], "hnsw_ef") if "hnsw_ef" in fields else None,
        exact=bool(optional_bool(fields, "exact", "params")),
        indexed_only=bool(optional_bool(fields, "indexed_only", "params")),
        idf=_read_idf(fields["idf"]) if "idf" in fields else None,
    )


def _read_idf(value: object) -> edge.IdfParams:
    if value == "global":
        return edge.IdfParams()
    fields = read_object(value, "idf", frozenset({"corpus"}))
    return edge.IdfParams(read_filter(require(fields, "corpus", "idf")))


def _read_scoring(fields: dict[str, Any]) -> edge.ScoringQueryType | None:
    query = fields.get("query")
    using = read_string(fields["using"], "using") if "using" in fields else None
    if query is None:
        return None
    if isinstance(query, list):
        return _nearest(query, using)
    if not isinstance(query, dict):
        raise bad_request("Wrong input: queries by point id are not supported by this server")
    known = read_object(query, "query", frozenset(_SCORINGS))
    if len(known) != 1:
        raise bad_request(f"Wrong input: query must hold exactly one of {', '.join(_SCORINGS)}")
    ((kind, value),) = known.items()
    return _SCORINGS[kind](value, using)


def _nearest(value: object, using: str | None) -> edge.Query:
    vector = read_list(value, "query vector", VECTOR_SIZE_MAX)
    try:
        return edge.Query.Nearest(vector, using)
    except (TypeError, ValueError, OverflowError) as error:
        raise bad_request("Format error in JSON body: query vector must be a list of numbers") from error


def _text(value: object, using: str | None) -> edge.TextQuery:
    if using is None:
        raise bad_request("Wrong input: a text query needs `using`, the payload field that it ranks")
    if isinstance(value, str):
        return edge.TextQuery(using, value)
    fields = read_object(value, "text", frozenset({"query", "scoring"}))
    scoring = _bm25(fields["scoring"]) if "scoring" in fields else None
    return edge.TextQuery(using, read_string(require(fields, "query", "text"), "text.query"), scoring)


def _bm25(value: object) -> edge.Bm25Params:
    fields = read_object(value, "scoring", frozenset({"bm25"}))
    params = read_object(require(fields, "bm25", "scoring"), "bm25", frozenset({"k", "b"}))
    return edge.Bm25Params(**{name: read_number(number, name) for name, number in params.items()})


def _fusion(value: object, _using: str | None) -> edge.ScoringQueryType:
    if read_choice(value, "fusion", ("rrf", "dbsf")) == "rrf":
        return edge.Fusion.Rrf(_RRF_K_DEFAULT)  # type: ignore[return-value]  # the stub nests the variants
    return edge.Fusion.Dbsf()  # type: ignore[return-value]


def _rrf(value: object, _using: str | None) -> edge.ScoringQueryType:
    fields = read_object(value, "rrf", frozenset({"k", "weights"}))
    weights = (
        [read_number(weight, "weights") for weight in fields["weights"]] if "weights" in fields else None
    )
    k = read_integer(fields.get("k", _RRF_K_DEFAULT), "k", 1)
    return edge.Fusion.Rrf(k, weights)  # type: ignore[return-value]


def _order_by(value: object, _using: str | None) -> edge.OrderBy:
    return read_order_by(value)


def _sample(value: object, _using: str | None) -> edge.Sample:
    read_choice(value, "sample", ("random",))
    return edge.Sample.Random


def _nearest_object(value: object, using: str | None) -> edge.Query:
    if not isinstance(value, list):
        raise bad_request("Wrong input: `nearest` takes a list of numbers on this server")
    return _nearest(value, using)


_SCORINGS: dict[str, Callable[[object, str | None], edge.ScoringQueryType]] = {
    "nearest": _nearest_object,
    "text": _text,
    "fusion": _fusion,
    "rrf": _rrf,
    "order_by": _order_by,
    "sample": _sample,
}


def read_scroll(body: object) -> edge.ScrollRequest:
    """Build a scroll."""
    fields = read_object(body, "scroll request", _SCROLL)
    return edge.ScrollRequest(
        offset=read_id(fields["offset"]) if "offset" in fields else None,
        limit=read_integer(fields.get("limit", _LIMIT_DEFAULT), "limit", 1, LIMIT_MAX),
        filter=read_optional_filter(fields),
        with_payload=read_with_payload(fields, default=True),
        with_vector=read_with_vector(fields),
        order_by=read_order_by(fields["order_by"]) if "order_by" in fields else None,
    )


_DIRECTIONS = {"asc": edge.Direction.Asc, "desc": edge.Direction.Desc}


def read_order_by(value: object) -> edge.OrderBy:
    """Build an order over a payload field that has a range index."""
    if isinstance(value, str):
        return edge.OrderBy(value)
    fields = read_object(value, "order_by", frozenset({"key", "direction", "start_from"}))
    direction = read_choice(fields.get("direction", "asc"), "direction", _DIRECTIONS)
    start_from = fields.get("start_from")
    return edge.OrderBy(
        read_string(require(fields, "key", "order_by"), "order_by.key"),
        _DIRECTIONS[direction],
        None if start_from is None else read_number(start_from, "start_from"),
    )


def read_retrieve(body: object) -> tuple[list[PointId], edge.WithPayloadType, edge.WithVectorType]:
    """Return the arguments of a look-up by id."""
    fields = read_object(body, "retrieve request", frozenset({"ids", "with_payload", "with_vector"}))
    ids = read_ids(require(fields, "ids", "retrieve request"), "ids")
    return ids, read_with_payload(fields, default=True), read_with_vector(fields)


def read_count(body: object) -> edge.CountRequest:
    """Build a count; without `exact: false` it examines every matching point."""
    fields = read_object(body, "count request", frozenset({"filter", "exact"}))
    exact = optional_bool(fields, "exact", "count request") is not False
    return edge.CountRequest(exact=exact, filter=read_optional_filter(fields))


def read_facet(body: object) -> edge.FacetRequest:
    """Build a facet. It is always exact: an estimate would save nothing here."""
    fields = read_object(body, "facet request", frozenset({"key", "limit", "filter", "exact"}))
    optional_bool(fields, "exact", "facet request")
    return edge.FacetRequest(
        key=read_string(require(fields, "key", "facet request"), "key"),
        limit=read_integer(fields.get("limit", _LIMIT_DEFAULT), "limit", 1, LIMIT_MAX),
        exact=True,
        filter=read_optional_filter(fields),
    )


def read_with_payload(fields: dict[str, Any], *, default: bool) -> edge.WithPayloadType:
    """Return the requested part of the payload."""
    value = fields.get("with_payload", default)
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return edge.PayloadSelector.Include(read_strings(value, "with_payload"))
    selector = read_object(value, "with_payload", frozenset({"include", "exclude"}))
    if len(selector) != 1:
        raise bad_request("Wrong input: with_payload must hold exactly one of include and exclude")
    if "include" in selector:
        return edge.PayloadSelector.Include(read_strings(selector["include"], "with_payload.include"))
    return edge.PayloadSelector.Exclude(read_strings(selector["exclude"], "with_payload.exclude"))


def read_with_vector(fields: dict[str, Any]) -> edge.WithVectorType:
    """Return the requested vectors."""
    value = fields.get("with_vector", False)
    return value if isinstance(value, bool) else read_strings(value, "with_vector")


def write_hit(point: edge.ScoredPoint) -> dict[str, Any]:
    """Return a scored point as JSON."""
    hit = {"id": point.id, "version": point.version, "score": point.score}
    return _with_contents(hit, point)


def write_record(point: edge.Record) -> dict[str, Any]:
    """Return a stored point as JSON."""
    return _with_contents({"id": point.id}, point)


def _with_contents(body: dict[str, Any], point: edge.ScoredPoint | edge.Record) -> dict[str, Any]:
    for name in ("payload", "vector", "order_value"):
        value = getattr(point, name)
        if value is not None:
            body[name] = value
    return body
