"""Errors as a contract: the code is stable and is what programs read; the text is for people and may change."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from prism_contracts.base import Message
from prism_contracts.types import MEANINGS

# How much of a caller's text an error quotes: enough to recognize it, too little to fill an agent's context.
SHOWN_CHARS_MAX = 80
# The longest error message, whatever it quotes.
MESSAGE_CHARS_MAX = 600
NEXT_ACTION_CHARS_MAX = 2_000
PROBLEMS_SHOWN_MAX = 5
FIELDS_SHOWN_MAX = 20
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


class ErrorCode(StrEnum):
    """Every error that Prism reports."""

    INVALID_ARGUMENT = "invalid_argument"
    EMPTY_QUERY = "empty_query"
    QUERY_TOO_LONG = "query_too_long"
    INVALID_REGEX = "invalid_regex"
    INVALID_CURSOR = "invalid_cursor"
    INVALID_PATH = "invalid_path"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"  # no such endpoint
    REPO_NOT_FOUND = "repo_not_found"
    REPO_AMBIGUOUS = "repo_ambiguous"
    REPO_EXISTS = "repo_exists"
    REPO_NOT_INDEXED = "repo_not_indexed"
    COMMIT_NOT_INDEXED = "commit_not_indexed"
    FILE_NOT_FOUND = "file_not_found"
    FILE_SKIPPED = "file_skipped"
    SYMBOL_NOT_FOUND = "symbol_not_found"
    SYMBOL_AMBIGUOUS = "symbol_ambiguous"
    COMPONENT_NOT_FOUND = "component_not_found"
    GRAPH_NOT_BUILT = "graph_not_built"
    JOB_NOT_FOUND = "job_not_found"
    JOB_ABANDONED = "job_abandoned"
    JOB_CANCELLED = "job_cancelled"
    LETTER_NOT_FOUND = "letter_not_found"
    LETTER_NOT_RETRIABLE = "letter_not_retriable"
    REF_NOT_FOUND = "ref_not_found"
    TENANT_NOT_FOUND = "tenant_not_found"
    TENANT_EXISTS = "tenant_exists"
    WIKI_NOT_FOUND = "wiki_not_found"
    WIKI_PAGE_NOT_FOUND = "wiki_page_not_found"
    CLONE_REFUSED = "clone_refused"
    CLONE_FAILED = "clone_failed"
    SOURCE_NOT_FOUND = "source_not_found"
    SOURCE_UNREADABLE = "source_unreadable"
    SOURCE_EMPTY = "source_empty"
    SNAPSHOT_CONFLICT = "snapshot_conflict"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    REQUEST_IN_PROGRESS = "request_in_progress"
    BASE_MISMATCH = "base_mismatch"
    DIFF_NOT_APPLICABLE = "diff_not_applicable"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    SCIP_INVALID = "scip_invalid"
    SCIP_NOT_FOUND = "scip_not_found"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    UPLOAD_MISMATCH = "upload_mismatch"
    RATE_LIMITED = "rate_limited"
    LIMIT_EXCEEDED = "limit_exceeded"  # the tenant's plan allows no more; waiting does not help
    DEADLINE_EXCEEDED = "deadline_exceeded"
    UNAVAILABLE = "unavailable"
    DISK_FULL = "disk_full"
    DOCUMENT_NOT_FOUND = "document_not_found"
    DOCUMENT_READ_ONLY = "document_read_only"
    DOCUMENT_CONFLICT = "document_conflict"
    DOCUMENT_EXISTS = "document_exists"
    VERSION_NOT_FOUND = "version_not_found"
    EMBEDDING_FAILED = "embedding_failed"
    NOTHING_TO_COMMIT = "nothing_to_commit"
    GIT_ERROR = "git_error"
    REMOTE_NOT_SET = "remote_not_set"
    REMOTE_REFUSED = "remote_refused"  # the team has to change something there, or its login
    TASK_NOT_FOUND = "task_not_found"
    TASK_AMBIGUOUS = "task_ambiguous"
    TASK_CONFLICT = "task_conflict"
    INVALID_STATUS = "invalid_status"
    INVALID_COMMIT = "invalid_commit"
    INDEX_LOST = "index_lost"
    STORE_DAMAGED = "store_damaged"
    MODEL_MISMATCH = "model_mismatch"
    PARSE_FAILED = "parse_failed"
    MESSAGE_INVALID = "message_invalid"
    INTERNAL = "internal"


HTTP_STATUS: dict[ErrorCode, int] = {
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.LIMIT_EXCEEDED: 403,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.REPO_NOT_FOUND: 404,
    ErrorCode.FILE_NOT_FOUND: 404,
    ErrorCode.SYMBOL_NOT_FOUND: 404,
    ErrorCode.COMPONENT_NOT_FOUND: 404,
    ErrorCode.JOB_NOT_FOUND: 404,
    ErrorCode.JOB_ABANDONED: 409,
    ErrorCode.JOB_CANCELLED: 409,
    ErrorCode.LETTER_NOT_FOUND: 404,
    ErrorCode.LETTER_NOT_RETRIABLE: 409,
    ErrorCode.REF_NOT_FOUND: 404,
    ErrorCode.SCIP_NOT_FOUND: 404,
    ErrorCode.TENANT_NOT_FOUND: 404,
    ErrorCode.TENANT_EXISTS: 409,
    ErrorCode.WIKI_NOT_FOUND: 404,
    ErrorCode.WIKI_PAGE_NOT_FOUND: 404,
    ErrorCode.SOURCE_NOT_FOUND: 404,
    ErrorCode.REPO_AMBIGUOUS: 409,
    ErrorCode.REPO_EXISTS: 409,
    ErrorCode.REPO_NOT_INDEXED: 409,
    ErrorCode.COMMIT_NOT_INDEXED: 409,
    ErrorCode.SYMBOL_AMBIGUOUS: 409,
    ErrorCode.SNAPSHOT_CONFLICT: 409,
    ErrorCode.IDEMPOTENCY_CONFLICT: 422,
    ErrorCode.REQUEST_IN_PROGRESS: 409,
    ErrorCode.BASE_MISMATCH: 409,
    ErrorCode.DIFF_NOT_APPLICABLE: 409,
    ErrorCode.PAYLOAD_TOO_LARGE: 413,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: 415,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.INTERNAL: 500,
    ErrorCode.CLONE_FAILED: 502,
    ErrorCode.UNAVAILABLE: 503,
    ErrorCode.DISK_FULL: 507,
    ErrorCode.INDEX_LOST: 503,
    ErrorCode.STORE_DAMAGED: 503,
    ErrorCode.DOCUMENT_NOT_FOUND: 404,
    ErrorCode.DOCUMENT_READ_ONLY: 403,
    ErrorCode.DOCUMENT_CONFLICT: 409,
    ErrorCode.DOCUMENT_EXISTS: 409,
    ErrorCode.VERSION_NOT_FOUND: 404,
    ErrorCode.EMBEDDING_FAILED: 422,
    ErrorCode.NOTHING_TO_COMMIT: 409,
    ErrorCode.GIT_ERROR: 502,
    ErrorCode.REMOTE_NOT_SET: 409,
    ErrorCode.REMOTE_REFUSED: 409,
    ErrorCode.TASK_NOT_FOUND: 404,
    ErrorCode.TASK_AMBIGUOUS: 409,
    ErrorCode.TASK_CONFLICT: 409,
    ErrorCode.GRAPH_NOT_BUILT: 503,
    ErrorCode.DEADLINE_EXCEEDED: 504,
}
HTTP_STATUS_DEFAULT = 400

# Codes for values that are too long, where the field has a code of its own.
_TOO_LONG = frozenset({"string_too_long", "bytes_too_long", "too_long"})
_TOO_LONG_CODES: Mapping[str, ErrorCode] = {
    "query": ErrorCode.QUERY_TOO_LONG,
    "intent": ErrorCode.QUERY_TOO_LONG,
    "pattern": ErrorCode.QUERY_TOO_LONG,
    "cursor": ErrorCode.INVALID_CURSOR,
    "path": ErrorCode.INVALID_PATH,
    "file_path": ErrorCode.INVALID_PATH,
    "files": ErrorCode.PAYLOAD_TOO_LARGE,
    "diff": ErrorCode.PAYLOAD_TOO_LARGE,
    "content": ErrorCode.PAYLOAD_TOO_LARGE,
}
_SENTENCES = {"extra_forbidden": "is not known here", "missing": "is missing"}


class ErrorBody(Message):
    """An error on the wire."""

    code: ErrorCode
    message: str
    # What the caller can do next, in one sentence.
    next_action: str = ""
    # Data to choose from: names that exist, a limit, the nearest matches.
    details: dict[str, object] = {}


class PrismError(Exception):
    """An error with a stable code. Raised anywhere; the gateway reports it to the caller."""

    def __init__(self, code: ErrorCode, message: str, next_action: str = "", **details: object) -> None:
        message = shown(message, MESSAGE_CHARS_MAX)
        super().__init__(message)
        next_action = shown(next_action, NEXT_ACTION_CHARS_MAX)
        self.body = ErrorBody(code=code, message=message, next_action=next_action, details=details)

    @property
    def code(self) -> ErrorCode:
        """The error as it travels."""
        return self.body.code


def http_status(code: ErrorCode) -> int:
    """Returns the HTTP status of an error code."""
    return HTTP_STATUS.get(code, HTTP_STATUS_DEFAULT)


def reason_of(error: BaseException) -> str:
    """Returns the message of an exception, or its type if the message is empty, as for a timeout."""
    return str(error) or type(error).__name__


def printable(text: str) -> str:
    """Removes control characters and lone surrogates: an error may reach a terminal or an agent."""
    return _CONTROL.sub(" ", text)


def shown(text: str, chars_max: int = SHOWN_CHARS_MAX) -> str:
    """Returns the beginning of a caller's text, for an error."""
    return printable(text if len(text) <= chars_max else f"{text[:chars_max]}…")


