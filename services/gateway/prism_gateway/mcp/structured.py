"""Whether a client gets structured content. By default, it gets the text only.

Most agents' clients pass on `structuredContent` and drop the text if a result has both, so the agent would pay for JSON
that repeats each field name. docs/decisions/0034-text-only-answers.md names these clients.
"""

from starlette.requests import HTTPConnection

PARAMETER = "structured"
HEADER = "x-prism-structured"
TRUE = frozenset({"1", "true", "yes"})


def wants_structured(request: HTTPConnection) -> bool:
    """Whether the URL or a header asks for structured content and output schemas."""
    asked = (request.query_params.get(PARAMETER, ""), request.headers.get(HEADER, ""))
    return any(value.strip().lower() in TRUE for value in asked)
