"""One question is one trace, and so is a push from its webhook to the graph, across all processes."""

import http.server
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
from forge import Forge
from git_server import git_server
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from running_stack import CALL_SECONDS_MAX, POLL_S, WAIT_SECONDS_MAX, RunningStack

CLIENTS_TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{CLIENTS_TRACE}-b7ad6b7169203331-01"
COLLECTOR_TOKEN = "of-the-collector"
PUSHED = "forge/traced"
# Words, subjects, template of routes: no id, no hash, no inbox, no repository.
LOW_CARDINALITY = re.compile(r"[A-Z]* ?(/[a-z_{}:/0-9.-]*)?|[a-z][a-z_ .-]*")


class Span(NamedTuple):
    """A span that was exported."""

    id: str
    parent: str
    service: str
    name: str
    attributes: dict[str, object]
    links: tuple[str, ...]  # ids of traces


class Collector:
    """An OTLP/HTTP collector that keeps the spans by trace."""

    def __init__(self) -> None:
        self.traces: dict[str, list[Span]] = {}
        self.resources: list[dict[str, str]] = []
        self.authorizations: set[str | None] = set()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.authorizations.add(self.headers["Authorization"])
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

    @property
    def spans(self) -> list[Span]:
        return [span for trace in list(self.traces.values()) for span in list(trace)]

    def take(self, request: ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            names = {item.key: item.value.string_value for item in resource.resource.attributes}
            self.resources.append(names)
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                found = Span(
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    names["service.name"].removeprefix("prism-"),
                    span.name,
                    {
                        item.key: getattr(item.value, item.value.WhichOneof("value"))
                        for item in span.attributes
                    },
                    tuple(link.trace_id.hex() for link in span.links),
                )
                self.traces.setdefault(span.trace_id.hex(), []).append(found)

    def trace(self, is_wanted: Callable[[list[Span]], bool]) -> list[Span]:
        """Returns the first trace of a kind; waits until it is exported."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while True:
            for trace in list(self.traces.values()):
                if is_wanted(trace):
                    return trace
            assert time.monotonic() < deadline, sorted({(span.service, span.name) for span in self.spans})
            time.sleep(POLL_S)


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.server.shutdown()


@pytest.fixture(scope="module")
def stack(collector: Collector, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    made = RunningStack(
        tmp_path_factory.mktemp("traced") / "data",
        PRISM_OTLP_ENDPOINT=collector.url,
        PRISM_OTLP_HEADERS=f"Authorization=Bearer {COLLECTOR_TOKEN}",
        PRISM_ENVIRONMENT="test",
        PRISM_TRACE_IMPORTED_FILES="1",
        PRISM_CLONE_ALLOW_PRIVATE="true",
        PRISM_CLONE_SCHEMES="https,http",
    )
    made.up()
    yield made
    made.down()


@pytest.fixture(scope="module")
def forge(stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    root: Path = tmp_path_factory.mktemp("forge")
    (root / "served").mkdir()
    with git_server(root / "served") as url:
        yield Forge(root, url, stack)


def search(stack: RunningStack, query: str, **headers: str) -> httpx2.Response:
    with stack.http(**headers) as http:
        return http.post("/api/v1/search", json={"query": query, "repo": PUSHED}, timeout=CALL_SECONDS_MAX)


def of(trace: list[Span], service: str) -> dict[str, Span]:
    return {span.name: span for span in trace if span.service == service}


async def test_a_push_is_one_trace_from_its_webhook_to_the_graph(collector: Collector, forge: Forge) -> None:
    repo = forge.repository(PUSHED)
    repo.write({"bank/pushed.py": "def pushed_and_traced():\n    return 1\n"})
    repo.commit()
    commit = forge.push(repo)
    assert forge.post(forge.payload(PUSHED, commit)).status_code == 202
    await forge.indexed(PUSHED, commit)

    def is_whole(trace: list[Span]) -> bool:
        """Whether the graph was built, and the spans around it, which end later, have arrived too."""
        names = {(span.service, span.name) for span in trace}
        return ("atlas", "build graph") in names and roots(trace) == ["POST /api/v1/ingest/webhook"]

    trace = collector.trace(is_whole)
    services = {
        service: of(trace, service) for service in ("ingest", "chunker", "embedder", "indexer", "atlas")
    }
    assert {
        "process prism.live.push.received",
        "process prism.live.clone.requested",
        "git fetch",
        "list commit",
        "plan import",
        "publish prism.live.file.changed",
        "process prism.live.files.settled",
        "end import",
        "publish prism.live.repo.indexed",
    } <= services["ingest"].keys()
    assert {"process prism.live.file.changed", "parse"} <= services["chunker"].keys()
    assert {"process prism.live.file.chunked", "embed files", "embed"} <= services["embedder"].keys()
    assert {"write files", "qdrant write", "settle files"} <= services["indexer"].keys()
    parse, write = services["chunker"]["parse"], services["indexer"]["qdrant write"]
    assert parse.attributes["project_id"] == "default"
    assert parse.attributes["prism.job"] == services["ingest"]["end import"].attributes["prism.job"]
    assert write.attributes["prism.files"] == 1


def roots(trace: list[Span]) -> list[str]:
    """Returns the names of the spans whose parent has not arrived."""
    known = {span.id for span in trace}
    return [span.name for span in trace if span.parent not in known]


def test_a_question_is_one_trace_to_the_legs_and_continues_that_of_its_caller(
    collector: Collector, stack: RunningStack
) -> None:
    answer = search(stack, "withdraw money", traceparent=TRACEPARENT)
    assert answer.headers["X-Prism-Trace-Id"] == CLIENTS_TRACE
    again = search(stack, "withdraw money")
    names = {"POST /api/v1/search"}
    trace = collector.trace(
        lambda found: names <= of(found, "gateway").keys() and "search receipt" in of(found, "search")
    )
    assert trace is collector.traces[CLIENTS_TRACE]
    gateway, found = of(trace, "gateway"), of(trace, "search")
    steps = ("prepare", "cache", "embed", "legs", "fuse", "files", "rank", "assemble", "receipt")
    assert {f"search {step}" for step in steps} <= found.keys()
    below_legs = [span for span in trace if span.parent == found["search legs"].id]
    asked = next(span for span in below_legs if span.name == "qdrant ask_legs")
    assert asked.attributes["db.operation.batch.size"] > 1  # type: ignore[operator]
    receipt = answer.json()["receipt"]
    for span in (gateway["POST /api/v1/search"], found["prism.rpc.search.search"], asked):
        assert span.attributes["project_id"] == "default"
        assert span.attributes["cache_hit"] is False
        assert span.attributes["corpus_version"] == receipt["corpus_version"]
    second = collector.trace(lambda one: one is collector.traces.get(again.headers["X-Prism-Trace-Id"]) and "search receipt" in of(one, "search"))  # fmt: skip
    assert of(second, "search")["search receipt"].attributes["cache_hit"] is True
    assert "search legs" not in of(second, "search")


def test_an_error_quotes_its_trace(stack: RunningStack) -> None:
    answer = search(stack, " ")
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["trace_id"] == answer.headers["X-Prism-Trace-Id"]


def test_a_caller_without_a_token_begins_no_trace(stack: RunningStack, collector: Collector) -> None:
    answer = search(stack, "withdraw money", Authorization="", traceparent=TRACEPARENT.replace("0af", "1af"))
    assert answer.status_code == 401
    assert "X-Prism-Trace-Id" not in answer.headers
    assert CLIENTS_TRACE.replace("0af", "1af") not in collector.traces


def test_names_are_few_and_the_collector_is_authorized(collector: Collector) -> None:
    strange = {span.name for span in collector.spans if not LOW_CARDINALITY.fullmatch(span.name)}
    assert not strange
    assert collector.authorizations == {f"Bearer {COLLECTOR_TOKEN}"}
    assert {resource["deployment.environment.name"] for resource in collector.resources} == {"test"}
