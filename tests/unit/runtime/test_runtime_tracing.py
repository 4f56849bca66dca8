"""Spans: their facts, their errors, sampling, and nothing at all while tracing is off."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from nats.aio.msg import Msg
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.search import SearchRequest
from prism_runtime import tracing
from prism_runtime.batcher import Batcher
from prism_runtime.exporting import resource, span_provider
from prism_runtime.settings import ServiceSettings
from prism_runtime.traced_messages import TracingMiddleware
from prism_runtime.tracing import Attribute

TRACE = "0af7651916cd43dd8448eb211c80319c"
SENDER = "b7ad6b7169203331"
IMPORTED = "prism.bulk.file.changed"


def recorded(**settings: float) -> InMemorySpanExporter:
    """Turn tracing on, and return what it exports."""
    exporter = InMemorySpanExporter()
    provider = span_provider("test", ServiceSettings(**settings))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use(provider)
    return exporter


@pytest.fixture(autouse=True)
def off_afterwards() -> Iterator[None]:
    yield
    tracing.use(None)


def named(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_without_a_collector_there_are_no_spans() -> None:
    with tracing.call("call", kind=SpanKind.SERVER), tracing.span("step") as span:
        tracing.note({Attribute.CACHE_HIT: True})
        tracing.note_error(ErrorCode.INTERNAL)
        assert not span.is_recording()
        assert tracing.trace_id() == ""
        assert tracing.traceparent() == ""


def test_a_fact_is_on_its_call_and_on_every_later_span_below_it() -> None:
    exporter = recorded()
    with tracing.call("call", {Attribute.PROJECT_ID: "acme"}, kind=SpanKind.SERVER):
        with tracing.span("before"), tracing.span("looks up"):
            tracing.note({Attribute.CACHE_HIT: False})
        with tracing.span("after"):
            pass
    with tracing.span("outside"):
        pass
    spans = named(exporter)
    assert {name: dict(span.attributes or {}) for name, span in spans.items()} == {
        "call": {"project_id": "acme", "cache_hit": False},
        "before": {"project_id": "acme"},
        "looks up": {"project_id": "acme", "cache_hit": False},
        "after": {"project_id": "acme", "cache_hit": False},
        "outside": {},
    }


def test_facts_reach_tasks_that_the_call_starts_and_no_other_call() -> None:
    exporter = recorded()

    async def step(name: str) -> None:
        with tracing.span(name):
            await asyncio.sleep(0)

    async def call(tenant: str) -> None:
        with tracing.call(f"call of {tenant}", kind=SpanKind.SERVER):
            tracing.note({Attribute.PROJECT_ID: tenant})
            await asyncio.gather(step(f"one of {tenant}"), step(f"two of {tenant}"))

    async def both() -> None:
        await asyncio.gather(call("acme"), call("umbrella"))

    asyncio.run(both())
    found = {span.name: (span.attributes or {}).get("project_id") for span in exporter.get_finished_spans()}
    assert found == {f"{what} of {tenant}": tenant for what in ("call", "one", "two") for tenant in ("acme", "umbrella")}  # fmt: skip


def test_a_message_names_tenant_repository_and_job() -> None:
    exporter = recorded()
    with tracing.call("call", kind=SpanKind.SERVER):
        tracing.note_message(SearchRequest(tenant="acme", repo="acme/parcels", query="a secret question"))
    (span,) = exporter.get_finished_spans()
    assert dict(span.attributes or {}) == {"project_id": "acme", "prism.repo": "acme/parcels"}


@pytest.mark.parametrize(
    ("error", "code", "failed"),
    [
        (PrismError(ErrorCode.UNAVAILABLE, "Qdrant is down."), "unavailable", True),
        (PrismError(ErrorCode.REPO_NOT_FOUND, "There is no such repository."), "repo_not_found", False),
        (ValueError("the text of a file"), "internal", True),
    ],
)
def test_an_error_is_its_code_without_its_text(error: Exception, code: str, failed: bool) -> None:
    exporter = recorded()
    with pytest.raises(type(error)), tracing.span("step"):
        raise error
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["error.type"] == code
    assert (span.status.status_code.name == "ERROR") == failed
    assert not span.events
    assert not span.status.description


def test_a_share_of_traces_is_exported_whole() -> None:
    exporter = recorded(trace_sample=0.5)
    for _ in range(200):
        with tracing.call("call", kind=SpanKind.SERVER), tracing.span("step"):
            pass
    spans = exporter.get_finished_spans()
    calls = {span.context.trace_id for span in spans if span.name == "call" and span.context}
    steps = {span.context.trace_id for span in spans if span.name == "step" and span.context}
    assert calls == steps
    assert 0 < len(calls) < 200


def test_a_client_cannot_have_its_calls_exported_and_a_service_can() -> None:
    exporter = recorded(trace_sample=0.0)
    sent = tracing.extracted({"traceparent": f"00-{TRACE}-{SENDER}-01"})
    with tracing.call("client call", {Attribute.METHOD: "POST"}, kind=SpanKind.SERVER, parent=sent):
        assert tracing.trace_id() == TRACE
    with tracing.call("service call", kind=SpanKind.SERVER, parent=sent):
        pass
    assert list(named(exporter)) == ["service call"]


def test_the_process_is_named_by_the_conventions() -> None:
    known = resource("search", "production")
    assert known["service.name"] == "prism-search"
    assert known["deployment.environment.name"] == "production"
    assert known["service.version"]
    assert known["service.instance.id"]
    assert "deployment.environment.name" not in resource("search", "")


class Command:
    """What FastStream gives to `publish_scope`."""

    def __init__(self, destination: str) -> None:
        self.destination = destination
        self.headers: dict[str, str] = {}


async def published(subject: str) -> Command:
    command = Command(subject)

    async def send(_: Command) -> None:
        pass

    await TracingMiddleware(None, context=None).publish_scope(send, command)  # type: ignore[arg-type]
    return command


async def handled(command: Command, *then: str) -> list[Command]:
    raw = Msg(_client=None, subject=command.destination, headers=command.headers)  # type: ignore[arg-type]

    async def handle(_: object) -> list[Command]:
        return [await published(subject) for subject in then]

    found = await TracingMiddleware(raw, context=None).consume_scope(handle, None)  # type: ignore[arg-type]
    assert isinstance(found, list)
    return found


async def test_a_live_file_stays_in_the_trace_of_its_push() -> None:
    exporter = recorded()
    with tracing.call("webhook", kind=SpanKind.SERVER):
        changed = await published("prism.live.file.changed")
    (chunked,) = await handled(changed, "prism.live.file.chunked")
    await handled(chunked)
    spans = exporter.get_finished_spans()
    assert len({span.context.trace_id for span in spans if span.context}) == 1
    assert [span.name for span in spans] == [
        "publish prism.live.file.changed",
        "webhook",
        "publish prism.live.file.chunked",
        "process prism.live.file.changed",
        "process prism.live.file.chunked",
    ]


async def test_a_file_of_an_import_has_a_trace_that_links_to_its_job() -> None:
    exporter = recorded(trace_imported_files=1.0)
    with tracing.call("import", {Attribute.JOB: "job-1"}, kind=SpanKind.SERVER) as job:
        changed = await published(IMPORTED)
    (chunked,) = await handled(changed, "prism.bulk.file.chunked")
    await handled(chunked)
    first = named(exporter)[f"publish {IMPORTED}"]
    assert first.context
    assert first.parent is None
    assert [link.context.trace_id for link in first.links] == [job.get_span_context().trace_id]
    assert (first.attributes or {})["prism.job"] == "job-1"
    others = [span for span in exporter.get_finished_spans() if span.name != "import"]
    assert {span.context.trace_id for span in others if span.context} == {first.context.trace_id}


async def test_most_files_of_an_import_have_no_spans() -> None:
    exporter = recorded()
    with tracing.call("import", kind=SpanKind.SERVER):
        commands = [await published(IMPORTED) for _ in range(500)]
    for command in commands:
        await handled(command, "prism.bulk.file.chunked")
    assert len(exporter.get_finished_spans()) < 100  # 1 % of 500 files with three spans each


async def test_replies_pings_and_buckets_have_no_spans() -> None:
    exporter = recorded()
    for subject in ("_INBOX.Xq3.7", "prism.ping.search", "$KV.prism_jobs.1", "inbox.search.9"):
        command = await published(subject)
        await handled(command)
        assert not command.headers
    assert not exporter.get_finished_spans()


async def test_the_names_of_dead_letters_have_no_tenant() -> None:
    exporter = recorded()
    await published("prism.dead.acme.PRISM_FILES.chunker-live-file-changed")
    (span,) = exporter.get_finished_spans()
    assert span.name == "publish prism.dead"
    assert "acme" not in str(dict(span.attributes or {}))


async def test_a_batch_is_in_the_trace_of_its_first_call_and_links_to_the_others() -> None:
    exporter = recorded()

    async def work(items: Sequence[str]) -> list[str]:
        with tracing.span("writes"):
            return list(items)

    batcher: Batcher[str, str] = Batcher(work, items_max=8, name="batch of files")

    async def handle(tenant: str) -> None:
        with tracing.call(f"call from {tenant}", {Attribute.PROJECT_ID: tenant}, kind=SpanKind.CONSUMER):
            await asyncio.gather(batcher.submit("one"), batcher.submit("two"))

    await asyncio.gather(handle("acme"), handle("umbrella"))
    await handle("acme")
    spans = named(exporter)
    batch, writes, other = spans["batch of files"], spans["writes"], spans["call from umbrella"]
    # The last batch: the task that runs batches began in the first call, which is over.
    assert batch.parent
    assert spans["call from acme"].context
    assert batch.parent.span_id == spans["call from acme"].context.span_id
    assert not batch.links
    assert (writes.attributes or {})["project_id"] == "acme"
    (first,) = (
        span for span in exporter.get_finished_spans() if span.name == "batch of files" and span.links
    )
    assert other.context
    assert [link.context.span_id for link in first.links] == [other.context.span_id]
    assert (first.attributes or {})["prism.batch"] == 4


def test_a_job_ends_in_the_trace_that_began_it() -> None:
    exporter = recorded()
    with tracing.call("webhook", kind=SpanKind.SERVER) as webhook:
        kept = tracing.traceparent()
    with tracing.call("last file", {Attribute.JOB: "job-1"}, kind=SpanKind.CONSUMER) as last:
        with tracing.resumed("end import", kept), tracing.span("publish"):
            pass
        with tracing.resumed("end untraced import", ""):
            pass
    spans = named(exporter)
    for name in ("end import", "publish"):
        known = spans[name].context
        assert known
        assert known.trace_id == webhook.get_span_context().trace_id
        assert (spans[name].attributes or {})["prism.job"] == "job-1"
    assert [link.context.trace_id for link in spans["end import"].links] == [last.get_span_context().trace_id]
    untraced = spans["end untraced import"].context
    assert untraced
    assert untraced.trace_id == last.get_span_context().trace_id
