"""Which limits a call counts against: its class, the class's limit per minute, and the totals of the plan."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from prism_contracts.records import Limit, Limits
from prism_gateway.rates.counters import DAY_S, MINUTE_S


class CallClass(StrEnum):
    """What a call costs."""

    SEARCH = "search"  # a question
    CREATE = "create"  # starts an import, or makes something that stays
    EMBEDDING = "embedding"  # sends contents that are indexed at once
    OTHER = "other"  # counts against the totals only
    FREE = "free"  # counts against nothing: the parts of an import that was admitted


class Policy(NamedTuple):
    """A limit that applies to a call."""

    name: str
    limit: int
    window_s: int
    is_of_caller: bool = False  # False: of the tenant


# By method and path below `/api/v1`, and by tool. What is missing is OTHER.
CLASS_OF_ROUTE: Mapping[str, CallClass] = {
    "POST /search": CallClass.SEARCH,
    "POST /grep": CallClass.SEARCH,
    "POST /context": CallClass.SEARCH,
    "GET /repos/{name:path}/files": CallClass.SEARCH,
    "GET /repos/{name:path}/coverage": CallClass.SEARCH,
    "GET /repos/{name:path}/descriptions": CallClass.SEARCH,
    "POST /repos/{name:path}/descriptions": CallClass.CREATE,
    "GET /repos/{name:path}/wiki": CallClass.SEARCH,
    "GET /repos/{name:path}/wiki/{page}": CallClass.SEARCH,
    "POST /repos/{name:path}/wiki": CallClass.CREATE,
    "POST /repos": CallClass.CREATE,
    "POST /repos/{name:path}/index": CallClass.CREATE,
    "POST /dead-letters/{letter}/retry": CallClass.CREATE,
    "POST /documents/search": CallClass.SEARCH,
    "POST /documents": CallClass.CREATE,
    "PUT /documents/files": CallClass.EMBEDDING,
    "GET /documents/files": CallClass.SEARCH,
    "GET /documents/{document}/versions": CallClass.SEARCH,
    "GET /documents/{document}/related": CallClass.SEARCH,
    "GET /documents/{document}/diff": CallClass.SEARCH,
    "PATCH /documents/{document}": CallClass.EMBEDDING,
    "POST /documents/{document}/tags": CallClass.SEARCH,
    "POST /documents/{document}/embeddings": CallClass.EMBEDDING,
    "POST /ingest/snapshots": CallClass.CREATE,
    "POST /ingest/snapshots/{job}/packs": CallClass.FREE,
    "POST /ingest/file": CallClass.EMBEDDING,
    "POST /ingest/diff": CallClass.EMBEDDING,
    "POST /ingest/scip": CallClass.EMBEDDING,
    "POST /layers": CallClass.CREATE,
    "POST /overlays": CallClass.EMBEDDING,
    "POST /developer-tokens": CallClass.CREATE,
    "POST /sign-in-codes": CallClass.CREATE,
    "POST /feedback": CallClass.CREATE,
    "POST /tasks": CallClass.CREATE,
    "GET /tasks": CallClass.SEARCH,
    "POST /tenants": CallClass.CREATE,
}
CLASS_OF_TOOL: Mapping[str, CallClass] = {
    "search_code": CallClass.SEARCH,
    "grep_code": CallClass.SEARCH,
    "read_file": CallClass.SEARCH,
    "list_files": CallClass.SEARCH,
    "get_file_outline": CallClass.SEARCH,
    "get_symbol_definition": CallClass.SEARCH,
    "find_references": CallClass.SEARCH,
    "prepare_to_edit": CallClass.SEARCH,
    "get_function_body": CallClass.SEARCH,
    "get_call_hierarchy": CallClass.SEARCH,
    "get_type_hierarchy": CallClass.SEARCH,
    "get_dependencies": CallClass.SEARCH,
    "find_path": CallClass.SEARCH,
    "impact_of_change": CallClass.SEARCH,
    "find_unused": CallClass.SEARCH,
    "get_module_map": CallClass.SEARCH,
    "get_architecture": CallClass.SEARCH,
    "check_exists": CallClass.SEARCH,
    "search_docs": CallClass.SEARCH,
    "get_repo_context": CallClass.SEARCH,
    "get_codebase_conventions": CallClass.SEARCH,
    "get_context": CallClass.SEARCH,
    "list_wiki_pages": CallClass.SEARCH,
    "get_wiki_page": CallClass.SEARCH,
    "generate_wiki": CallClass.CREATE,
    "search_documents": CallClass.SEARCH,
    "get_document": CallClass.SEARCH,
    "get_document_metadata": CallClass.SEARCH,
    "list_documents": CallClass.SEARCH,
    "generate_tags": CallClass.SEARCH,
    "create_document": CallClass.CREATE,
    "update_document": CallClass.EMBEDDING,
    "generate_embeddings": CallClass.EMBEDDING,
    "index_coverage": CallClass.SEARCH,
    "index_repository": CallClass.CREATE,
    "register_repository": CallClass.CREATE,
    "reindex_repository": CallClass.CREATE,
    "send_feedback": CallClass.CREATE,
    "create_task": CallClass.CREATE,
    "list_tasks": CallClass.SEARCH,
    "create_branch_index": CallClass.CREATE,
    "open_overlay": CallClass.EMBEDDING,
}
_LIMITS: Mapping[CallClass, Limit] = {
    CallClass.SEARCH: Limit.SEARCHES_PER_MINUTE,
    CallClass.CREATE: Limit.CREATES_PER_MINUTE,
    CallClass.EMBEDDING: Limit.EMBEDDINGS_PER_MINUTE,
}
PERCENT = 100


def policies_of(call: CallClass, limits: Limits) -> list[Policy]:
    """Returns the limits that apply to a call of a class, the narrowest first."""
    return [] if call is CallClass.FREE else list(_policies(call, limits))


def _policies(call: CallClass, limits: Limits) -> Iterator[Policy]:
    of_class = limits.get(_LIMITS[call]) if call in _LIMITS else None
    if of_class is not None:
        share = limits.get(Limit.TOKEN_PERCENT)
        if share is not None and share < PERCENT:
            yield Policy(f"{call}-token", max(1, of_class * share // PERCENT), MINUTE_S, is_of_caller=True)
        yield Policy(call.value, of_class, MINUTE_S)
    if (total := limits.get(Limit.REQUESTS_PER_MINUTE)) is not None:
        yield Policy("requests", total, MINUTE_S)
    if (daily := limits.get(Limit.REQUESTS_PER_DAY)) is not None:
        yield Policy("day", daily, DAY_S)
