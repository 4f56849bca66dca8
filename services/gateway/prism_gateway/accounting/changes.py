"""What each call that changes something is recorded as, and what it says about the change.

The audit and its tests read these tables: a route or tool that changes something is in one of them, or in
`UNRECORDED`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from prism_contracts.accounting import AuditAction
from prism_contracts.base import Message
from prism_contracts.rpc.dead_letters import LetterReply
from prism_source.clone_url import normalized_location

# By method and path below `/api/v1`, and by tool.
ACTIONS: Final[Mapping[str, AuditAction]] = {
    "POST /repos": AuditAction.REPOSITORY_REGISTERED,
    "PATCH /repos/{name:path}": AuditAction.REPOSITORY_CHANGED,
    "DELETE /repos/{name:path}": AuditAction.REPOSITORY_REMOVED,
    "POST /repos/{name:path}/index": AuditAction.REPOSITORY_INDEXED,
    "POST /repos/{name:path}/cache/clear": AuditAction.CACHE_CLEARED,
    "PUT /repos/{name:path}/secrets": AuditAction.SECRETS_CHANGED,
    "POST /documents": AuditAction.DOCUMENT_CREATED,
    "PATCH /documents/{document}": AuditAction.DOCUMENT_CHANGED,
    "PUT /documents/files": AuditAction.DOCUMENTS_IMPORTED,
    "POST /documents/commit": AuditAction.DOCUMENTS_COMMITTED,
    "POST /documents/push": AuditAction.DOCUMENTS_PUSHED,
    "PUT /documents/remote": AuditAction.DOCUMENTS_REMOTE_CHANGED,
    "DELETE /documents/remote": AuditAction.DOCUMENTS_REMOTE_CHANGED,
    "DELETE /jobs/{job}": AuditAction.JOB_CANCELLED,
    "POST /dead-letters/{letter}/retry": AuditAction.LETTER_RETRIED,
    "DELETE /dead-letters/{letter}": AuditAction.LETTER_DROPPED,
    "POST /ingest/snapshots": AuditAction.REPOSITORY_INDEXED,
    "POST /ingest/file": AuditAction.FILES_EDITED,
    "POST /ingest/diff": AuditAction.FILES_EDITED,
    "POST /ingest/scip": AuditAction.SCIP_STORED,
    "DELETE /ingest/scip": AuditAction.SCIP_REMOVED,
    "POST /layers": AuditAction.LAYER_CREATED,
    "DELETE /layers": AuditAction.LAYER_REMOVED,
    "POST /overlays": AuditAction.OVERLAY_OPENED,
    "DELETE /overlays/{handle}": AuditAction.OVERLAY_CLOSED,
    "POST /developer-tokens": AuditAction.TOKEN_CREATED,
    "DELETE /developer-tokens/{token}": AuditAction.TOKEN_REVOKED,
    "PUT /search-history": AuditAction.TENANT_CHANGED,
    "DELETE /search-history": AuditAction.HISTORY_DELETED,
    "POST /tenants": AuditAction.TENANT_CREATED,
    "PATCH /tenants/{tenant}": AuditAction.TENANT_CHANGED,
    "DELETE /tenants/{tenant}": AuditAction.TENANT_REMOVED,
    "index_repository": AuditAction.REPOSITORY_INDEXED,
    "register_repository": AuditAction.REPOSITORY_REGISTERED,
    "update_repository": AuditAction.REPOSITORY_CHANGED,
    "reindex_repository": AuditAction.REPOSITORY_INDEXED,
    "clear_cache": AuditAction.CACHE_CLEARED,
    "remove_repository": AuditAction.REPOSITORY_REMOVED,
    "create_branch_index": AuditAction.LAYER_CREATED,
    "delete_branch_index": AuditAction.LAYER_REMOVED,
    "open_overlay": AuditAction.OVERLAY_OPENED,
    "close_overlay": AuditAction.OVERLAY_CLOSED,
    "create_document": AuditAction.DOCUMENT_CREATED,
    "update_document": AuditAction.DOCUMENT_CHANGED,
    "commit_to_git": AuditAction.DOCUMENTS_COMMITTED,
    "cancel_job": AuditAction.JOB_CANCELLED,
}
KEPT: Final = "is kept in the history of the task"
INDEXES: Final = "indexes what a recorded call wrote"
UNRECORDED: Final[Mapping[str, str]] = {
    "POST /search": "a question",
    "POST /grep": "a question",
    "POST /context": "a question",
    "POST /documents/search": "a question",
    "POST /documents/{document}/tags": "a question",
    "POST /documents/{document}/embeddings": INDEXES,
    "generate_embeddings": INDEXES,
    "POST /ingest/snapshots/{job}/packs": "a part of an import, recorded by its snapshot",
    "POST /repos/{name:path}/descriptions": "writes what follows from the index alone",
    "POST /repos/{name:path}/wiki": "writes what follows from the index alone",
    "generate_wiki": "writes what follows from the index alone",
    "POST /sign-in-codes": "lets its own token sign in to the console, once",
    "POST /feedback": "is stored with its sender itself",
    "send_feedback": "is stored with its sender itself",
    "POST /tasks": KEPT,
    "PATCH /tasks/{task}": KEPT,
    "create_task": KEPT,
    "update_task": KEPT,
    "POST /ingest/webhook": "has no caller: the route records each push that ingest takes",
}

# Fields of requests that describe a change, in this order.
DESCRIBING: Final = (
    "name",
    "repo_root_prefix",
    "ref",
    "layer_ref",
    "handle",
    "base_ref",
    "commit",
    "base_commit",
    "indexer",
    "root",
    "letter",
)
DETAIL_CHARS_MAX = 200
SUBJECT_CHARS_MAX = 300


@dataclass(slots=True)
class CallChange:
    """What a call changes."""

    subject: str = ""  # a repository, the id of a token, a job
    tenant: str = ""  # whose; empty for the caller's
    details: dict[str, str] = field(default_factory=dict)

    def describe(self, **details: object) -> None:
        """Add details. Empty ones and zeros are left out."""
        for name, value in details.items():
            if isinstance(value, bool) or value:
                shown = str(value).lower() if isinstance(value, bool) else str(value)
                self.details[name] = shown[:DETAIL_CHARS_MAX]

    def read_request(self, request: Message) -> None:
        """Take what a request says about the change. Its contents and logins are left out."""
        said = (getattr(request, name, "") for name in ("repo", "repo_name", "job", "document_id"))
        self.subject = self.subject or next((name for name in said if name), "")[:SUBJECT_CHARS_MAX]
        self.describe(
            **{name: getattr(request, name, "") for name in DESCRIBING},
            source=normalized_location(getattr(request, "url", "")),
            files=len(getattr(request, "files", ())),
            is_active=getattr(request, "is_active", None),
            tasks_on_merge=getattr(request, "tasks_on_merge", None),
            full=getattr(request, "full", False) or None,
            force=getattr(request, "force", False) or None,
        )

    def read_reply(self, request: Message, reply: Message) -> None:
        """Take what the reply adds: the full name of the repository, the job, the handle of an overlay."""
        job, layer = getattr(reply, "job", None), getattr(reply, "layer", None)
        repository = getattr(reply, "repository", None)
        named = repository.name if repository is not None else getattr(reply, "repo", "")
        self.subject = (
            named or getattr(reply, "document_id", "") or getattr(reply, "commit_hash", "") or self.subject
        )
        if job is not None and job.job == getattr(request, "job", ""):
            self.describe(repo=job.repo_name)
        elif job is not None:
            self.subject = job.repo_name
            self.describe(job=job.job)
        if isinstance(reply, LetterReply):
            self.describe(event=reply.event, file=reply.file_path, dropped=reply.dropped)
        if layer is not None and hasattr(request, "handle"):
            self.describe(handle=layer.ref)
