"""Computes the cache key of an answer from everything that the answer depends on."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from prism_contracts.rpc.search import SearchRequest
from prism_search.core.query import Query


def answer_key(request: SearchRequest, query: Query, state: Sequence[str], versions: Iterable[str]) -> str:
    """Returns `<tenant>.<SHA-256>` of the normalized question, the state of its target and all `versions`.

    `state` is `Target.state`; `versions` are those of the code and the models that make answers.
    """
    asked = normalized_request(request, query)
    # JSON has no NUL, so two different lists of parts never join to the same text.
    digest = hashlib.sha256("\0".join((asked.model_dump_json(), digest_of(state), *versions)).encode())
    return f"{request.tenant}.{digest.hexdigest()}"


def normalized_request(request: SearchRequest, query: Query) -> SearchRequest:
    """Returns the request in a form that is equal for all spellings of a question.

    Neither the names of the repository and its ref nor the spaces between words change an answer.
    """
    same = {"query": query.text, "repo": "", "ref": "", "wait_for_commit": ""}
    return request.model_copy(update=same | {"language": request.language.lower()})


def digest_of(state: Sequence[str]) -> str:
    """Returns the SHA-256 of a target's state."""
    return hashlib.sha256(json.dumps(list(state)).encode()).hexdigest()
