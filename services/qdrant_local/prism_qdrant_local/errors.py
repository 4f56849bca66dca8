"""Refusals: a client's error, with the HTTP status that Qdrant would return."""

from http import HTTPStatus

DAMAGED = "Damaged"


class Refusal(Exception):  # noqa: N818 - it is an answer, not a fault of the server
    """A request that is answered with a status and a sentence instead of a result."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        """Keep `status` for the response line and `message` for `status.error`."""
        super().__init__(message)
        self.status = status


def bad_request(message: str) -> Refusal:
    """400: malformed, unknown or unsupported."""
    return Refusal(HTTPStatus.BAD_REQUEST, message)


def not_found(message: str) -> Refusal:
    """404: no such collection, alias, point or endpoint."""
    return Refusal(HTTPStatus.NOT_FOUND, f"Not found: {message}")


def conflict(message: str) -> Refusal:
    """409: the name is taken."""
    return Refusal(HTTPStatus.CONFLICT, f"Wrong input: {message}")


def invalid(message: str) -> Refusal:
    """422: well-formed, with a value outside its limits."""
    return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"Validation error in JSON body: [{message}]")


# The start of an error message when a file has unexpected contents.
_SCARCITIES = ("No space left", "Too many open files", "Cannot allocate memory")
_DAMAGES = ("Service internal error", "Service runtime error", "Inconsistent storage")


def damaged(message: str) -> Refusal:
    """500: the files of a collection cannot be read. The word in the message tells clients not to retry."""
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, f"{DAMAGED}: {message}")


# The start of an engine message when the request is wrong; all others are faults of the server.
_CLIENT_FAULTS = (
    "Validation failed",
    "Vector dimension error",
    "Not existing vector name",
    "No range index",
    "No appropriate index",
    "Wrong vector",
    "invalid JSON path",
)


def is_damage(error: BaseException) -> bool:
    """Whether an error of the engine means unreadable files, as opposed to a bad request or a lack of
    resources.
    """
    # A panic of the engine is not an `Exception`.
    text = str(error)
    is_scarce = any(reason in text for reason in _SCARCITIES)
    return not is_scarce and (not isinstance(error, Exception) or text.startswith(_DAMAGES))


def refusal_of_engine(error: BaseException) -> Refusal:
    """Map an exception of the engine, which only its text identifies, to Qdrant's status."""
    text = str(error)
    if text.startswith("No point with id"):
        return not_found(f"{text} found")
    if text.startswith(_CLIENT_FAULTS):
        return bad_request(f"Wrong input: {text}")
    return Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, f"Service internal error: {text}")
