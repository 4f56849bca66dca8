"""Metrics of ingest."""

import math
import time
from collections import Counter as Count
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Job, Layer, LayerKind
from prism_ingest.core import push_seconds
from prism_ingest.core.jobs import ChangeSource, source_of
from prism_ingest.core.queues import Queue, QueueState, StreamState
from prism_runtime import tracing
from prism_runtime.metrics import OK

PUSH_STEPS = ("wait", "fetch", "plan", "index", "total")
GIT_OPERATIONS = ("clone", "fetch", "refs")
GIT_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)
PUSH_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)


class PushMetrics:
    """How long changes take until they are searchable."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._searchable = Histogram(
            "prism_searchable_seconds",
            "Seconds from a change until it is searchable, by its source: push (also one that a poll found), edit, "
            "overlay, upload, clone (an import that was asked for).",
            ["source"],
            registry=registry,
            buckets=PUSH_BUCKETS_S,
        )
        self._seconds = Histogram(
            "prism_push_seconds",
            "Seconds from the notification of a push until it is searchable, by step (wait, fetch, plan, "
            "index; total) and lane.",
            ["step", "lane"],
            registry=registry,
            buckets=PUSH_BUCKETS_S,
        )
        for source in ChangeSource:
            self._searchable.labels(source.value)
        for step in PUSH_STEPS:
            for lane in Lane:
                self._seconds.labels(step, lane.value)

    def observe(self, job: Job) -> None:
        """Count a job whose result is searchable since its end."""
        if job.pushed_at:
            for step, seconds in push_seconds(job):
                self._seconds.labels(step, job.lane.value).observe(seconds)
        source = source_of(job)
        if source and job.finished_at:
            seconds = (job.finished_at - (job.pushed_at or job.created_at)).total_seconds()
            self._searchable.labels(source.value).observe(seconds)


class PollMetrics:
    """Counts polls of git servers by outcome."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._polls = Counter(
            "prism_polls",
            "Polls of git servers by outcome: same, behind (starts an import), or the error code.",
            ["outcome"],
            registry=registry,
        )

    def count(self, outcome: str) -> None:
        """Count one poll."""
        self._polls.labels(outcome).inc()


class LayerMetrics:
    """The numbers of layers, their files and variants, and of deleted variants."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._layers = Gauge(
            "prism_layers",
            "Layers by kind (branch, pull_request, overlay), counted by the last sweep.",
            ["kind"],
            registry=registry,
        )
        self._changed = Gauge(
            "prism_layer_files",
            "Overrides of layers; a file counts in each of its layers.",
            registry=registry,
        )
        self._variants = Gauge("prism_variants", "Distinct file contents of layers.", registry=registry)
        self._swept = Counter(
            "prism_variants_swept",
            "Unused file contents that were deleted.",
            registry=registry,
        )

    def show(self, layers: Iterable[Layer], variants: Iterable[Sized]) -> None:
        """Show the numbers that a sweep found."""
        known = list(layers)
        by_kind = Count(layer.kind for layer in known)
        for kind in LayerKind:
            self._layers.labels(kind.value).set(by_kind[kind])
        self._changed.set(sum(layer.files_changed for layer in known))
        self._variants.set(sum(map(len, variants)))

    def count_swept(self, variants: int) -> None:
        """Count variants that a sweep deleted."""
        self._swept.inc(variants)


class QueueMetrics:
    """What waits for each stage, and the streams that hold it. Values that cannot be read are not shown."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def of_queue(name: str, meaning: str) -> Gauge:
            return Gauge(name, meaning, ["stage", "lane"], registry=registry)

        def of_stream(name: str, meaning: str) -> Gauge:
            return Gauge(name, meaning, ["stream"], registry=registry)

        self._pending = of_queue("prism_queue_pending", "Messages that wait for a stage.")
        self._in_flight = of_queue("prism_queue_in_flight", "Messages that a stage received and did not ack.")
        self._redelivered = of_queue(
            "prism_queue_redelivered", "Messages in flight that were delivered before."
        )
        self._oldest = of_queue(
            "prism_queue_oldest_seconds", "Age of the oldest message that is not acked; 0: there is none."
        )
        self._bytes = of_stream("prism_stream_bytes", "Bytes that a stream or bucket holds.")
        self._limit = of_stream(
            "prism_stream_bytes_limit", "Bytes that a stream or bucket may hold; 0: any number."
        )
        self._replicas = of_stream("prism_stream_replicas", "Configured copies of a stream or bucket.")
        self._current = of_stream(
            "prism_stream_replicas_current", "Copies with all messages, the leader among them."
        )
        self._has_leader = of_stream(
            "prism_stream_has_leader", "1: a server leads the stream; 0: it can be neither read nor written."
        )
        self._of_stream = (self._bytes, self._limit, self._replicas, self._current, self._has_leader)
        self._kept = Gauge(
            "prism_dead_letters_kept", "Dead letters that are stored; NaN: unknown.", registry=registry
        )
        self._deep = Gauge(
            "prism_deep_pending",
            "Requests for vectors of the deep model that are not answered yet; NaN: unknown.",
            registry=registry,
        )
        self.show_kept(None)
        self.show_deep(None)

    def show_queues(self, queues: Mapping[Queue, QueueState]) -> None:
        """Show these queues only; none: they are unknown."""
        for gauge in (self._pending, self._in_flight, self._redelivered, self._oldest):
            gauge.clear()
        for queue, state in queues.items():
            self._pending.labels(*queue).set(state.pending)
            self._in_flight.labels(*queue).set(state.in_flight)
            self._redelivered.labels(*queue).set(state.redelivered)
            self._oldest.labels(*queue).set(state.oldest_s)

    def show_streams(self, streams: Iterable[StreamState]) -> None:
        """Show these streams only. Of one without a leader, nothing else is known."""
        for gauge in self._of_stream:
            gauge.clear()
        for stream in streams:
            self._has_leader.labels(stream.name).set(stream.has_leader)
            if stream.has_leader:
                self._bytes.labels(stream.name).set(stream.bytes)
                self._limit.labels(stream.name).set(stream.bytes_limit)
                self._replicas.labels(stream.name).set(stream.replicas)
            self._current.labels(stream.name).set(stream.replicas_current)

    def show_kept(self, letters: int | None) -> None:
        """Show how many dead letters are stored."""
        self._kept.set(math.nan if letters is None else letters)

    def show_deep(self, requests: int | None) -> None:
        """Show how many requests for deep vectors wait."""
        self._deep.set(math.nan if requests is None else requests)


