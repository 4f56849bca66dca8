"""A line in the log for each call, with what it cost and how it ended; never a token or source code.

Calls that are refused before any work was done can come by the thousand, so of those of a kind one a minute is
logged, and then how many more came.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from starlette.types import Scope

from prism_contracts.accounting import CallSource
from prism_contracts.errors import ErrorCode
from prism_gateway.accounting.facts import FACTS_KEY, CallFacts, source_of
from prism_gateway.accounting.history import QUERY_CHARS_MAX
from prism_gateway.accounting.traced_calls import TRACE_KEY
from prism_gateway.callers import STATE_KEY as CALLER_KEY
from prism_gateway.callers import Caller
from prism_gateway.rest.errors import CODES_BY_STATUS, ERROR_STATUS_MIN
from prism_runtime.metrics import OK, SERVER_ERROR_MIN
from prism_runtime.telemetry import line_fields

LOGGED_PATHS = ("/api", "/mcp")
# As nginx logs a request whose client left before its answer.
STATUS_LEFT = 499
CANCELLED = "cancelled"
SUMMED_UP_S = 60.0
# Kinds of refused calls that are counted at once; calls of further kinds are logged as they come.
KINDS_MAX = 1_000
REFUSED = frozenset({ErrorCode.UNAUTHENTICATED, ErrorCode.RATE_LIMITED, ErrorCode.FORBIDDEN})
# The fields of a search by the steps whose milliseconds they sum up.
TIMES: Mapping[str, tuple[str, ...]] = {
    "cache_time_ms": ("cache",),
    "embedding_time_ms": ("embed",),
    "search_time_ms": ("legs", "fuse", "files"),
    "rank_time_ms": ("rank",),
    "rerank_time_ms": ("rerank",),
    "context_time_ms": ("assemble",),
}

log = logging.getLogger(__name__)


class CallLog:
    """Writes the line of each call of REST, MCP and the console."""

    def __init__(self, redacted: Callable[[str], str] | None) -> None:
        """`redacted` removes secrets from a question before it is logged; None: only its length is logged."""
        self._redacted = redacted
        self._refusals = Refusals()

    def write(self, scope: Scope, route: str, status: int, seconds: float) -> None:
        """Log a request that is over. `route` is its method and template."""
        if not log.isEnabledFor(logging.INFO):
            return
        state = scope["state"]
        caller, facts = state.get(CALLER_KEY), state.get(FACTS_KEY) or CallFacts()
        # A page of the console is a call of somebody who is signed in. Its assets and the sign-in are none.
        if not scope["path"].startswith(LOGGED_PATHS) and not facts.call:
            return
        code = facts.code or _code_of(status)
        is_refused = code in REFUSED or (caller is None and code != OK)
        if is_refused and not self._refusals.is_news(caller.tenant if caller else "", code):
            return
        fields = self._fields(state, caller, facts)
        source = source_of(scope["path"])
        called = {"tool": facts.tool} if facts.tool and source is CallSource.MCP else {"route": route}
        log.info(
            "call",
            extra=line_fields(
                source=source.value,
                **called,
                **fields,
                status=status,
                code=code,
                total_ms=round(1000 * seconds, 2),
            ),
        )

    def _fields(self, state: Mapping[str, Any], caller: Caller | None, facts: CallFacts) -> dict[str, Any]:
        fields: dict[str, Any] = {"tenant": caller.tenant, "caller": caller.id} if caller else {}
        if facts.repo:
            fields["repo"] = facts.repo
        if facts.corpus_version is not None:
            fields |= {"cache_hit": facts.cached, "corpus_version": facts.corpus_version}
        if facts.query:
            fields |= self._fields_of_search(facts)
        if trace_id := state.get(TRACE_KEY):
            fields["trace_id"] = trace_id
        return fields

    def _fields_of_search(self, facts: CallFacts) -> dict[str, Any]:
        shown = {"query": self._redacted(facts.query)[:QUERY_CHARS_MAX]} if self._redacted else {}
        times = {
            name: round(sum(facts.timings_ms.get(step, 0.0) for step in steps), 2)
            for name, steps in TIMES.items()
            if any(step in facts.timings_ms for step in steps)
        }
        return {"results_count": len(facts.hits), "query_chars": len(facts.query), **shown, **times}


class Refusals:
    """Refused calls by tenant and code, in the current minute of each."""

    def __init__(self) -> None:
        self._more: dict[tuple[str, str], int] = {}

    def is_news(self, tenant: str, code: str) -> bool:
        """Count a refused call. Returns whether it is the first of its kind in its minute."""
        kind = (tenant, code)
        if kind in self._more:
            self._more[kind] += 1
            return False
        if len(self._more) < KINDS_MAX:
            self._more[kind] = 0
            asyncio.get_running_loop().call_later(SUMMED_UP_S, self.sum_up, kind)
        return True

    def sum_up(self, kind: tuple[str, str]) -> None:
        """Log how many more came, at the end of the minute."""
        if more := self._more.pop(kind, 0):
            tenant, code = kind
            known = {"tenant": tenant} if tenant else {}
            log.info(
                "more calls refused",
                extra=line_fields(**known, code=code, calls=more, seconds=SUMMED_UP_S),
            )


def _code_of(status: int) -> str:
    if status < ERROR_STATUS_MIN:
        return OK
    if status == STATUS_LEFT:
        return CANCELLED
    other = ErrorCode.INVALID_ARGUMENT if status < SERVER_ERROR_MIN else ErrorCode.INTERNAL
    return CODES_BY_STATUS.get(status, other).value