def invalid_argument(problems: Sequence[Any], next_action: str, **details: object) -> ErrorBody:
    """Returns the error for invalid fields, naming each. `problems` is `ValidationError.errors()`."""
    fields = sorted({_field(problem) for problem in problems} - {""})
    return ErrorBody(
        code=_code(problems),
        message="; ".join(_problem(problem) for problem in problems[:PROBLEMS_SHOWN_MAX]),
        next_action=next_action,
        details={"fields": fields[:FIELDS_SHOWN_MAX], **details},
    )


def _code(problems: Sequence[Any]) -> ErrorCode:
    codes = {
        _TOO_LONG_CODES.get(str(problem["loc"][-1]), ErrorCode.INVALID_ARGUMENT)
        if problem["type"] in _TOO_LONG and problem["loc"]
        else ErrorCode.INVALID_ARGUMENT
        for problem in problems
    }
    return codes.pop() if len(codes) == 1 else ErrorCode.INVALID_ARGUMENT


def _problem(problem: Mapping[str, Any]) -> str:
    return f"{_field(problem) or 'the request'}: {_sentence(problem)}"


def _sentence(problem: Mapping[str, Any]) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "string_too_short" and context.get("min_length") == 1:
        return "should not be empty"
    if kind == "string_pattern_mismatch":
        return MEANINGS.get(context.get("pattern", ""), problem["msg"])
    return _SENTENCES.get(kind) or str(problem["msg"]).removeprefix("Value error, ")


def _field(problem: Mapping[str, Any]) -> str:
    return shown(".".join(str(part) for part in problem["loc"]))
