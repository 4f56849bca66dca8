"""The error for callers whose request needs NATS while it has an outage."""

import logging
from typing import Final

from nats.errors import TimeoutError as NatsTimeoutError

from prism_contracts.errors import ErrorBody, ErrorCode
from prism_runtime.rpc import OUTAGES

# A node died, a stream or bucket has no leader yet, or the connection was lost.
NATS_OUTAGES: Final[tuple[type[Exception], ...]] = (*OUTAGES, NatsTimeoutError)

log = logging.getLogger(__name__)


def outage_body(error: Exception) -> ErrorBody:
    """Returns the error to report for one of NATS_OUTAGES."""
    log.warning("NATS failed during a request: %r", error)
    return ErrorBody(
        code=ErrorCode.UNAVAILABLE,
        message="NATS does not answer.",
        next_action="Retry in a few seconds. `prism status` shows what is running.",
    )
