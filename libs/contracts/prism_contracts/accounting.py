"""What happened at the doors: sums of calls, changes with who made them, questions with their hits, feedback.

They are stored in streams for months, so fields are added with a default, and none is renamed.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.types import TENANT_PATTERN

# Stands for the tenant of calls that identified no one.
NO_ONE = "-"
# The code of a call whose connection ended before it was answered.
UNANSWERED = "unanswered"
HISTORY_HITS_MAX = 20


class UsageRow(Message):
    """The calls of one caller to one tool or route, about one repository, with one outcome."""

    caller: str  # the id of a token or person
    label: str = ""
    call: str  # a tool, or `POST /search`
    repo: str = ""
    code: str = ""  # of the error; empty for an answer
    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_of_files: int = 0  # of the files whose code the answers show, an estimate
    milliseconds: float = 0
    milliseconds_max: float = 0


class UsageHour(Message):
    """The calls of a tenant in one hour that one copy of the gateway answered."""

    tenant: str
    hour: datetime
    gateway: str
    rows: tuple[UsageRow, ...]


class AuditAction(StrEnum):
    """What is recorded."""

    TOKEN_CREATED = "token_created"  # noqa: S105 - names of actions
    TOKEN_REVOKED = "token_revoked"  # noqa: S105
    TENANT_CREATED = "tenant_created"
    TENANT_CHANGED = "tenant_changed"
    TENANT_REMOVED = "tenant_removed"
    GROUP_CHANGED = "group_changed"
    GROUP_REMOVED = "group_removed"
    REPOSITORY_REGISTERED = "repository_registered"
    REPOSITORY_CHANGED = "repository_changed"
    REPOSITORY_INDEXED = "repository_indexed"
    REPOSITORY_REMOVED = "repository_removed"
    SECRETS_CHANGED = "secrets_changed"
    FILES_EDITED = "files_edited"
    SCIP_STORED = "scip_stored"
    LAYER_CREATED = "layer_created"
    LAYER_REMOVED = "layer_removed"
    OVERLAY_OPENED = "overlay_opened"
    OVERLAY_CLOSED = "overlay_closed"
    JOB_CANCELLED = "job_cancelled"
    CACHE_CLEARED = "cache_cleared"
    HISTORY_DELETED = "history_deleted"
    WEBHOOK_ACCEPTED = "webhook_accepted"


class AuditEntry(Message):
    """A change, or an attempt of one: who made it, from where, and how it ended."""

    id: str = ""  # random; an entry that was stored twice has it twice
    at: datetime
    tenant: str = Field(
        pattern=TENANT_PATTERN
    )  # whose data or tokens changed; of a refused call, the caller's
    action: AuditAction
    subject: str = ""  # what was changed: a repository, the id of a token, a job
    caller: str  # the id of a token or person
    label: str = ""
    caller_tenant: str = ""  # if an operator of another tenant made it
    address: str = ""
    # Code of the error. Empty: it was done. `UNANSWERED`: the connection ended first, and it may be done.
    code: str = ""
    details: dict[str, str] = {}


class HistoryHit(Message):
    """A hit of a question, by its stable id and its place then."""

    hit: str
    repo: str
    file_path: str
    start_line: int
    end_line: int


class HistoryEntry(Message):
    """A question and its hits, without code."""

    at: datetime
    tenant: str
    caller: str
    label: str = ""
    call: str
    repo: str = ""
    query: str  # redacted
    hits: Annotated[tuple[HistoryHit, ...], Field(max_length=HISTORY_HITS_MAX)] = ()


class FeedbackEntry(Message):
    """What a caller said about an answer."""

    at: datetime
    tenant: str
    caller: str
    label: str = ""
    useful: bool
    hits: tuple[str, ...] = ()  # ids or places of hits; empty for the whole answer
    query: str = ""  # redacted
    note: str = ""  # redacted
