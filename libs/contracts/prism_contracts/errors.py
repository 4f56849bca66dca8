"""Errors as a contract: the code is stable and is what programs read; the text is for people and may change."""

from enum import StrEnum

from prism_contracts.base import Message


class ErrorCode(StrEnum):
    """Every way in which Prism says no."""

    INVALID_ARGUMENT = "invalid_argument"
    EMPTY_QUERY = "empty_query"
    QUERY_TOO_LONG = "query_too_long"
    INVALID_REGEX = "invalid_regex"
    INVALID_CURSOR = "invalid_cursor"
    INVALID_PATH = "invalid_path"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    REPO_NOT_FOUND = "repo_not_found"
    REPO_AMBIGUOUS = "repo_ambiguous"
    REPO_NOT_INDEXED = "repo_not_indexed"
    FILE_NOT_FOUND = "file_not_found"
    FILE_SKIPPED = "file_skipped"
    SYMBOL_NOT_FOUND = "symbol_not_found"
    SYMBOL_AMBIGUOUS = "symbol_ambiguous"
    COMPONENT_NOT_FOUND = "component_not_found"
    GRAPH_NOT_BUILT = "graph_not_built"
    JOB_NOT_FOUND = "job_not_found"
    JOB_ABANDONED = "job_abandoned"
    REF_NOT_FOUND = "ref_not_found"
    CLONE_REFUSED = "clone_refused"
    CLONE_FAILED = "clone_failed"
    SOURCE_NOT_FOUND = "source_not_found"
    SOURCE_UNREADABLE = "source_unreadable"
    SOURCE_EMPTY = "source_empty"
    SNAPSHOT_CONFLICT = "snapshot_conflict"
    BASE_MISMATCH = "base_mismatch"
    DIFF_NOT_APPLICABLE = "diff_not_applicable"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    SCIP_INVALID = "scip_invalid"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    UPLOAD_MISMATCH = "upload_mismatch"
    RATE_LIMITED = "rate_limited"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    UNAVAILABLE = "unavailable"
    MODEL_MISMATCH = "model_mismatch"
    PARSE_FAILED = "parse_failed"
    MESSAGE_INVALID = "message_invalid"
    INTERNAL = "internal"


HTTP_STATUS: dict[ErrorCode, int] = {
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.REPO_NOT_FOUND: 404,
    ErrorCode.FILE_NOT_FOUND: 404,
    ErrorCode.SYMBOL_NOT_FOUND: 404,
    ErrorCode.COMPONENT_NOT_FOUND: 404,
    ErrorCode.JOB_NOT_FOUND: 404,
    ErrorCode.JOB_ABANDONED: 409,
    ErrorCode.REF_NOT_FOUND: 404,
    ErrorCode.SOURCE_NOT_FOUND: 404,
    ErrorCode.REPO_AMBIGUOUS: 409,
    ErrorCode.REPO_NOT_INDEXED: 409,
    ErrorCode.SYMBOL_AMBIGUOUS: 409,
    ErrorCode.SNAPSHOT_CONFLICT: 409,
    ErrorCode.BASE_MISMATCH: 409,
    ErrorCode.DIFF_NOT_APPLICABLE: 409,
    ErrorCode.PAYLOAD_TOO_LARGE: 413,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: 415,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.INTERNAL: 500,
    ErrorCode.CLONE_FAILED: 502,
    ErrorCode.UNAVAILABLE: 503,
    ErrorCode.GRAPH_NOT_BUILT: 503,
    ErrorCode.DEADLINE_EXCEEDED: 504,
}
HTTP_STATUS_DEFAULT = 400


class ErrorBody(Message):
    """An error as it crosses a border."""

    code: ErrorCode
    message: str
    # What the caller can do now, in one sentence.
    next_action: str = ""
    # Facts that help to choose: names that exist, a limit, the nearest matches.
    details: dict[str, object] = {}


class PrismError(Exception):
    """An answer that says no. Raised anywhere, told to the caller at the edge."""

    def __init__(self, code: ErrorCode, message: str, next_action: str = "", **details: object) -> None:
        super().__init__(message)
        self.body = ErrorBody(code=code, message=message, next_action=next_action, details=details)

    @property
    def code(self) -> ErrorCode:
        """The contract part of the error."""
        return self.body.code


def http_status(code: ErrorCode) -> int:
    """The HTTP status that carries an error code."""
    return HTTP_STATUS.get(code, HTTP_STATUS_DEFAULT)


def reason_of(error: BaseException) -> str:
    """What an error says, or of what type it is if it says nothing, as a timeout does."""
    return str(error) or type(error).__name__
