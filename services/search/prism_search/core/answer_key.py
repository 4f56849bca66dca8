"""What an answer depends on, as one key: with the same key, the same question would be answered the same again."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from prism_contracts.rpc import SearchRequest
from prism_search.core.query import Query


def answer_key(
    request: SearchRequest, query: Query, seen: Sequence[str], versions: Sequence[int], made_by: Iterable[str]
) -> str:
    """`<tenant>.<SHA-256>` of the question as it is understood, what it may see (repositories, the state of a layer), the
    version of each of the repositories, and of whatever makes answers: code and models.
    """
    # How the repository and its ref are spelled and how words are spaced changes nothing.
    same = {"query": query.text, "repo": "", "ref": "", "wait_for_commit": ""}
    asked = request.model_copy(update=same | {"language": request.language.lower()})
    parts = (asked.model_dump_json(), json.dumps(list(seen)), *map(str, versions), *made_by)
    # JSON has no NUL, so no two lists of parts read the same.
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"{request.tenant}.{digest}"
