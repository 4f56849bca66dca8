"""Calls of every route and every tool about a repository that the caller may not see.

The names of the repository are a parameter: the same calls are made about one that exists nowhere.
"""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from prism_contracts.base import repo_id

Json = dict[str, Any]


# A word of the hidden repository only.
WORD = "zephyr"
# The same about either repository: its words decide the order of hits.
QUESTION = f"where is the {WORD} kept"


class Names(NamedTuple):
    """What names a repository and its parts."""

    word: str  # in its name, paths, symbols, branches and texts
    tenant: str
    repo: str  # its id
    job: str
    commit: str
    handle: str  # an overlay's handle
    token: str  # the id of a token that is limited to it

    @property
    def name(self) -> str:
        """Its full name."""
        return f"acme/{self.word}vault"

    def spellings(self) -> tuple[str, ...]:
        """The values of `repo` that mean it."""
        return (self.name, f"{self.word}vault", self.repo)

    def renamed(self, answer: str, other: "Names") -> str:
        """Returns an answer about this repository as if it were about another one."""
        for mine, others in zip(self, other, strict=True):
            for spelled in (str.lower, str.title, str.upper):
                answer = answer.replace(spelled(mine), spelled(others))
        return answer


# No repository, tenant, job or token has these. They are as long as those of the hidden repository.
ABSENT = Names(
    word="qyrtuv",
    tenant="nowhere",
    repo=repo_id("acme/qyrtuvvault"),
    job=str(uuid.UUID(int=0x4BE1E2D507A94C93A6AE1A2D8C9F0B77)),
    commit="9d1c" * 10,
    handle=f"overlay:{'7e5a' * 5}",
    token="5b7e91a3c0d2",
)


class RouteCase(NamedTuple):
    """How a route is called about a repository."""

    body: Json | None = None
    # Other places that name a repository: fields of the body or the query, or the header.
    fields: tuple[str, ...] = ()
    params: Json = {}
    # Something comes into being in the tenant of a token without a list of repositories.
    creates: bool = False


FIELD, CONNECTED, HEADER = "repo", "connected_repo", "X-Prism-Repo"
# It is refused: tasks of these calls would be in lists of the next ones. tests/contract/test_tasks.py has the rest.
NO_TITLE = ""
# tests/contract/test_dead_letters.py has those of a hidden repository.
NO_LETTER = "987654321"