class DeadLetterMetrics:
    """Messages that a stage gave up on."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._letters = Counter(
            "prism_dead_letters",
            "Messages that were given up, by consumer and error code.",
            ["consumer", "code"],
            registry=registry,
        )

    def count(self, consumer: str, code: str) -> None:
        """Count a dead letter."""
        self._letters.labels(consumer, code).inc()


class RunningJobs(NamedTuple):
    """The jobs that run at a moment."""

    by_kind: Mapping[str, int]
    oldest_s: float  # since the oldest began; 0 if none runs


class JobMetrics:
    """The jobs that run, by what they import into."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._running = Gauge(
            "prism_jobs_running",
            "Jobs that run or wait to fetch, by what they import into (base, branch, pull_request, overlay).",
            ["kind"],
            registry=registry,
        )
        self._oldest = Gauge(
            "prism_job_oldest_seconds",
            "Seconds since the oldest running job began; 0: none runs; NaN: unknown.",
            registry=registry,
        )
        self._oldest.set(math.nan)

    def show(self, jobs: RunningJobs | None) -> None:
        """Show these jobs; None: they are unknown."""
        self._running.clear()
        self._oldest.set(math.nan if jobs is None else jobs.oldest_s)
        if jobs is not None:
            for kind in (BASE_LAYER, *LayerKind):
                self._running.labels(str(kind)).set(jobs.by_kind.get(kind, 0))


class GitMetrics:
    """What git did with remote repositories. Its methods may be called by any thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._operations = Counter(
            "prism_git_operations",
            "Calls of git to remote repositories by operation (clone, fetch, refs) and outcome: ok, or the error "
            "code.",
            ["operation", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "prism_git_seconds",
            "Seconds of calls of git to remote repositories, by operation; failed ones included.",
            ["operation"],
            registry=registry,
            buckets=GIT_BUCKETS_S,
        )
        for operation in GIT_OPERATIONS:
            self._seconds.labels(operation)
            self._operations.labels(operation, OK)
            self._operations.labels(operation, ErrorCode.CLONE_FAILED.value)

    @contextmanager
    def measure(self, operation: str) -> Iterator[None]:
        """Count a call, and how it ends."""
        began, outcome = time.perf_counter(), ErrorCode.INTERNAL.value
        try:
            with tracing.span(f"git {operation}", kind=tracing.CLIENT):
                yield
            outcome = OK
        except PrismError as error:
            outcome = error.code.value
            raise
        finally:
            self._operations.labels(operation, outcome).inc()
            self._seconds.labels(operation).observe(time.perf_counter() - began)


class LeaseMetrics:
    """Which tasks this copy of ingest does for all."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._held = Gauge(
            "prism_leases_held",
            "Tasks of which one copy at a time does the rounds (poll, sweep, remove-tenants): 1 if this copy did the "
            "last one that it tried.",
            ["name"],
            registry=registry,
        )

    def show(self, name: str, *, is_held: bool) -> None:
        """Show whether this copy held a lease when it last tried."""
        self._held.labels(name).set(is_held)
