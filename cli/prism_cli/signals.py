"""What alerts watch, read from the metrics of a running stack, in the words of the alerts.

In: the text of `/metrics` of each service. Out: sentences, each with its runbook. A test compares the sentences and
limits with `deploy/prometheus/rules/prism.yaml`. Nothing here waits for longer than `ANSWER_SECONDS_MAX` at a time.
"""

import math
import socket
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from prometheus_client.parser import text_string_to_metric_families

from prism_cli import terminal
from prism_cli.client import authorities_for

ANSWER_SECONDS_MAX = 3.0
LOCAL_URL = "http://127.0.0.1"
METRICS_PATH = "/metrics"
HTTPS_PORT = 443
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400


@dataclass(frozen=True, slots=True)
class Signal:
    """A condition that an alert watches. `sentence` has the fields of its labels, and `value`."""

    alert: str
    sentence: str
    runbook: str
    above: float | None = None  # the alert fires above this value

    @property
    def advice(self) -> str:
        """Where to read on."""
        return f"Read docs/runbooks/{self.runbook}.md."

    def text(self, value: object = "", **labels: str) -> str:
        """Returns the sentence."""
        return self.sentence.format(value=value, **labels)


LIVE_QUEUE_DELAYED = Signal(
    "PrismLiveQueueDelayed",
    "The oldest live message of {stage} has waited {value}.",
    "live-queue-delayed",
    above=MINUTE_S,
)
BULK_QUEUE_DELAYED = Signal(
    "PrismBulkQueueDelayed",
    "The oldest bulk message of {stage} has waited {value}.",
    "bulk-queue-delayed",
    above=HOUR_S,
)
QUEUES_UNKNOWN = Signal("PrismQueuesUnknown", "Nothing is known about the queues.", "queues-unknown")
DEAD_LETTERS = Signal("PrismDeadLetters", "{value} dead letters are kept.", "dead-letters")
DISK_LOW = Signal("PrismDiskLow", "{value} are free on the disk of {service}.", "disk-low")
NOT_READY = Signal("PrismNotReady", "A copy of {service} is not ready: {check} fails.", "not-ready")
STREAM_WITHOUT_LEADER = Signal(
    "PrismStreamWithoutLeader", "The stream {stream} has no leader.", "stream-without-leader"
)
STREAM_REPLICAS_BEHIND = Signal(
    "PrismStreamReplicasBehind", "{value} copies of the stream {stream} are behind.", "stream-replicas-behind"
)
GRAPH_BUILDS_FAIL = Signal("PrismGraphBuildsFail", "{value} builds of graphs failed.", "graph-builds-fail")
CERTIFICATE_EXPIRES = Signal(
    "PrismCertificateExpires",
    "The certificate of {certificate} expires in {value}.",
    "certificate-expires",
)
CERTIFICATE_SECONDS_MIN = 14 * DAY_S
SIGNALS = (
    LIVE_QUEUE_DELAYED,
    BULK_QUEUE_DELAYED,
    QUEUES_UNKNOWN,
    DEAD_LETTERS,
    DISK_LOW,
    NOT_READY,
    STREAM_WITHOUT_LEADER,
    STREAM_REPLICAS_BEHIND,
    GRAPH_BUILDS_FAIL,
    CERTIFICATE_EXPIRES,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A signal that is on: what is checked, and the alert's sentence about it."""

    check: str
    signal: Signal
    text: str


class Samples:
    """The samples of one service by name: labels and value. NaN is unknown, and left out."""

    def __init__(self, text: str) -> None:
        self._samples: dict[str, list[tuple[dict[str, str], float]]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if not math.isnan(sample.value):
                    self._samples.setdefault(sample.name, []).append((sample.labels, sample.value))

    def of(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        """Returns the samples of a name."""
        return iter(self._samples.get(name, ()))

    def by(self, name: str, label: str) -> dict[str, float]:
        """Returns values by a label that is different in each sample."""
        return {labels[label]: value for labels, value in self.of(name)}


def read_metrics(ports: Mapping[str, int]) -> dict[str, Samples]:
    """Returns the metrics of the services on this machine that answer."""
    found: dict[str, Samples] = {}
    with httpx2.Client(timeout=ANSWER_SECONDS_MAX, verify=authorities_for(LOCAL_URL)) as http:
        for service, port in ports.items():
            try:
                answer = http.get(f"{LOCAL_URL}:{port}{METRICS_PATH}")
            except httpx2.HTTPError:
                continue
            if answer.status_code != httpx2.codes.OK:
                continue
            # Text that is not metrics comes from another program, which has taken the port of a dead service.
            with suppress(ValueError):
                found[service] = Samples(answer.text)
    return found


def seen_in(metrics: Mapping[str, Samples]) -> Iterable[Seen]:
    """Returns the signals that are on in a stack."""
    for service, of_service in metrics.items():
        for check, value in of_service.by("prism_ready", "check").items():
            if value == 0:
                yield Seen("readiness", NOT_READY, NOT_READY.text(service=service, check=check))
    if ingest := metrics.get("ingest"):
        yield from _queues(ingest)
        yield from _streams(ingest)
    if atlas := metrics.get("atlas"):
        failed = sum(
            value for labels, value in atlas.of("prism_graph_builds_total") if labels["outcome"] == "failed"
        )
        if failed:
            yield Seen("graphs", GRAPH_BUILDS_FAIL, GRAPH_BUILDS_FAIL.text(f"{failed:.0f}"))


def _queues(ingest: Samples) -> Iterable[Seen]:
    oldest = list(ingest.of("prism_queue_oldest_seconds"))
    if not oldest:
        yield Seen("queues", QUEUES_UNKNOWN, QUEUES_UNKNOWN.text())
    signals = {"live": LIVE_QUEUE_DELAYED, "bulk": BULK_QUEUE_DELAYED}
    for labels, seconds in oldest:
        signal = signals[labels["lane"]]
        if signal.above is not None and seconds > signal.above:
            yield Seen("queues", signal, signal.text(span(seconds), stage=labels["stage"]))


def _streams(ingest: Samples) -> Iterable[Seen]:
    current = ingest.by("prism_stream_replicas_current", "stream")
    for stream, value in ingest.by("prism_stream_has_leader", "stream").items():
        if value == 0:
            yield Seen("streams", STREAM_WITHOUT_LEADER, STREAM_WITHOUT_LEADER.text(stream=stream))
    for stream, copies in ingest.by("prism_stream_replicas", "stream").items():
        behind = copies - current.get(stream, 0)
        if behind > 0:
            text = STREAM_REPLICAS_BEHIND.text(f"{behind:.0f}", stream=stream)
            yield Seen("streams", STREAM_REPLICAS_BEHIND, text)


def certificate_seconds(url: str) -> float | None:
    """Returns the seconds until the certificate of an https URL expires, below 0 if it did; None: no https.

    Raises OSError if no connection, or none that can be trusted, is made.
    """
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        return None
    address = (parts.hostname, parts.port or HTTPS_PORT)
    context = ssl.create_default_context()
    with (
        socket.create_connection(address, ANSWER_SECONDS_MAX) as plain,
        context.wrap_socket(plain, server_hostname=parts.hostname) as secured,
    ):
        certificate = secured.getpeercert()
    return ssl.cert_time_to_seconds(str((certificate or {})["notAfter"])) - time.time()


def span(seconds: float) -> str:
    """Returns a time as people say it."""
    for size, unit in ((DAY_S, "days"), (HOUR_S, "h"), (MINUTE_S, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def free(count: float, place: str) -> str:
    """Returns the sentence about a disk."""
    return DISK_LOW.text(terminal.size(count), service=place)
