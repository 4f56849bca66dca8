"""Metrics of the tools."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram

from prism_runtime.metrics import CALL_BUCKETS_S, OTHER, OUTCOMES, exemplar

CANCELLED = "cancelled"


class ToolMetrics:
    """Calls of tools by name, and how long they took."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter(
            "prism_mcp_calls",
            "Calls of tools (`other`: unknown names) by outcome: ok, the error code, or cancelled (the client "
            "left before its answer).",
            ["tool", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "prism_mcp_call_seconds",
            "Seconds from the call of a tool until its answer, by tool; errors included.",
            ["tool"],
            registry=registry,
            buckets=CALL_BUCKETS_S,
        )
        self._tools: frozenset[str] = frozenset()

    def begin(self, tools: Iterable[str]) -> None:
        """Show the tools that can be called."""
        self._tools = frozenset(tools)
        for tool in self._tools:
            self._seconds.labels(tool)
            for outcome in OUTCOMES:
                self._calls.labels(tool, outcome)

    def observe(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a call."""
        known = tool if tool in self._tools else OTHER
        self._calls.labels(known, outcome).inc()
        self._seconds.labels(known).observe(seconds, exemplar())
