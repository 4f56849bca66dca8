"""Descriptions on a real nats-server: by rules at once, by a model in the background, and after a kill."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from wiki_repository import RECEIPT as GRAPH_RECEIPT
from wiki_repository import repository as described

from prism_contracts import names
from prism_contracts.base import repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DescriptionsRecord, DescriptionsState, LayerState, Repository
from prism_contracts.rpc.common import RECEIPT, Receipt, ReceiptRequest
from prism_contracts.rpc.descriptions import BY_RULES, DescribeRequest, DescriptionsRequest
from prism_contracts.rpc.files import OUTLINE, READ_FILE, OutlineRequest, ReadFileRequest
from prism_contracts.rpc.maps import (
    ARCHITECTURE,
    MODULE_MAP,
    ArchitectureReply,
    ArchitectureRequest,
    ModuleMapReply,
    ModuleMapRequest,
)
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.settings import ServiceSettings
from prism_scribe.adapters.description_sources import DescriptionSources
from prism_scribe.adapters.description_store import DescriptionStore
from prism_scribe.core.describing import SILENT_S, ModelSentence
from prism_scribe.core.writing import Declined, NoWriter, TextWriter, Written
from prism_scribe.handlers.descriptions import DescriptionHandlers
from prism_scribe.operations.description_runs import DescriptionRenewal, DescriptionRuns

DEADLINE_S = 120
TENANT, NAME = "acme", "acme/depot"
NOW = datetime(2026, 11, 25, tzinfo=UTC)
SENTENCE = "Computes what parcels cost for a tour."
ASKED = {"tenant": TENANT, "repo": NAME}


class Killed(BaseException):
    """Ends a run wherever it is, as the end of its process does."""


@dataclass
class Model:
    """A language model that says one thing; the call `kill_at` ends the process."""

    models: tuple[str, ...] = ("endpoint:small",)
    kill_at: int = 0
    seen: list[str] = field(default_factory=list)

    async def write(self, _task: object, evidence, output) -> Written[ModelSentence] | Declined:
        self.seen.append(evidence[0].text)
        if len(self.seen) == self.kill_at:
            raise Killed
        return Written(output(description=SENTENCE), self.models[0])

    async def close(self) -> None: ...


@dataclass
class Place:
    """The buckets, and the repository of the wiki's tests behind stand-ins of search and atlas."""

    bus: Bus
    store: DescriptionStore
    repository: Repository

    async def handlers(self, writer: TextWriter) -> DescriptionHandlers:
        watched = await self.bus.follow(names.KV_REPOSITORIES, Repository)
        return DescriptionHandlers(self.bus, self.store, watched, self.runs(writer), self.sources)

    def runs(self, writer: TextWriter) -> DescriptionRuns:
        return DescriptionRuns(self.store, writer, self.sources, files_max=100)

    def sources(self, repository: Repository) -> DescriptionSources:
        return DescriptionSources(self.bus, repository)


def serve_repository(bus: Bus) -> None:
    orientation, _ = described()
    modules = tuple(
        one.model_copy(update={"content": f"content{number}"})
        for number, one in enumerate(orientation.modules)
    )

    async def receipt(request: ReceiptRequest) -> Receipt:
        if not request.sees(NAME):
            raise PrismError(ErrorCode.REPO_NOT_FOUND, "no such repository")
        return Receipt.model_validate(GRAPH_RECEIPT.model_dump() | {"repo": NAME})

    async def module_map(request: ModuleMapRequest) -> ModuleMapReply:
        return ModuleMapReply(repo=NAME, entries=modules, total=len(modules), tiers={}, receipt=GRAPH_RECEIPT)

    async def architecture(request: ArchitectureRequest) -> ArchitectureReply:
        return ArchitectureReply(repo=NAME, overview=orientation.overview, receipt=GRAPH_RECEIPT)

    async def gone(request: OutlineRequest | ReadFileRequest) -> None:
        if request.path == modules[-1].file_path:
            raise PrismError(ErrorCode.FILE_NOT_FOUND, "It is gone.")
        raise PrismError(ErrorCode.FILE_SKIPPED, "It is not searchable.")

    bus.serve(RECEIPT, receipt, deadline_s=5)
    bus.serve(MODULE_MAP, module_map, deadline_s=5)
    bus.serve(ARCHITECTURE, architecture, deadline_s=5)
    bus.serve(OUTLINE, gone, deadline_s=5)
    bus.serve(READ_FILE, gone, deadline_s=5)


