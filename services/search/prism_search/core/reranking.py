"""The text that a reranker gets for a passage, and the order that it answers with."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from prism_contracts.rpc.search import RERANKER
from prism_search.core.retrieval.assemble import Passage

RERANK_STEP = "rerank"
# Rerankers read some 512 tokens of a document; what is beyond them costs time on the way only.
DOCUMENT_CHARS_MAX = 2_000

Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Result(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    relevance_score: Finite


class _Reply(BaseModel):
    results: list[_Result]


def document_of(passage: Passage, text: str | None) -> str:
    """Returns the text that is sent for a passage: its path and symbol, then its lines, which may be missing."""
    file, found = passage
    return f"{file.path} {found.symbol}\n{text or ''}"[:DOCUMENT_CHARS_MAX]


def rerank_request(model: str, query: str, documents: Sequence[str]) -> Mapping[str, Any]:
    """Returns the body of a request. `top_n` asks for a score of every document."""
    return {"model": model, "query": query, "documents": documents, "top_n": len(documents)}


def read_order(reply: bytes, count: int) -> list[int]:
    """Returns the positions of `count` documents, from 0, best first; equal scores keep their order.

    Raises ValueError unless the reply has one finite score for each document.
    """
    try:
        results = _Reply.model_validate_json(reply).results
    except ValidationError:
        # The library's message quotes the reply, which may quote code.
        raise ValueError("it is not a list of indices and finite scores") from None
    if sorted(result.index for result in results) != list(range(count)):
        raise ValueError(f"it does not score each of {count} documents once")
    return [one.index for one in sorted(results, key=lambda one: (-one.relevance_score, one.index))]


def in_order(passages: Sequence[Passage], order: Sequence[int]) -> list[Passage]:
    """Returns the passages in another order, those that it leaves out last. Notes the place in each file's legs."""
    reordered = [passages[position] for position in order]
    for place, (file, _) in enumerate(reordered, start=1):
        file.legs = file.legs | {RERANKER: file.legs.get(RERANKER, place)}
    return [*reordered, *passages[len(order) :]]
