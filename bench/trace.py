"""`python -m bench.trace`: where the time of one question goes, from its trace.

Starts a stack that exports its spans, takes them in on a port of its own, asks, and prints the trace of the question that
took the median time. Tracing costs time itself: compare parts, and take whole times from `make bench`.
"""

import argparse
import asyncio
import os
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from bench import measure_index
from bench.corpus import Corpus, make_corpus
from bench.main import SEED
from bench.measure_search import HITS, WARM_UP, call_tool, mcp_client
from bench.questions import make_questions
from bench.stack import Stack, running_stack

ENDPOINT = "PRISM_OTLP_ENDPOINT"
# The exporters send every five seconds.
EXPORT_SECONDS_MAX = 30.0
POLL_S = 0.2
ROOT = b""


class Span(NamedTuple):
    """A span of one service. Times in milliseconds since the epoch."""

    trace: bytes
    id: bytes
    parent: bytes
    service: str
    name: str
    start: float
    end: float


@dataclass(frozen=True)
class Line:
    """A span in the output."""

    depth: int
    span: Span
    own: float  # milliseconds that no child span covers


class Collector(ThreadingHTTPServer):
    """Receives spans by OTLP over HTTP."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Span] = []

    @property
    def url(self) -> str:
        """The reply to exporters."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        """`/v1/traces`."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.spans += _spans(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.end_headers()
        self.wfile.write(ExportTraceServiceResponse().SerializeToString())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Logs nothing: the table is the output."""


def main() -> None:
    """Measure, and print the result."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="prism-trace-") as folder, _collector() as collector:
        corpus = make_corpus(Path(folder) / "corpus", options.files)
        os.environ[ENDPOINT] = collector.url
        with running_stack(Path(folder) / "data") as stack:
            asyncio.run(_ask(stack, corpus, options.questions, collector))
            traces = _wait_for(collector, options.questions)
    for line in lines(_median(traces)):
        print(f"{'  ' * line.depth + line.span.service + ': ' + line.span.name:72}{line.span.end - line.span.start:8.2f} ms, own {line.own:6.2f}")  # fmt: skip


def lines(spans: Sequence[Span]) -> Iterator[Line]:
    """Returns the spans of a trace from the root down, in order of time."""
    known = {span.id for span in spans}
    children: dict[bytes, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: span.start):
        children[span.parent if span.parent in known else ROOT].append(span)

    def below(parent: bytes, depth: int) -> Iterator[Line]:
        for span in children[parent]:
            inner = list(below(span.id, depth + 1))
            yield Line(depth, span, _own(span, [line.span for line in inner]))
            yield from inner

    return below(ROOT, 0)


def _own(span: Span, inner: Sequence[Span]) -> float:
    """Returns milliseconds of a span that no child covers."""
    own, reached = 0.0, span.start
    for other in sorted(inner, key=lambda other: other.start):
        own += max(0.0, min(other.start, span.end) - reached)
        reached = max(reached, min(other.end, span.end))
    return own + span.end - reached


@contextmanager
def _collector() -> Iterator[Collector]:
    collector = Collector()
    thread = threading.Thread(target=collector.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        collector.shutdown()
        thread.join()


async def _ask(stack: Stack, corpus: Corpus, count: int, collector: Collector) -> None:
    await measure_index.first_index(stack, corpus)
    async with mcp_client(stack.target) as client:
        for number, question in enumerate(make_questions(corpus, count + WARM_UP, SEED)):
            if number == WARM_UP:
                await asyncio.sleep(EXPORT_SECONDS_MAX / 4)  # earlier spans are exported and discarded
                collector.spans.clear()
            await call_tool(client, "search_code", query=question, limit=HITS)


def _wait_for(collector: Collector, count: int) -> list[list[Span]]:
    """Returns the traces that arrived, complete as far as known: until one per question has ended in the
    gateway.
    """
    deadline = time.monotonic() + EXPORT_SECONDS_MAX
    while True:
        traces = _by_trace(collector.spans)
        if len(traces) >= count or time.monotonic() > deadline:
            return traces
        time.sleep(POLL_S)


def _by_trace(spans: Sequence[Span]) -> list[list[Span]]:
    traces: dict[bytes, list[Span]] = defaultdict(list)
    for span in list(spans):
        traces[span.trace].append(span)
    services = ("prism-gateway", "prism-search")
    return [trace for trace in traces.values() if {*services} <= {span.service for span in trace}]


def _median(traces: Sequence[Sequence[Span]]) -> Sequence[Span]:
    if not traces:
        raise SystemExit("No traces arrived: the stack does not export them, or cannot reach the collector.")
    ordered = sorted(traces, key=lambda spans: max(s.end for s in spans) - min(s.start for s in spans))
    return ordered[len(ordered) // 2]


def _spans(request: ExportTraceServiceRequest) -> Iterator[Span]:
    for resource in request.resource_spans:
        names = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Span(
                    span.trace_id,
                    span.span_id,
                    span.parent_span_id,
                    names.get("service.name", "?"),
                    span.name,
                    span.start_time_unix_nano / 1e6,
                    span.end_time_unix_nano / 1e6,
                )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="trace", description=__doc__)
    parser.add_argument("--files", type=int, default=1_330, help="size of the corpus (default 1,330)")
    parser.add_argument("--questions", type=int, default=41, help="questions (default 41)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