@pytest.fixture
async def place(nats_server) -> AsyncIterator[Place]:
    bus = Bus("test", ServiceSettings(nats_url=nats_server.url))
    await bus.connect()
    served = LayerState(commit="c1", version=1, job="j", indexed_at=NOW)
    repository = Repository(
        tenant=TENANT, repo=repo_id(NAME), name=NAME, source="upload", created_at=NOW, next_version=2, served=served
    )  # fmt: skip
    records = Records(await open_bucket(bus.js, names.KV_REPOSITORIES), Repository)
    await records.put(repository.key, repository)
    others = Bus("others", ServiceSettings(nats_url=nats_server.url))
    serve_repository(others)
    await others.start()
    yield Place(bus, await DescriptionStore.open(bus, replicas=1), repository)
    await others.stop()
    await bus.stop()


async def ended(runs: DescriptionRuns) -> None:
    async with asyncio.timeout(DEADLINE_S):
        await asyncio.gather(*runs._tasks.values(), return_exceptions=True)


async def test_rules_describe_everything_at_once_without_a_model(place):
    handlers = await place.handlers(NoWriter())
    begun = await handlers.describe(DescribeRequest(**ASKED))
    assert (begun.state, begun.model) == (DescriptionsState.COMPLETE, "")
    assert begun.message == "No language model is set, so rules describe everything from the index."
    reply = await handlers.list_descriptions(DescriptionsRequest(**ASKED))
    assert {one.by for one in (*reply.files, *reply.components)} == {BY_RULES}
    assert reply.files[0].text == described()[0].modules[0].summary
    assert reply.files[0].content == "content0"
    assert reply.components


async def test_a_model_describes_components_and_each_sentence_says_who_it_is_by(place):
    handlers = await place.handlers(model := Model())
    begun = await handlers.describe(DescribeRequest(**ASKED))
    assert (begun.state, begun.model) == (DescriptionsState.RUNNING, "endpoint:small")
    await ended(handlers._runs)
    reply = await handlers.list_descriptions(DescriptionsRequest(**ASKED))
    assert reply.progress.state is DescriptionsState.COMPLETE
    assert {(one.text, one.by) for one in reply.components} == {(SENTENCE, "endpoint:small")}
    # Their files are gone, so that nothing bears a sentence of the model out.
    assert {one.by for one in reply.files} == {BY_RULES}
    assert (reply.progress.done, reply.progress.failed) == (len(reply.components), len(reply.files))
    assert len(model.seen) == len(reply.components)
    assert (await handlers.describe(DescribeRequest(**ASKED))).state is DescriptionsState.COMPLETE
    assert len(model.seen) == len(reply.components)


async def test_a_run_that_was_killed_is_resumed_by_another_copy_and_asks_for_the_rest(place):
    runs = place.runs(first := Model(kill_at=2))
    await runs.begin(place.repository, NOW)
    await ended(runs)
    watched = await place.bus.follow(names.KV_DESCRIPTIONS, DescriptionsRecord)
    repositories = await place.bus.follow(names.KV_REPOSITORIES, Repository)
    other = place.runs(second := Model())
    renewal = DescriptionRenewal(watched, repositories, other)
    stopped = await place.store.get(TENANT, place.repository.repo)
    assert (stopped.state, stopped.done) == (DescriptionsState.RUNNING, 1)
    assert await renewal.round(stopped.alive_at + timedelta(seconds=SILENT_S - 1)) == []
    assert await renewal.round(stopped.alive_at + timedelta(seconds=SILENT_S + 1)) == [NAME]
    await ended(other)
    record = await place.store.get(TENANT, place.repository.repo)
    assert record.state is DescriptionsState.COMPLETE
    assert first.seen[0] not in second.seen
    assert first.seen[1] in second.seen


async def test_repositories_that_a_caller_may_not_see_are_not_found(place):
    handlers = await place.handlers(NoWriter())
    for ask, request in (
        (handlers.list_descriptions, DescriptionsRequest(**ASKED, visible=("acme/other",))),
        (handlers.describe, DescribeRequest(**ASKED, visible=("acme/other",))),
    ):
        with pytest.raises(PrismError) as error:
            await ask(request)
        assert error.value.code is ErrorCode.REPO_NOT_FOUND
