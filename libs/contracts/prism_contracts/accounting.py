"""What happened at the doors: sums of calls, changes with who made them, questions with their hits, feedback.

They are stored in streams for months, so fields are added with a default, and none is renamed.
"""

from datetime import date, datetime
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


class CallSource(StrEnum):
    """Where calls come in."""

    MCP = "mcp"
    REST = "rest"
    CONSOLE = "console"


class UsageRow(Message):
    """The calls of one caller to one tool or route, from one source, about one repository, with one outcome."""

    caller: str  # the id of a token or person
    label: str = ""
    call: str  # a tool, or `POST /search`
    repo: str = ""
    code: str = ""  # of the error; empty for an answer
    source: str = ""  # a `CallSource`; empty in rows of earlier releases
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


class ModelPurpose(StrEnum):
    """What a language model was asked for."""

    CONTEXT = "context"
    WIKI = "wiki"
    DESCRIPTIONS = "descriptions"
    TAGS = "tags"


class ModelUse(Message):
    """The calls to one language model for one purpose."""

    purpose: ModelPurpose
    model: str
    calls: int = 0
    failures: int = 0  # calls without a valid answer, which may cost tokens too
    tokens_in: int = 0
    tokens_out: int = 0
    microdollars: int = 0  # millionths of a US dollar; 0 if the price is not known


class ModelDay(Message):
    """What a tenant used of language models on one day, UTC.

    A copy of scribe reserves what a call may cost before it makes the call, and replaces the reservation by what
    the call did cost. A reservation that is never replaced, because the copy was killed, counts for the whole day.
    """

    tenant: str
    day: date
    reserved_tokens: int = 0
    reserved_microdollars: int = 0
    uses: tuple[ModelUse, ...] = ()


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
    SCIP_REMOVED = "scip_removed"
    LAYER_CREATED = "layer_created"
    LAYER_REMOVED = "layer_removed"
    OVERLAY_OPENED = "overlay_opened"
    OVERLAY_CLOSED = "overlay_closed"
    JOB_CANCELLED = "job_cancelled"
    LETTER_RETRIED = "letter_retried"
    LETTER_DROPPED = "letter_dropped"
    CACHE_CLEARED = "cache_cleared"
    HISTORY_DELETED = "history_deleted"
    DOCUMENT_CREATED = "document_created"
    DOCUMENT_CHANGED = "document_changed"
    DOCUMENTS_IMPORTED = "documents_imported"
    DOCUMENTS_COMMITTED = "documents_committed"
    DOCUMENTS_PUSHED = "documents_pushed"
    DOCUMENTS_REMOTE_CHANGED = "documents_remote_changed"
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
    score: float | None = None  # None in entries of earlier releases


class HistoryEntry(Message):
    """A question, its hits without code, and how they were found.

    What follows `hits` is empty in entries of earlier releases.
    """

    at: datetime
    tenant: str
    caller: str
    label: str = ""
    call: str
    repo: str = ""
    query: str  # redacted
    hits: Annotated[tuple[HistoryHit, ...], Field(max_length=HISTORY_HITS_MAX)] = ()
    hits_found: int | None = None  # hits on the page; `hits` keeps the first of them
    intent: str = ""
    confidence: str = ""
    legs: dict[str, int] = {}  # hits of the page by each leg that found them
    missing_legs: tuple[str, ...] = ()
    cached: bool = False
    corpus_version: int | None = None
    timings_ms: dict[str, float] = {}  # by step


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
