"""Which legs a question asks the store, and how many points of each."""

from collections.abc import Sequence

from prism_contracts.rpc.search import Corpus, SearchRequest
from prism_search.core.query import Query, dotted, last_name
from prism_search.core.retrieval.candidates import CANDIDATES_MAX
from prism_store.globs import literal_prefix
from prism_store.reader import Condition, Leg, MatchLeg, TextLeg, VectorLeg, has, has_any, starts_with
from prism_store.schema import deep_vector

KEYWORD_LEG, PATH_LEG, SYMBOL_LEG, EXACT_LEG = "keyword", "path", "symbol", "exact"
FAST_LEG, DEEP_LEG = "vector", "deep"
LEGS = (KEYWORD_LEG, PATH_LEG, SYMBOL_LEG, EXACT_LEG, FAST_LEG, DEEP_LEG)
# The other legs return file points.
CHUNK_LEGS = (KEYWORD_LEG, FAST_LEG)

CHUNK_LIMIT = 150
VECTOR_LIMIT = 100
FILE_LIMIT = 60
EXACT_LIMIT = 40
# Where a filter drops candidates afterwards, this many times more points are requested and considered.
FILTERED_FACTOR = 3


def plan_legs(request: SearchRequest, query: Query, fast_vector: Sequence[float] | None) -> dict[str, Leg]:
    """Returns the legs of words and of the fast model, by name. They do not wait for a deep vector."""
    conditions, factor = _conditions(request), _factor(request)
    words = " ".join(query.terms) or query.text
    legs: dict[str, Leg] = {
        KEYWORD_LEG: TextLeg("text", words, CHUNK_LIMIT * factor, _chunk_conditions(request)),
        PATH_LEG: TextLeg("path_text", words, FILE_LIMIT * factor, conditions),
        SYMBOL_LEG: TextLeg("symbol_text", words, FILE_LIMIT * factor, conditions),
    }
    if query.symbols:
        names = sorted({name for symbol in query.symbols for name in (last_name(symbol), dotted(symbol))})
        legs[EXACT_LEG] = MatchLeg(EXACT_LIMIT * factor, (has_any("names", names), *conditions))
    # A question without a word that the model knows has a vector of zeros, which is near to nothing.
    if fast_vector is not None and any(fast_vector):
        legs[FAST_LEG] = VectorLeg(tuple(fast_vector), VECTOR_LIMIT * factor, _chunk_conditions(request))
    return legs


def plan_deep_leg(request: SearchRequest, vector: tuple[float, ...], model: str) -> Leg:
    """Returns the leg of a deep model: file points near the vector."""
    return VectorLeg(vector, FILE_LIMIT * _factor(request), _conditions(request), deep_vector(model))


def candidates_limit(request: SearchRequest) -> int:
    """Returns how many candidates are ranked."""
    return max(CANDIDATES_MAX, request.limit) * _factor(request)


def _factor(request: SearchRequest) -> int:
    return FILTERED_FACTOR if request.path_filter or request.source_only else 1


def _conditions(request: SearchRequest) -> tuple[Condition, ...]:
    conditions: list[Condition] = []
    if request.corpus is Corpus.DOCS:
        conditions.append(has("prose", value=True))
    if request.language:
        conditions.append(has("language", request.language.lower()))
    prefix = literal_prefix(request.path_filter)
    if prefix:
        conditions.append(starts_with("path", prefix))
    if request.paths:
        conditions.append(has_any("path", request.paths))
    return tuple(conditions)


def _chunk_conditions(request: SearchRequest) -> tuple[Condition, ...]:
    kind = (has("kind", request.kind.value),) if request.kind else ()
    return (*_conditions(request), *kind)
