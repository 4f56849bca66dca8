"""Questions at a branch, and at edits over it: every answer equals that of an index of the same files, over a
real store and real records.
"""

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from prism_catalog import repositories as repositories_module
from prism_catalog.layer_files import LayerFilesStore
from prism_chunker.core import chunk_file
from prism_contracts import names
from prism_contracts.base import BASE_LAYER, Lane, Message, file_id, layer_id, repo_id, variant_layer
from prism_contracts.code import FileFlags
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileChunked, FileEmbedded
from prism_contracts.records import (
    UPLOAD,
    Layer,
    LayerFiles,
    LayerKind,
    LayerState,
    Repository,
)
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.files import (
    CountChunksRequest,
    CoverageRequest,
    ListFilesRequest,
    OutlineRequest,
    PointCountsRequest,
    ReadFileRequest,
)
from prism_contracts.rpc.guidance import (
    ConventionsRequest,
    EditContextRequest,
    ExistingRequest,
    RepoContextRequest,
)
from prism_contracts.rpc.search import GrepRequest, SearchRequest
from prism_contracts.rpc.symbols import DefinitionsRequest, ReferencesRequest
from prism_indexer.core import indexed_point
from prism_runtime.bus import Bus
from prism_runtime.packing import pack_bindings, pack_references
from prism_runtime.records import Records, open_bucket
from prism_runtime.vectors import to_message
from prism_search.main import SearchApp, build
from prism_search.settings import SearchSettings
from prism_store.gate import connect
from prism_store.points import FilePoint
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

MODEL, DIMENSION, BASIS = "m1", 4, "1/m1"
NAME = "acme/yard"
REPO = repo_id(NAME)
NOW = datetime(2026, 1, 2, tzinfo=UTC)
MAIN, TOPIC = "a" * 40, "b" * 40
BASE = {
    "yard/crane.py": "class Crane:\n    def lift(self, load):\n        return load\n",
    "yard/gate.py": "from yard.crane import Crane\n\n\ndef open_gate():\n    return Crane().lift(1)\n",
    "yard/old.py": "from yard.crane import Crane\n\n\ndef forgotten():\n    return Crane().lift(2)\n",
    "yard/same.py": "from yard.gate import open_gate\n\n\ndef morning():\n    return open_gate()\n",
    "tests/test_gate.py": "from yard.gate import open_gate\n\n\ndef test_gate():\n    assert open_gate() == 1\n",
    "AGENTS.md": "# Rules\n\nLift with care.\n",
    "README.md": "# Yard\n\nMoves loads.\n\n## Install\n\nDo.\n",
    "web/package.json": '{"name": "@acme/web"}\n',
}
CHANGED = {
    "yard/crane.py": "class Crane:\n    def lift(self, load, height=0):\n        return load + height\n\n    def lower(self, load):\n        return load\n",
    "yard/hoist.py": "from yard.crane import Crane\n\n\ndef hoist():\n    return Crane().lift(3, height=2)\n",
    "AGENTS.md": "# Rules\n\nLift with two hands.\n",
}
HIDDEN = ("yard/old.py", "web/package.json")
EDITED = {"yard/gate.py": "from yard.crane import Crane\n\n\ndef open_gate():\n    return Crane().lower(1)\n"}
EDIT_HIDES = ("yard/hoist.py",)
HANDLE = "overlay-7"
LEFT_BEHIND = 200  # more than a leg requests
DEADLINE_S = 120


def at_topic() -> dict[str, str]:
    return {path: text for path, text in (BASE | CHANGED).items() if path not in HIDDEN}


def at_edits() -> dict[str, str]:
    return {path: text for path, text in (at_topic() | EDITED).items() if path not in EDIT_HIDES}