def route_cases(of: Names) -> Mapping[str, RouteCase]:
    """Returns a case of each route, by method and path below `/api/v1`."""
    ref, scoped = {"ref": f"{of.word}-branch"}, (FIELD, HEADER)
    file = {"path": f"{of.word}/x.py", "content": "1\n"}
    return {
        "GET /whoami": RouteCase(),
        "POST /sign-in-codes": RouteCase(),
        "POST /search": RouteCase({"query": QUESTION}, scoped),
        "POST /grep": RouteCase({"pattern": of.word}, scoped),
        "POST /context": RouteCase({"question": QUESTION}, scoped),
        "GET /repos": RouteCase(),
        "POST /repos": RouteCase(
            {"url": f"https://example.invalid/{of.name}", "name": of.name}, creates=True
        ),
        "PATCH /repos/{name:path}": RouteCase({"is_active": False}),
        "DELETE /repos/{name:path}": RouteCase(),
        "GET /repos/{name:path}/status": RouteCase(),
        "GET /repos/{name:path}/changes": RouteCase(params={"path": of.word}),
        "POST /repos/{name:path}/index": RouteCase({"full": True, "force": True}),
        "POST /repos/{name:path}/cache/clear": RouteCase(),
        "PUT /repos/{name:path}/secrets": RouteCase({"webhook_secret": of.word * 6}, creates=True),
        "GET /repos/{name:path}/coverage": RouteCase(),
        "GET /repos/{name:path}/receipt": RouteCase(params=ref | {"wait_for_commit": of.commit}),
        "GET /repos/{name:path}/files": RouteCase(params=ref),
        "GET /repos/{name:path}/descriptions": RouteCase(),
        "POST /repos/{name:path}/descriptions": RouteCase(),
        "GET /repos/{name:path}/wiki": RouteCase(params={"query": of.word}),
        "GET /repos/{name:path}/wiki/{page}": RouteCase(params={"commit": of.commit}),
        "POST /repos/{name:path}/wiki": RouteCase(),
        "POST /documents/search": RouteCase({"query": QUESTION}),
        "GET /documents": RouteCase(params={"search_title": of.word}),
        "POST /documents": RouteCase({"title": of.word, "content": "1\n"}, creates=True),
        "POST /documents/commit": RouteCase({"message": of.word, "paths": [f"generated/{of.word}.md"]}),
        "GET /documents/bundle": RouteCase(),
        "GET /documents/remote": RouteCase(),
        "POST /documents/push": RouteCase({}),
        "PUT /documents/remote": RouteCase({"url": f"ssh://git.invalid/{of.name}"}),
        "DELETE /documents/remote": RouteCase(),
        "GET /documents/by-path": RouteCase(params={"path": f"generated/{of.word}.md"}),
        "PUT /documents/files": RouteCase(
            {"files": [{"path": f"generated/{of.word}.md", "text": "1\n"}]}, creates=True
        ),
        "GET /documents/files": RouteCase(params={"folder": of.word}),
        "GET /documents/{document}": RouteCase(),
        "GET /documents/{document}/metadata": RouteCase(),
        "GET /documents/{document}/versions": RouteCase(),
        "GET /documents/{document}/related": RouteCase(),
        "GET /documents/{document}/diff": RouteCase(params={"version": of.commit}),
        "PATCH /documents/{document}": RouteCase({"updates": {"title": of.word}}, (CONNECTED, HEADER)),
        "POST /documents/{document}/tags": RouteCase({}),
        "POST /documents/{document}/embeddings": RouteCase({}),
        "GET /jobs": RouteCase(),
        "GET /jobs/{job}": RouteCase(),
        "DELETE /jobs/{job}": RouteCase(),
        "GET /status": RouteCase(),
        "GET /dead-letters": RouteCase(),
        "POST /dead-letters/{letter}/retry": RouteCase(),
        "DELETE /dead-letters/{letter}": RouteCase(),
        "POST /ingest/snapshots": RouteCase(
            {"repo_name": of.name, "snapshot": "s", "commit": of.commit, "files": []}, creates=True
        ),
        "POST /ingest/snapshots/{job}/packs": RouteCase({}),
        "POST /ingest/file": RouteCase(file, scoped),
        "POST /ingest/diff": RouteCase({"base_commit": of.commit, "files": [file]}, scoped),
        "POST /ingest/scip": RouteCase({}, scoped, {"commit": of.commit, "root": of.word}),
        "GET /ingest/scip": RouteCase(None, scoped),
        "DELETE /ingest/scip": RouteCase(None, scoped, {"indexer": of.word, "root": of.word}),
        "POST /layers": RouteCase(ref, scoped),
        "DELETE /layers": RouteCase(None, scoped, ref),
        "POST /overlays": RouteCase({"files": [file], "base_ref": ref["ref"], "handle": of.handle}, scoped),
        "DELETE /overlays/{handle}": RouteCase(None, scoped),
        "GET /usage": RouteCase(params={"tenant": of.tenant}),
        "GET /audit": RouteCase(params={"tenant": of.tenant}),
        "GET /search-history": RouteCase(params={"tenant": of.tenant}),
        "PUT /search-history": RouteCase({"is_on": False, "tenant": of.tenant}),
        "DELETE /search-history": RouteCase(params={"tenant": of.tenant}),
        "POST /feedback": RouteCase({"useful": True, "query": of.word}),
        "GET /feedback": RouteCase(params={"tenant": of.tenant}),
        "POST /developer-tokens": RouteCase(
            {"label": "x", "scopes": ["read"], "repos": [of.name], "tenant": of.tenant}
        ),
        "GET /developer-tokens": RouteCase(params={"tenant": of.tenant}),
        "DELETE /developer-tokens/{token}": RouteCase(params={"tenant": of.tenant}),
        "POST /tasks": RouteCase({"title": NO_TITLE, "repo": of.name}, (HEADER,)),
        "GET /tasks": RouteCase(params={"repo": of.name, "branch": ref["ref"], "query": of.word}),
        "GET /tasks/{task}": RouteCase(),
        "PATCH /tasks/{task}": RouteCase({"status": "complete"}, (FIELD, HEADER)),
        "POST /tenants": RouteCase({"id": of.tenant}),
        "GET /tenants": RouteCase(),
        "GET /tenants/{tenant}": RouteCase(),
        "PATCH /tenants/{tenant}": RouteCase({"is_active": False}),
        "DELETE /tenants/{tenant}": RouteCase(),
        "POST /ingest/webhook": RouteCase({"ref": "refs/heads/main", "repository": {"full_name": of.name}}),
    }


