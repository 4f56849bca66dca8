"""What an answer depends on, as one key: with the same key, the same question would be answered the same again."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from prism_contracts.rpc.search import SearchRequest
from prism_search.core.query import Query


def answer_key(request: SearchRequest, query: Query, state: Sequence[str], made_by: Iterable[str]) -> str:
    """`<tenant>.<SHA-256>` of the question as it is understood, the state of what it may see (see `Target.state`), and of
    whatever makes answers: code and models.
    """
    asked = as_understood(request, query)
    # JSON has no NUL, so no two lists of parts read the same.
    digest = hashlib.sha256("\0".join((asked.model_dump_json(), digest_of(state), *made_by)).encode())
    return f"{request.tenant}.{digest.hexdigest()}"


def as_understood(request: SearchRequest, query: Query) -> SearchRequest:
    """The same for all spellings of a question: neither how the repository and its ref are named nor how words are spaced
    changes an answer.
    """
    same = {"query": query.text, "repo": "", "ref": "", "wait_for_commit": ""}
    return request.model_copy(update=same | {"language": request.language.lower()})


def digest_of(state: Sequence[str]) -> str:
    """SHA-256 of the state of what is seen."""
    return hashlib.sha256(json.dumps(list(state)).encode()).hexdigest()