def blob_of(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def file_point(tenant: str, layer: str, path: str, text: str) -> FilePoint:
    parsed = chunk_file(path, text)
    where = {
        "tenant": tenant, "repo": REPO, "layer": layer, "path": path, "version": 1, "job": "j", "ordinal": 0,
        "lane": Lane.LIVE,
    }  # fmt: skip
    file = FileChunked(
        **where,
        blob=blob_of(text),
        size_bytes=len(text),
        line_count=parsed.line_count,
        language=parsed.language,
        flags=FileFlags(test=path.startswith("tests/")),
        chunker="1",
        parse="ok",
        chunks=parsed.chunks,
        symbols=parsed.symbols,
        references=pack_references(parsed.references),
        bindings=pack_bindings(parsed.bindings),
    )
    rows = np.ones((len(parsed.chunks), DIMENSION), np.float32)
    return indexed_point(FileEmbedded(**where, file=file, vectors=to_message(MODEL, rows)))


class OneVector:
    """Embeds every question like the chunks."""

    fingerprint = MODEL

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        return np.ones((len(texts), DIMENSION), np.float32)


class Yard(NamedTuple):
    """The real search, and the writes of ingest and the indexer, step by step."""

    search: SearchApp
    bus: Bus
    writer: Writer

    async def has_base(self, tenant: str, files: Mapping[str, str], **fields: object) -> None:
        await self.writer.ensure_collection(tenant, MODEL, DIMENSION)
        await self.writer.write(tenant, [file_point(tenant, BASE_LAYER, *file) for file in files.items()])
        state = LayerState(commit=MAIN, ref="main", version=1, job="j", indexed_at=NOW, files=len(files))
        record = Repository(
            tenant=tenant, repo=REPO, name=NAME, source="upload", created_at=NOW, head_commit=MAIN,
            next_version=2, served=state, **fields,
        )  # fmt: skip
        await self._records(names.KV_REPOSITORIES, Repository).put(record.key, record)
        async with asyncio.timeout(DEADLINE_S):
            while not self.search.repositories.seen_by(CallerRequest(tenant=tenant)):
                await asyncio.sleep(0.005)

    async def has_layer(
        self, tenant: str, ref: str, files: Mapping[str, str], hidden: tuple[str, ...] = (), **fields: object
    ) -> Layer:
        variants = {path: variant_layer(path, blob_of(text), BASIS) for path, text in files.items()}
        points = [file_point(tenant, variants[path], path, text) for path, text in files.items()]
        await self.writer.write(tenant, points)
        version = fields.pop("version", 7)
        name = f"{tenant}.{REPO}.{layer_id(ref)}.{version}"
        state = LayerState(commit=TOPIC, ref=ref, version=version, job="j", indexed_at=NOW, basis=BASIS)
        layer = Layer(
            tenant=tenant, repo=REPO, layer=layer_id(ref), ref=ref, created_at=NOW, files=name, head_commit=TOPIC,
            next_version=version + 1, served=state,
            **{"kind": LayerKind.BRANCH, "source": f"refs/heads/{ref}", "base_version": 1} | fields,
        )  # fmt: skip
        store = await LayerFilesStore.open(self.bus.js, 1)
        await store.put(name, LayerFiles(variants=variants, hidden=hidden))
        await self.keep(layer)
        return layer

    async def loses(self, tenant: str, layer: str, *paths: str) -> None:
        """Makes the store lose files."""
        files = [file_id(tenant, REPO, layer, path) for path in paths]
        await self.writer.drop(tenant, files, below=10)

    async def keep(self, layer: Layer) -> None:
        await self._records(names.KV_LAYERS, Layer).put(layer.key, layer)

    def _records(self, bucket: str, record: type) -> "Late":
        return Late(self.bus, bucket, record)


class Late(NamedTuple):
    """Records of a bucket that is opened on first use."""

    bus: Bus
    bucket: str
    record: type

    async def put(self, key: str, record: Message) -> None:
        await Records(await open_bucket(self.bus.js, self.bucket), self.record).put(key, record)


@asynccontextmanager
async def opened(nats_url: str, qdrant_url: str) -> AsyncIterator[Yard]:
    client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
    settings = SearchSettings(nats_url=nats_url)
    bus = Bus("search", settings)
    await bus.start()
    app = await build(bus, settings, client, OneVector(), CollectorRegistry())
    yield Yard(app, bus, Writer(client))
    await bus.stop()
    await client.close()


@pytest.fixture
async def yard(nats_server, qdrant_url) -> AsyncIterator[Yard]:
    async with opened(nats_server.url, qdrant_url) as yard:
        yield yard


@pytest.fixture
def tenant() -> str:
    return f"t{uuid.uuid4().hex}"


def asked_of(search: SearchApp) -> list[tuple]:
    """Returns every kind of question with its handler."""
    return [
        (search.search.search, SearchRequest, {"query": "lift a load", "limit": 50}),
        (search.search.search, SearchRequest, {"query": "Crane", "path_filter": "yard/**"}),
        (search.grep.grep, GrepRequest, {"pattern": "lift"}),
        (search.grep.grep, GrepRequest, {"pattern": "l[io]", "regex": True, "output_mode": "count"}),
        (search.files.list_files, ListFilesRequest, {}),
        (search.files.read_file, ReadFileRequest, {"path": "yard/crane.py"}),
        (search.files.read_file, ReadFileRequest, {"path": "yard/same.py"}),
        (search.files.outline, OutlineRequest, {"path": "yard/crane.py"}),
        (search.symbols.definitions, DefinitionsRequest, {"symbols": ("lift", "lower", "hoist", "forgotten")}),
        (search.references.references, ReferencesRequest, {"symbols": ("Crane.lift", "open_gate", "lower")}),
        (search.edit_context.edit_context, EditContextRequest, {"symbol": "Crane.lift"}),
        (search.existing.existing, ExistingRequest, {"intent": "open gate"}),
        (search.conventions.conventions, ConventionsRequest, {}),
        (search.repo_context.repo_context, RepoContextRequest, {}),
        (search.coverage.coverage, CoverageRequest, {}),
    ]  # fmt: skip


# They depend on the frequencies of words in the tenant, which layers share.
SCORES = frozenset({"score", "raw_score", "legs"})


def comparable(reply: object) -> object:
    """Returns the files of a reply without scores, times and receipts, sorted where scores decide the order."""
    found = reply.model_dump(mode="json", exclude={"receipt", "timings_ms", "next_actions", "diagnostics"})
    if "results" in found:
        plain = [{k: v for k, v in hit.items() if k not in SCORES} for hit in found["results"]]
        for hit in plain:
            hit["matched"].sort()  # the rarest word of the tenant stands first
        del found["confidence"]
        found["results"] = sorted(plain, key=lambda hit: (hit["file_path"], hit["start_line"]))
    return found


async def until_current(yard: Yard, tenant: str, ref: str) -> None:
    request = ListFilesRequest(tenant=tenant, repo=NAME, ref=ref, wait_for_commit=TOPIC[:9])
    await yard.search.files.list_files(request)


@pytest.mark.parametrize(("ref", "files"), [("topic", at_topic()), (HANDLE, at_edits()), ("", BASE)])
async def test_answers_at_a_layer_equal_an_index_of_its_files(yard, tenant, ref, files):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    parent = {"parent": layer_id("topic"), "kind": LayerKind.OVERLAY, "source": "upload"}
    await yard.has_layer(tenant, HANDLE, EDITED, EDIT_HIDES, **parent)
    await until_current(yard, tenant, HANDLE)
    alone = f"{tenant}x"
    await yard.has_base(alone, files)
    request = ListFilesRequest(tenant=alone, repo=NAME, wait_for_commit=MAIN)
    assert {file.file_path for file in (await yard.search.files.list_files(request)).files} == set(files)
    for answer, asked, fields in asked_of(yard.search):
        here = comparable(await answer(asked(tenant=tenant, repo=NAME, ref=ref, **fields)))
        there = comparable(await answer(asked(tenant=alone, repo=NAME, **fields)))
        assert here == there, (asked, fields)


async def test_overriding_members_at_a_layer_are_refused_without_advice_to_retry(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await until_current(yard, tenant, "topic")
    with pytest.raises(PrismError) as refused:
        await yard.search.references.references(
            ReferencesRequest(
                tenant=tenant, repo=NAME, ref="topic", symbols=("Crane.lift",), reference_type="overrides"
            )
        )
    assert refused.value.code is ErrorCode.INVALID_ARGUMENT
    assert refused.value.body.next_action.startswith("Ask without ref, or ask get_type_hierarchy")


async def test_cached_answers_are_separate_per_layer(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await until_current(yard, tenant, "topic")
    for _ in range(2):  # the second time from the cache
        for ref, is_there in (("", False), ("topic", True), ("main", False)):
            request = SearchRequest(tenant=tenant, repo=NAME, ref=ref, query="hoist")
            reply = await yard.search.search.search(request)
            assert any(hit.file_path == "yard/hoist.py" for hit in reply.results) is is_there
            assert reply.receipt.ref == ("topic" if is_there else "")
            assert reply.receipt.indexed_commit == (TOPIC if is_there else MAIN)


async def test_a_layer_that_moves_is_read_again(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await until_current(yard, tenant, "topic")
    request = ReadFileRequest(tenant=tenant, repo=NAME, ref="topic", path="yard/crane.py")
    assert "height" in (await yard.search.files.read_file(request)).content
    later = LayerState(commit="c" * 40, ref="topic", version=8, job="j", indexed_at=NOW)
    moved = await yard.has_layer(tenant, "topic", {"yard/crane.py": "x = 1\n"}, version=8)
    await yard.keep(moved.model_copy(update={"served": later, "head_commit": "c" * 40}))
    moved_request = request.model_copy(update={"wait_for_commit": "c" * 40})
    assert (await yard.search.files.read_file(moved_request)).content == "x = 1\n"
    grep = GrepRequest(tenant=tenant, repo=NAME, ref="topic", pattern="forgotten")
    assert len((await yard.search.grep.grep(grep)).matches) == 1


@pytest.mark.parametrize("ref", ["topic", "refs/heads/topic", TOPIC, TOPIC[:7]])
async def test_a_layer_has_several_names(yard, tenant, ref):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await until_current(yard, tenant, "topic")
    request = ListFilesRequest(tenant=tenant, repo=NAME, ref=ref)
    assert (await yard.search.files.list_files(request)).receipt.ref == "topic"


@pytest.mark.parametrize("ref", ["", "main", "HEAD", "refs/heads/main", MAIN, MAIN[:7]])
async def test_the_base_has_several_names(yard, tenant, ref):
    await yard.has_base(tenant, BASE)
    request = ListFilesRequest(tenant=tenant, repo=NAME, ref=ref, wait_for_commit=MAIN)
    assert (await yard.search.files.list_files(request)).receipt.ref == ""


async def test_an_unknown_ref_is_refused_with_similar_refs(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await yard.has_layer(tenant, "gone", CHANGED, expires_at=NOW - timedelta(days=1))
    await until_current(yard, tenant, "topic")
    for ref in ("topik", "gone", TOPIC[:6]):
        with pytest.raises(PrismError) as refused:
            await yard.search.grep.grep(GrepRequest(tenant=tenant, repo=NAME, ref=ref, pattern="lift"))
        assert refused.value.code is ErrorCode.REF_NOT_FOUND
        assert refused.value.body.details["refs"] == ["topic"]
    assert "prism index PATH --ref" in refused.value.body.next_action


async def test_an_overlay_is_visible_only_by_its_handle(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, HANDLE, EDITED, kind=LayerKind.OVERLAY, source=UPLOAD)
    await until_current(yard, tenant, HANDLE)
    for ref in (TOPIC, UPLOAD, f"{HANDLE}x"):
        with pytest.raises(PrismError) as refused:
            await yard.search.grep.grep(GrepRequest(tenant=tenant, repo=NAME, ref=ref, pattern="lift"))
        assert refused.value.code is ErrorCode.REF_NOT_FOUND
        assert refused.value.body.details == {"refs": [], "near": []}
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await until_current(yard, tenant, "topic")
    request = ListFilesRequest(tenant=tenant, repo=NAME, ref=TOPIC)
    assert (await yard.search.files.list_files(request)).receipt.ref == "topic"


async def test_waiting_for_a_commit_ends_at_its_deadline(yard, tenant, monkeypatch):
    monkeypatch.setattr(repositories_module, "WAIT_MAX_S", 0.05)
    await yard.has_base(tenant, BASE, active_job="job-2")
    request = ListFilesRequest(tenant=tenant, repo=NAME, wait_for_commit=MAIN)
    await yard.search.files.list_files(request)
    with pytest.raises(PrismError) as refused:
        await yard.search.files.list_files(request.model_copy(update={"wait_for_commit": TOPIC}))
    assert refused.value.code is ErrorCode.DEADLINE_EXCEEDED
    assert refused.value.body.details["indexed_commit"] == MAIN


async def test_a_commit_without_a_running_import_is_refused_at_once(yard, tenant, monkeypatch):
    monkeypatch.setattr(repositories_module, "BEGIN_MAX_S", 0.05)
    await yard.has_base(tenant, BASE)
    request = ListFilesRequest(tenant=tenant, repo=NAME, wait_for_commit=TOPIC)
    with pytest.raises(PrismError) as refused:
        await yard.search.files.list_files(request)
    assert refused.value.code is ErrorCode.COMMIT_NOT_INDEXED
    with pytest.raises(PrismError) as refused:
        await yard.search.files.list_files(request.model_copy(update={"ref": "none-such"}))
    assert refused.value.code is ErrorCode.REF_NOT_FOUND


async def test_a_receipt_reports_what_a_layer_lacks(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN, files_missing=3, base_version=0)
    await until_current(yard, tenant, "topic")
    receipt = (
        await yard.search.files.list_files(ListFilesRequest(tenant=tenant, repo=NAME, ref="topic"))
    ).receipt
    assert receipt.files_missing == 3
    assert receipt.lag_seconds > 0  # the base has moved since
    assert receipt.files_indexed == len(at_topic())


async def test_shared_points_count_per_layer_and_once_in_total(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await yard.has_layer(tenant, "other", CHANGED)
    await until_current(yard, tenant, "topic")
    await until_current(yard, tenant, "other")
    reply = await yard.search.coverage.point_counts(PointCountsRequest(tenant=tenant))
    by_ref = {layer.ref: layer for layer in reply.layers}
    assert set(by_ref) == {"", "topic", "other"}
    assert by_ref["topic"].points == by_ref["other"].points == 2 * len(CHANGED)
    assert by_ref["topic"].files == len(CHANGED)
    assert reply.repositories == {REPO: reply.total}
    assert reply.total == 2 * len(BASE) + 2 * len(CHANGED)


async def test_shared_chunks_count_once_for_the_limit_of_a_plan(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await yard.has_layer(tenant, "other", CHANGED)
    reply = await yard.search.coverage.count_chunks(CountChunksRequest(tenant=tenant))
    assert reply.chunks == len(BASE) + len(CHANGED)


async def test_an_overlay_without_its_branch_is_not_counted(yard, tenant):
    await yard.has_base(tenant, BASE)
    orphan = {"kind": LayerKind.OVERLAY, "source": UPLOAD, "parent": layer_id("gone")}
    await yard.has_layer(tenant, HANDLE, EDITED, **orphan)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await until_current(yard, tenant, "topic")
    reply = await yard.search.coverage.point_counts(PointCountsRequest(tenant=tenant))
    assert {layer.ref for layer in reply.layers} == {"", "topic"}
    assert reply.total == 2 * len(BASE) + 2 * len(CHANGED)


async def test_leftovers_of_a_layer_override_nothing(yard, tenant):
    await yard.has_base(tenant, BASE)
    texts = [f"def lift(load):\n    return load.lift({number})\n" for number in range(LEFT_BEHIND)]
    points = [
        file_point(tenant, variant_layer("yard/crane.py", blob_of(text), BASIS), "yard/crane.py", text)
        for text in texts
    ]
    await yard.writer.write(tenant, points)
    reply = await yard.search.search.search(SearchRequest(tenant=tenant, repo=NAME, query="lift"))
    assert reply.results[0].file_path == "yard/crane.py"
    assert {hit.file_path for hit in reply.results} >= {"yard/gate.py", "yard/old.py"}


async def refusals(yard: Yard, tenant: str, ref: str = "") -> set[ErrorCode | None]:
    """Returns the error of every kind of question; None for an answer."""
    codes: set[ErrorCode | None] = set()
    for ask, request, arguments in asked_of(yard.search):
        try:
            await ask(request(tenant=tenant, repo=NAME, ref=ref, **arguments))
            codes.add(None)
        except PrismError as error:
            codes.add(error.code)
    return codes


async def test_an_index_with_lost_files_answers_nothing(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.loses(tenant, BASE_LAYER, "yard/old.py")
    assert await refusals(yard, tenant) == {ErrorCode.INDEX_LOST}
    [base] = (await yard.search.coverage.point_counts(PointCountsRequest(tenant=tenant))).layers
    assert base.lost == 1


async def test_a_missing_collection_is_a_lost_index(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.loses(tenant, BASE_LAYER, *BASE)
    assert await refusals(yard, tenant) == {ErrorCode.INDEX_LOST}


async def test_lost_files_of_a_layer_do_not_affect_its_base(yard, tenant):
    await yard.has_base(tenant, BASE)
    await yard.has_layer(tenant, "topic", CHANGED, HIDDEN)
    await until_current(yard, tenant, "topic")
    path = next(iter(CHANGED))
    await yard.loses(tenant, variant_layer(path, blob_of(CHANGED[path]), BASIS), path)
    counted = await yard.search.coverage.point_counts(PointCountsRequest(tenant=tenant))
    assert {layer.ref: layer.lost for layer in counted.layers} == {"": 0, "topic": 1}
    assert await refusals(yard, tenant, "topic") == {ErrorCode.INDEX_LOST}
    assert None in await refusals(yard, tenant)


async def test_files_being_replaced_are_not_lost(yard, tenant):
    await yard.has_base(tenant, BASE, active_job="job-2")
    await yard.loses(tenant, BASE_LAYER, "yard/old.py")
    reply = await yard.search.files.list_files(ListFilesRequest(tenant=tenant, repo=NAME))
    assert reply.receipt.mixed_with_job == "job-2"


async def test_a_receipt_names_the_failed_import(yard, tenant):
    await yard.has_base(tenant, BASE, unfinished="job-2")
    reply = await yard.search.files.list_files(ListFilesRequest(tenant=tenant, repo=NAME))
    assert reply.receipt.mixed_with_job == "job-2"