def requests_to(route: str, of: Names) -> Iterator[Json]:
    """Yields the requests of a route: by its name, by its id, in the body or the query, in the header."""
    case = route_cases(of)[route]
    method, _, path = route.partition(" ")
    headers = {"X-Prism-Pack": "0" * 64, "X-GitHub-Event": "push"}
    for part in ("job", "handle", "token", "tenant"):
        path = path.replace(f"{{{part}}}", getattr(of, part))
    path = path.replace("{page}", "overview")
    path = path.replace("{task}", of.job)
    path = path.replace("{letter}", NO_LETTER)
    path = path.replace("{document}", of.job)
    for repo in of.spellings():
        call: Json = {
            "method": method,
            "path": f"/api/v1{path.replace('{name:path}', repo)}",
            "headers": headers,
        }
        if case.body is not None:
            call["json"] = case.body
        if case.params:
            yield call
            call["params"] = case.params
        yield call
        place = "params" if method == "DELETE" or path.endswith("/scip") else "json"
        for field in {FIELD, CONNECTED}.intersection(case.fields):
            yield call | {place: call.get(place, {}) | {field: repo}}
        if HEADER in case.fields:
            yield call | {"headers": headers | {HEADER: repo}}
        if "{name:path}" not in path and not case.fields:
            return


# Arguments that name nothing: they choose how much of an answer is shown, or which kinds of lines.
NEUTRAL = frozenset(
    {
        "limit", "max_tokens", "detail", "cursor", "regex", "case_sensitive", "word", "output_mode", "exclude", "only",
        "context_lines", "source_only", "include_skipped", "include_body", "include_bodies", "include_members",
        "include_candidates", "reference_type", "page", "end_line", "depth", "section", "sections", "mode", "domains", "ttl_s", "kind", "group", "wait_s",
        "is_active", "full", "force", "index", "description", "notes", "commit_message", "expected_version", "max_results",
        "similarity_threshold", "filter_generated", "date_range", "modified_range", "include_versions", "include_related", "include_metadata", "diff_from", "sort_by", "sort_order", "offset", "stale", "changes",
        "auto_process", "regenerate_embeddings", "force_regenerate", "version", "merge_with_existing", "auto_push", "metadata", "model",
    }
)  # fmt: skip


def arguments_about(of: Names) -> Json:
    """Returns values for the arguments of tools that name something of the repository."""
    path, symbol = f"{of.word}/vault.py", f"{of.word}_key"
    return {
        "query": QUESTION,
        "key": f"component-{of.word}",
        "intent": QUESTION,
        "question": QUESTION,
        "pattern": of.word,
        "symbol": symbol,
        "symbols": [symbol],
        "matching": of.word,
        "source": f"{of.word}_use",
        "target": symbol,
        "file_path": path,
        "path": path,
        "source_path": path,
        "target_path": path,
        "places": [f"{path}:1-3"],
        "start_line": 1,
        "path_filter": f"{of.word}/**",
        "glob": f"{of.word}/**",
        "language": f"{of.word}lang",
        "component": of.word,
        "direction": "callers",
        "url": f"https://example.invalid/{of.name}",
        "name": of.name,
        "job": of.job,
        "document_id": of.job,
        "content": "1\n",
        "tags": [of.word],
        "filter_tags": [of.word],
        "category": of.word,
        "filter": {"search_title": of.word},
        "updates": {"title": of.word},
        "message": of.word,
        "paths": [f"generated/{of.word}.md"],
        "useful": True,
        "hits": [f"{path}:1-3"],
        "comment": of.word,
        "handle": of.handle,
        "title": NO_TITLE,
        "task_id": of.job,
        "status": of.word,
        "branch": f"{of.word}-branch",
        "commit": of.commit,
        "client_id": of.word,
        "planning_references": [path],
        "repo_root_prefix": of.word,
        "include": [f"{of.word}/**"],
        "base_ref": f"{of.word}-branch",
        "base_commit": of.commit,
        "diff": f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n",
        "files": [{"path": f"{of.word}/x.py", "content": f"{of.word} = 1\n"}],
    }


def unknown_arguments(schema: Json) -> set[str]:
    """Returns the arguments of a tool that no case covers."""
    return schema.get("properties", {}).keys() - arguments_about(ABSENT).keys() - NEUTRAL - {"repo", "ref"}


# Tools that make something in the tenant of a token without a list of repositories.
CREATING_TOOLS = frozenset({"index_repository", "register_repository", "create_document"})


def calls_of(schema: Json, of: Names, visible: str, *, is_reading: bool) -> Iterator[Json]:
    """Yields arguments for a tool: every place where a name of the repository fits, in turn.

    A reading tool is also asked about `visible`, and about everything that the caller may see.
    """
    given, properties = arguments_about(of), schema.get("properties", {})
    required = set(schema.get("required", ()))
    basic = {name: given[name] for name in properties if name in given and name in required}
    more = ["", visible] if is_reading else []
    for repo in [*of.spellings(), *more] if "repo" in properties else [None]:
        scope = {} if repo is None else {"repo": repo}
        yield basic | scope
        for name in properties:
            if name in given and name not in basic:
                yield basic | scope | {name: given[name]}
        if "ref" in properties:
            for ref in (f"{of.word}-branch", of.commit, of.handle):
                yield basic | scope | {"ref": ref}
