"""Metrics that every service has, and what the metrics of services share.

A class per concern registers its metrics in the registry that it is given: that of the process in a service, an
own one in a test. `make docs` lists them in docs/metrics.md.

Labels are few and fixed: methods, tools, templates of routes, error codes. A tenant, a repository, a path or a
query is never a label, because each new value would be a time series that is kept.
"""

from collections.abc import Callable, Mapping

from opentelemetry import trace
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from prism_contracts.errors import ErrorCode, http_status

OK = "ok"
OTHER = "other"  # the label of every value that is not in a fixed list
SERVER_ERROR_MIN = 500
CALL_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60)
# Counters with these labels start at 0: Prometheus sees no increase in a series that begins at 1.
OUTCOMES = (OK, *(code.value for code in ErrorCode if http_status(code) >= SERVER_ERROR_MIN))


def exemplar() -> dict[str, str] | None:
    """Returns the id of the current trace, for an observation of a histogram; None if it is not exported."""
    span = trace.get_current_span().get_span_context()
    return {"trace_id": f"{span.trace_id:032x}"} if span.is_valid and span.trace_flags.sampled else None


class ReleaseMetrics:
    """The version of the process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._info = Gauge(
            "prism_build_info",
            "Always 1; the version of Prism and the revision that it was built from are labels.",
            ["version", "revision"],
            registry=registry,
        )

    def show(self, version: str, revision: str) -> None:
        """Show what runs. `revision` may be empty."""
        self._info.labels(version, revision).set(1)


class ReadyMetrics:
    """The checks of `/readyz`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._ready = Gauge(
            "prism_ready",
            "Checks of `/readyz`, optional ones too: 1 passes, 0 fails.",
            ["check"],
            registry=registry,
        )

    def show(self, results: Mapping[str, str]) -> None:
        """Show the results of all checks: `ok` or a reason by name."""
        for check, result in results.items():
            self._ready.labels(check).set(result == OK)


class ConnectionMetrics:
    """The connection to NATS, and what this service follows through it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._reconnects = Counter(
            "prism_nats_reconnects",
            "Times that the connection to NATS was lost and made again.",
            registry=registry,
        )
        self._heard = Gauge(
            "prism_records_heard_seconds",
            "Seconds since a followed bucket brought an entry, or since NATS confirmed that none is missing.",
            ["bucket"],
            registry=registry,
        )

    def count_reconnect(self) -> None:
        """Count a reconnect."""
        self._reconnects.inc()

    def show_heard(self, bucket: str, unheard_s: Callable[[], float]) -> None:
        """Show a bucket that is followed from now on."""
        self._heard.labels(bucket).set_function(unheard_s)


class DiskMetrics:
    """The disk of NATS and the store. Made only where it is known."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._free = Gauge(
            "prism_disk_free_bytes",
            "Free bytes on the disk of `PRISM_DISK_DIR`; missing where that is not set.",
            registry=registry,
        )

    def show(self, free_bytes: Callable[[], float]) -> None:
        """Show the free space from now on."""
        self._free.set_function(free_bytes)


class RpcMetrics:
    """Requests over NATS that this service answered. An error is an answer like any other."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._answers = Counter(
            "prism_rpc_answers",
            "Answered requests over NATS by method (`search.grep`) and code: ok, or the error code.",
            ["method", "code"],
            registry=registry,
        )
        self._seconds = Histogram(
            "prism_rpc_seconds",
            "Seconds that a service worked on a request over NATS, by method; errors included.",
            ["method"],
            registry=registry,
            buckets=CALL_BUCKETS_S,
        )

    def begin(self, method: str) -> None:
        """Show a method that is now served."""
        self._seconds.labels(method)
        for code in OUTCOMES:
            self._answers.labels(method, code)

    def observe(self, method: str, code: str, seconds: float) -> None:
        """Count an answer."""
        self._answers.labels(method, code).inc()
        self._seconds.labels(method).observe(seconds, exemplar())
