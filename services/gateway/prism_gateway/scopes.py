"""The scopes that each route and each tool requires.

`read` allows questions. `write` allows changes of the index and of stored settings. A token with `write`
alone can index and edit, and can follow its own jobs, but cannot read code or list repositories. `admin`
manages the tokens and repositories of its tenant, `operator` all tenants, which includes `admin`. Neither
implies `read` or `write`. A token without scopes can do nothing.
"""

from collections.abc import Mapping
from enum import StrEnum

from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.callers import Caller


class TokenScope(StrEnum):
    """The scopes of a token."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"
    OPERATOR = "operator"


READ = frozenset({TokenScope.READ})
WRITE = frozenset({TokenScope.WRITE})
ANY = READ | WRITE  # one of the two is enough
ADMIN = frozenset({TokenScope.ADMIN})
OPERATOR = frozenset({TokenScope.OPERATOR})
EVERYTHING = tuple(TokenScope)

# By method and path below `/api/v1`. A route that is missing here refuses every token.
ROUTES: Mapping[str, frozenset[TokenScope]] = {
    "GET /whoami": ANY,
    "POST /sign-in-codes": frozenset(TokenScope),
    "POST /search": READ,
    "POST /grep": READ,
    "POST /context": READ,
    "GET /repos": READ,
    "POST /repos": WRITE,
    "PATCH /repos/{name:path}": WRITE,
    "GET /repos/{name:path}/status": READ,
    "GET /repos/{name:path}/changes": READ,
    "POST /repos/{name:path}/index": WRITE,
    "POST /repos/{name:path}/cache/clear": WRITE,
    "DELETE /repos/{name:path}": ADMIN,
    "PUT /repos/{name:path}/secrets": WRITE,
    "GET /repos/{name:path}/coverage": READ,
    "GET /repos/{name:path}/receipt": READ,
    "GET /repos/{name:path}/files": READ,
    "GET /repos/{name:path}/descriptions": READ,
    "POST /repos/{name:path}/descriptions": WRITE,
    "GET /repos/{name:path}/wiki": READ,
    "GET /repos/{name:path}/wiki/{page}": READ,
    "POST /repos/{name:path}/wiki": WRITE,
    "POST /documents/search": READ,
    "GET /documents": READ,
    "POST /documents": WRITE,
    "POST /documents/commit": WRITE,
    "GET /documents/bundle": READ,
    "GET /documents/remote": READ,
    "POST /documents/push": WRITE,
    "PUT /documents/remote": ADMIN,
    "DELETE /documents/remote": ADMIN,
    "GET /documents/by-path": READ,
    "PUT /documents/files": WRITE,
    "GET /documents/files": READ,
    "GET /documents/{document}": READ,
    "GET /documents/{document}/metadata": READ,
    "GET /documents/{document}/versions": READ,
    "GET /documents/{document}/related": READ,
    "GET /documents/{document}/diff": READ,
    "PATCH /documents/{document}": WRITE,
    "POST /documents/{document}/tags": READ,
    "POST /documents/{document}/embeddings": WRITE,
    "GET /jobs": READ,
    "GET /jobs/{job}": ANY,
    "DELETE /jobs/{job}": WRITE,
    "GET /status": READ,
    "GET /dead-letters": READ,
    "POST /dead-letters/{letter}/retry": ADMIN,
    "DELETE /dead-letters/{letter}": ADMIN,
    "POST /ingest/snapshots": WRITE,
    "POST /ingest/snapshots/{job}/packs": WRITE,
    "POST /ingest/file": WRITE,
    "POST /ingest/diff": WRITE,
    "POST /ingest/scip": WRITE,
    "GET /ingest/scip": READ,
    "DELETE /ingest/scip": WRITE,
    "POST /layers": WRITE,
    "DELETE /layers": WRITE,
    "POST /overlays": WRITE,
    "DELETE /overlays/{handle}": WRITE,
    "GET /usage": ADMIN,
    "GET /audit": ADMIN,
    "GET /search-history": ADMIN,
    "PUT /search-history": ADMIN,
    "DELETE /search-history": ADMIN,
    "POST /feedback": READ,
    "GET /feedback": ADMIN,
    "POST /tasks": WRITE,
    "GET /tasks": READ,
    "GET /tasks/{task}": READ,
    "PATCH /tasks/{task}": WRITE,
    "POST /developer-tokens": ADMIN,
    "GET /developer-tokens": ADMIN,
    "DELETE /developer-tokens/{token}": ADMIN,
    "POST /tenants": OPERATOR,
    "GET /tenants": OPERATOR,
    "GET /tenants/{tenant}": OPERATOR,
    "PATCH /tenants/{tenant}": OPERATOR,
    "DELETE /tenants/{tenant}": OPERATOR,
}

# A forge has no token: the signature of its webhook is checked instead.
OPEN_ROUTES = frozenset({"POST /ingest/webhook"})

TOOLS: Mapping[str, frozenset[TokenScope]] = {
    "search_code": READ,
    "grep_code": READ,
    "read_file": READ,
    "list_files": READ,
    "get_file_outline": READ,
    "get_symbol_definition": READ,
    "find_references": READ,
    "prepare_to_edit": READ,
    "get_function_body": READ,
    "get_call_hierarchy": READ,
    "get_type_hierarchy": READ,
    "get_dependencies": READ,
    "find_path": READ,
    "impact_of_change": READ,
    "find_unused": READ,
    "get_module_map": READ,
    "get_architecture": READ,
    "check_exists": READ,
    "search_docs": READ,
    "get_repo_context": READ,
    "get_codebase_conventions": READ,
    "get_context": READ,
    "list_wiki_pages": READ,
    "get_wiki_page": READ,
    "generate_wiki": WRITE,
    "search_documents": READ,
    "get_document": READ,
    "get_document_metadata": READ,
    "list_documents": READ,
    "create_document": WRITE,
    "update_document": WRITE,
    "generate_tags": READ,
    "generate_embeddings": WRITE,
    "commit_to_git": WRITE,
    "ping": ANY,
    "whoami": ANY,
    "list_repos": READ,
    "index_repository": WRITE,
    "register_repository": WRITE,
    "update_repository": WRITE,
    "reindex_repository": WRITE,
    "repository_status": READ,
    "clear_cache": WRITE,
    "remove_repository": ADMIN,
    "create_branch_index": WRITE,
    "delete_branch_index": WRITE,
    "open_overlay": WRITE,
    "close_overlay": WRITE,
    "cancel_job": WRITE,
    "index_status": ANY,  # a job by its id; without an id the tool needs `read`
    "index_coverage": READ,
    "send_feedback": READ,
    "create_task": WRITE,
    "get_task": READ,
    "list_tasks": READ,
    "update_task": WRITE,
}


def check_scope(caller: Caller, needed: frozenset[TokenScope]) -> None:
    """Raise FORBIDDEN unless the token has one of the scopes."""
    if needed.isdisjoint(granted(caller.scopes)):
        wanted = " or ".join(f"`{scope}`" for scope in TokenScope if scope in needed)
        held = sorted(caller.scopes)
        has = f"only {', '.join(f'`{scope}`' for scope in held)}" if held else "no scope"
        raise PrismError(
            ErrorCode.FORBIDDEN,
            f"The token has {has}. This call needs {wanted}.",
            f"Use a token with the scope {wanted}.",
            scopes=held,
        )


def granted(scopes: frozenset[str]) -> frozenset[str]:
    """Returns the scopes with those that they include."""
    return scopes | ADMIN if TokenScope.OPERATOR in scopes else scopes
