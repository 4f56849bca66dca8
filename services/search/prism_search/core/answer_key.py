"""What an answer depends on, as one key: with the same key, the same question would be answered the same again."""

import hashlib
from collections.abc import Iterable, Sequence

from prism_contracts.rpc import Scope, SearchRequest
from prism_search.core.query import Query


def answer_key(
    request: SearchRequest, query: Query, scope: Scope, versions: Sequence[int], made_by: Iterable[str]
) -> str:
    """`<tenant>.<SHA-256>` of the question as it is understood, what it may see, the version of each of the scope's
    repositories, and of whatever makes answers: code and models.
    """
    # How the repository is spelled and how words are spaced changes nothing.
    asked = request.model_copy(update={"query": query.text, "repo": "", "language": request.language.lower()})
    parts = (asked.model_dump_json(), scope.model_dump_json(), *map(str, versions), *made_by)
    # JSON has no NUL, so no two lists of parts read the same.
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"{scope.tenant}.{digest}"
