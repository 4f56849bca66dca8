"""One question is one trace: from HTTP over NATS to Qdrant, across all processes."""

import http.server
import threading
import time
from collections import defaultdict
from collections.abc import Iterator

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from running_stack import CALL_SECONDS_MAX, POLL_S, WAIT_SECONDS_MAX, RunningStack

Spans = dict[str, set[tuple[str, str]]]  # trace id -> (service, span)


class Collector:
    """An OTLP/HTTP collector that records the spans of each service by trace."""

    def __init__(self) -> None:
        self.spans: Spans = defaultdict(set)
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def take(self, request: ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            names = {item.key: item.value.string_value for item in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans[span.trace_id.hex()].add((names["service.name"], span.name))


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.server.shutdown()


def is_whole(trace: set[tuple[str, str]]) -> bool:
    by_service: dict[str, set[str]] = defaultdict(set)
    for service, name in trace:
        by_service[service].add(name)
    return (
        any("/api/v1/search" in name for name in by_service["prism-gateway"])
        and any("prism.rpc.search.search" in name for name in by_service["prism-search"])
        and "qdrant ask_legs" in by_service["prism-search"]
    )


def test_a_question_is_one_trace_through_all_services(collector, tmp_path, make_repo) -> None:
    stack = RunningStack(tmp_path / "data", PRISM_OTLP_ENDPOINT=collector.url)
    stack.up()
    try:
        stack.index(make_repo().folder, "--name", "traced/repo")
        with httpx2.Client(timeout=CALL_SECONDS_MAX) as http:
            answer = http.post(
                f"{stack.url}/api/v1/search", json={"query": "parcel"}, headers=stack.headers()
            )
        assert answer.status_code == 200, answer.text
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not any(is_whole(trace) for trace in list(collector.spans.values())):
            assert time.monotonic() < deadline, dict(collector.spans)
            time.sleep(POLL_S)
    finally:
        stack.down()
