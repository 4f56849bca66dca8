"""The graph of a branch, and of edits over it: every answer equals that of a repository indexed in that
state. Real processes, real NATS, real store.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scip_files
from graph_town import DEADLINE_S, NAME, REPO, Town, variant_of
from prometheus_client import CollectorRegistry
from scip_files import At, define, document, own, parcels
from scip_files import columns_of as columns_of_index

from prism_atlas.adapters.disk_cache import DiskCache
from prism_atlas.adapters.state_assembler import StateAssembler
from prism_atlas.core.columns import columns_of
from prism_atlas.core.graph import NONE
from prism_atlas.main import build
from prism_atlas.operations.layer_graphs import LayerGraph
from prism_atlas.settings import AtlasSettings
from prism_catalog.target import Target
from prism_contracts import names
from prism_contracts.base import Lane, Message, layer_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Layer, LayerKind, Repository, repository_key
from prism_contracts.registry import AnyRpc
from prism_contracts.rpc.graph import (
    CALL_HIERARCHY,
    DEPENDENCIES,
    FIND_PATH,
    IMPACT,
    TYPE_HIERARCHY,
    CallDirection,
    CallHierarchyRequest,
    DependenciesRequest,
    FindPathRequest,
    ImpactRequest,
    TypeHierarchyRequest,
)
from prism_contracts.rpc.maps import (
    ARCHITECTURE,
    MODULE_MAP,
    ArchitectureRequest,
    ModuleMapReply,
    ModuleMapRequest,
)
from prism_runtime.records import Records, open_bucket
from prism_runtime.telemetry import FIELDS
from prism_store.reader import Reader
from prism_store.scope import Scope, View

pytest_plugins = ["graph_town"]

Files = Mapping[str, str | None]

BASE = {
    "parcels/rates.py": '"""What parcels cost."""\n\n\ndef rate(zone):\n    return zone\n',
    "parcels/depot.py": (
        "from .rates import rate\n\n\n"
        "class Depot:\n    def close(self):\n        rate(1)\n\n    def ship(self):\n        self.close()\n"
    ),
    "parcels/hub.py": "from .depot import Depot\n\n\nclass Hub(Depot):\n    def close(self):\n        pass\n",
    "parcels/tour.py": "from .depot import Depot\n\n\ndef tour():\n    Depot().ship()\n",
    "tests/test_depot.py": "from parcels.depot import Depot\n\n\ndef test_it_ships():\n    Depot().ship()\n",
    "web/map/package.json": '{"name": "@acme/map"}\n',
    "web/map/index.js": "export function draw() {}\n",
    "web/app.js": "import {draw} from '@acme/map';\nexport function show() { draw(); }\n",
    "web/jsconfig.json": '{"compilerOptions": {"paths": {"@map": ["./map"]}}}\n',
    "web/desk.js": "import {draw} from '@map';\nexport function open() { draw(); }\n",
    "README.md": "# Parcels\n",
}
CHANGED: Files = {
    "parcels/rates.py": '"""What letters cost."""\n\n\ndef fee(zone):\n    return zone\n\n\ndef rate(zone):\n    return fee(zone)\n',
    "parcels/post.py": "from .hub import Hub\n\n\nclass Post(Hub):\n    def close(self):\n        super().close()\n",
    "parcels/tour.py": None,
    "web/map/package.json": '{"name": "@acme/chart"}\n',
    "web/jsconfig.json": '{"compilerOptions": {"paths": {"@chart": ["./map"]}}}\n',
}
EDITED: Files = {
    "parcels/hub.py": "from .rates import rate\n\n\nclass Hub:\n    def close(self):\n        rate(2)\n",
    "parcels/post.py": None,
    "web/map/package.json": '{"name": "@acme/map", "main": "index.js"}\n',
}
DIFF = """\
--- a/parcels/rates.py
+++ b/parcels/rates.py
@@ -4,2 +4,2 @@
-def fee(zone):
+def fee(zone, weight=0):
     return zone
"""
# Files that imports of the base change, by version.
MOVES: dict[int, Files] = {
    1: {},
    2: {
        "parcels/rates.py": "def toll():\n    pass\n",
        "parcels/more.py": "from .rates import rate\n\nrate(3)\n",
    },
    3: {"parcels/tour.py": None, "web/map/package.json": '{"name": "@acme/globe"}\n'},
    4: {"parcels/post.py": "from .depot import Depot\n\nDepot()\n", "parcels/hub.py": None},
}
# Which view is opened after which import.
OPENED_VIEWS = (
    (1, ""), (1, "topic"), (1, "edits"), (2, "topic"), (3, "edits"), (3, ""), (4, "topic"), (4, "")
)  # fmt: skip
SAVED_AT = 2
INDEXED_AT = {1, 2, 4}
# A compiler would know better; here it only has to mention files that change or are hidden.
RATE, TOUR = own("`parcels.rates`/rate()."), own("`parcels.tour`/tour().")
INDEX = columns_of_index(
    [
        document("parcels/rates.py", [define(RATE, 3, 4, 8)]),
        document("parcels/depot.py", [At(RATE, 0, 19, 23), At(TOUR, 5, 8, 12)]),
        document("parcels/tour.py", [define(TOUR, 3, 4, 8), At(RATE, 4, 4, 9)], [(TOUR, RATE)]),
    ],
    {path: f"{path} of 1" for path in BASE},
)
HANDLE = "overlay-7"
PARENT = {"parent": layer_id("topic"), "kind": LayerKind.OVERLAY}


def laid(files: Files, *layers: Files) -> dict[str, str]:
    """Returns the files visible through all layers, the lowest first."""
    for layer in layers:
        files = {**files, **layer}
    return {path: text for path, text in files.items() if text is not None}


def asked() -> list[tuple[AnyRpc, Message]]:
    """Returns every kind of question."""
    callees = {"direction": CallDirection.CALLEES}
    return [
        (MODULE_MAP, ModuleMapRequest(tenant="any")),
        (MODULE_MAP, ModuleMapRequest(tenant="any", query="letters")),
        (ARCHITECTURE, ArchitectureRequest(tenant="any")),
        (ARCHITECTURE, ArchitectureRequest(tenant="any", component="parcels")),
        (CALL_HIERARCHY, CallHierarchyRequest(tenant="any", symbol="rate")),
        (CALL_HIERARCHY, CallHierarchyRequest(tenant="any", symbol="draw")),
        (CALL_HIERARCHY, CallHierarchyRequest(tenant="any", symbol="rate", **callees)),
        (CALL_HIERARCHY, CallHierarchyRequest(tenant="any", symbol="tour")),
        (TYPE_HIERARCHY, TypeHierarchyRequest(tenant="any", symbol="Depot")),
        (TYPE_HIERARCHY, TypeHierarchyRequest(tenant="any", symbol="Hub")),
        (DEPENDENCIES, DependenciesRequest(tenant="any", path="parcels/rates.py")),
        (DEPENDENCIES, DependenciesRequest(tenant="any", path="web/app.js")),
        (FIND_PATH, FindPathRequest(tenant="any", source="Depot.ship", target="rate")),
        (IMPACT, ImpactRequest(tenant="any", symbol="rate")),
        (IMPACT, ImpactRequest(tenant="any", diff=DIFF)),
    ]  # fmt: skip


def comparable(reply: Message | PrismError) -> object:
    if isinstance(reply, PrismError):
        return reply.body.model_dump(mode="json")
    return without_addresses(reply.model_dump(mode="json", exclude={"receipt"}))


def without_addresses(value: object) -> object:
    """Returns an answer without the addresses of contents: a layer keeps its files at addresses of its own."""
    if isinstance(value, list):
        return [without_addresses(one) for one in value]
    if isinstance(value, dict):
        return {key: without_addresses(one) for key, one in value.items() if key != "content"}
    return value


async def ask(town: Town, rpc: AnyRpc, request: Message, **at: str) -> Message | PrismError:
    return await town.answer(partial(town.ask, rpc, request.model_copy(update=at)))


async def map_at(town: Town, ref: str, layer: Layer | None = None) -> ModuleMapReply:
    """Returns the map at a ref, once it serves this state of the layer."""
    request = ModuleMapRequest(tenant="any", ref=ref, wait_for_commit=layer.served.commit if layer else "")
    return await town.answer(partial(town.ask, MODULE_MAP, request))


def paths_of(reply: ModuleMapReply) -> set[str]:
    return {entry.file_path for entry in reply.entries}


def view_of(town: Town, files: Files) -> View:
    variants = {path: variant_of(path, text) for path, text in files.items() if text is not None}
    hidden = [path for path, text in files.items() if text is None]
    return View.of(tuple(files), (town.tenant, REPO), variants, hidden)


async def test_answers_at_a_ref_equal_a_repository_in_that_state(town, nats_server, qdrant_url):
    await town.import_(1, BASE)
    commits = {
        "topic": (await town.lay("topic", 7, CHANGED)).served.commit,
        HANDLE: (await town.lay(HANDLE, 8, EDITED, **PARENT)).served.commit,
    }
    files = {"topic": laid(BASE, CHANGED), HANDLE: laid(BASE, CHANGED, EDITED)}
    async with town.atlas(), town.search():
        for ref, commit in commits.items():
            alone = Town(nats_server.url, qdrant_url)
            await alone.begin()
            await alone.import_(1, files[ref])
            await alone.built(1)
            for rpc, request in asked():
                here = await ask(town, rpc, request, ref=ref, wait_for_commit=commit)
                there = await ask(alone, rpc, request)
                assert comparable(here) == comparable(there), (ref, rpc.name, request)
                if not isinstance(here, PrismError):
                    receipt = here.receipt
                    assert (receipt.ref, receipt.graph_commit, receipt.graph_version) == (
                        ref, commit, {"topic": 7, HANDLE: 8}[ref],
                    )  # fmt: skip
                    assert receipt.files_indexed == len(files[ref])
                    assert not receipt.missing_legs
            await alone.end()


async def test_a_graph_is_kept_until_the_layer_or_its_base_moves(town):
    async with town.atlas():
        await town.import_(1, BASE)
        await town.built(1)
        first = await map_at(town, "topic", await town.lay("topic", 7, CHANGED))
        again = await map_at(town, "topic")
        assert again.receipt.graph_built_at == first.receipt.graph_built_at

        moved = await map_at(
            town,
            "topic",
            await town.lay("topic", 9, CHANGED | {"parcels/new.py": "from .rates import rate\n"}),
        )
        assert paths_of(moved) == paths_of(first) | {"parcels/new.py"}
        await town.import_(2, {"parcels/base.py": "from .rates import rate\n", "parcels/rates.py": "z = 1\n"})
        await town.built(2)
        async with asyncio.timeout(DEADLINE_S):  # the record of a graph reaches the server a moment later
            while paths_of(await map_at(town, "topic")) != paths_of(moved) | {"parcels/base.py"}:
                await asyncio.sleep(0.02)
        assert "parcels/tour.py" in paths_of(await map_at(town, ""))


async def test_at_a_ref_a_scip_index_covers_unchanged_files(town):
    files = scip_files.FILES
    async with town.atlas():
        await town.import_(1, files)
        await town.lay("topic", 7, {"parcels/fees.py": "class Fee: ...\n"})
        await town.lay("other", 8, {"parcels/rates.py": "# Rates.\n" + files["parcels/rates.py"]})
        assert await callers_of_rate(town, "topic") == [("candidate", "only_definition")]
        index = await town.store_scip(columns_of_index(parcels(), {path: f"{path} of 1" for path in files}))
        await town.built(1, index)
        async with asyncio.timeout(DEADLINE_S):
            while await callers_of_rate(town, "topic") != [("resolved", "scip")]:
                await asyncio.sleep(0.02)
        assert await callers_of_rate(town, "other") == [("candidate", "name")]


async def callers_of_rate(town: Town, ref: str) -> list[tuple[str, str]]:
    """Returns status and strategy of each caller of `Zone.rate`."""
    request = CallHierarchyRequest(tenant="any", symbol="Zone.rate", include_candidates=True, ref=ref)
    reply = await ask(town, CALL_HIERARCHY, request)
    return [(branch.via.status, branch.via.strategy) for branch in reply.branches]


async def test_a_question_before_the_graph_reports_the_wait(town):
    async with town.atlas(PRISM_ATLAS_LAYER_WAIT_S="0"):
        await town.import_(1, BASE)
        await town.built(1)
        layer = await town.lay("topic", 7, CHANGED)
        request = ModuleMapRequest(tenant="any", ref="topic", wait_for_commit=layer.served.commit)
        with pytest.raises(PrismError) as refused:
            await town.ask(MODULE_MAP, request)
        assert refused.value.code is ErrorCode.GRAPH_NOT_BUILT
        assert refused.value.body.details["ref"] == "topic"
        assert refused.value.body.details["seconds_since_wanted"] >= 0
        assert "parcels/post.py" in paths_of(await map_at(town, "topic"))


async def test_an_unchanged_branch_has_the_graph_of_the_base(town):
    async with town.atlas():
        await town.import_(1, BASE)
        built = await town.built(1)
        reply = await map_at(town, "topic", await town.lay("topic", 7, {}))
        assert reply.receipt.ref == "topic"
        assert reply.receipt.graph_built_at == built.built_at


async def test_view_order_does_not_change_results(town, tmp_path):
    used, unused = DiskCache(tmp_path / "used", 1_000_000), DiskCache(tmp_path / "unused", 1_000_000)
    assembler = StateAssembler(Reader(town.client), used)
    path = tmp_path / "index"
    path.write_bytes(INDEX.packed())
    views = {"": None, "topic": view_of(town, CHANGED), "edits": view_of(town, {**CHANGED, **EDITED})}
    await town.lay("topic", 7, CHANGED)
    await town.lay(HANDLE, 8, EDITED)
    await town.import_(1, BASE, announced=False)
    for version, name in OPENED_VIEWS:
        await town.import_(version, MOVES[version], announced=False)
        scope = Scope(town.tenant, (REPO,), view=views[name])
        indexes = {"index": str(path)} if version in INDEXED_AT else {}
        snapshot, files_resolved = await assembler.snapshot(scope, NAME, version, indexes)
        fresh = StateAssembler(Reader(town.client), unused)
        afresh, all_files = await fresh.snapshot(scope, NAME, version, indexes)
        assert files_resolved <= all_files
        expected = columns_of(afresh.graph)
        for column, values in columns_of(snapshot.graph).items():
            assert np.array_equal(values, expected[column]), (version, name, column)
        if version == SAVED_AT:
            assembler.save_all()
            assembler = StateAssembler(Reader(town.client), used)


async def test_switching_views_resolves_only_affected_files(town, tmp_path):
    assembler = StateAssembler(Reader(town.client), DiskCache(tmp_path, 1_000_000))
    await town.lay("topic", 7, {"parcels/tour.py": "def tour():\n    pass\n"})
    await town.import_(1, BASE, announced=False)
    base = Scope(town.tenant, (REPO,))
    topic = replace(base, view=view_of(town, {"parcels/tour.py": "def tour():\n    pass\n"}))
    everything, there, again, back = [
        (await assembler.snapshot(scope, NAME, 1, {}))[1] for scope in (base, topic, topic, base)
    ]
    assert everything == len(BASE)
    assert 0 < there == back < everything / 2
    assert again == 0


async def test_only_the_newest_waiting_state_of_a_layer_is_built(
    town, tmp_path, qdrant_url, monkeypatch, caplog
):
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("PRISM_QDRANT_URL", qdrant_url)
    await town.import_(1, BASE, announced=False)
    registry = CollectorRegistry()
    app = await build(town.bus, AtlasSettings(atlas_layer_wait_s=60), town.client, tmp_path, registry)
    records = Records(await open_bucket(town.bus.js, names.KV_REPOSITORIES), Repository)
    repository = await records.get(repository_key(town.tenant, REPO))
    asked: list[asyncio.Task[LayerGraph]] = []
    async with app.processes.reserve(repository.key, Lane.BULK):
        for version, files in enumerate((CHANGED, {"parcels/tour.py": None}), start=7):
            layer = await town.lay("topic", version, files)
            target = Target(Scope(town.tenant, (REPO,), view=view_of(town, files)), (repository,), layer)
            asked.append(asyncio.create_task(app.layer_graphs.get(target, layer, 1)))
            await asyncio.sleep(0)
    overtaken, built = await asyncio.gather(*asked, return_exceptions=True)
    assert overtaken.code is ErrorCode.GRAPH_NOT_BUILT
    assert built.snapshot.graph.find_file("parcels/tour.py") == NONE
    assert built.snapshot.graph.find_file("parcels/post.py") == NONE
    (line,) = (getattr(record, FIELDS) for record in caplog.records if record.getMessage() == "graph built")
    assert (line["repo"], line["layer"], line["version"]) == (NAME, layer.layer, 1)
    assert line["files"] == len(BASE) - 1
    for outcome in ("needless", "built"):
        labels = {"lane": Lane.LIVE.value, "outcome": outcome}
        assert registry.get_sample_value("prism_graph_builds_total", labels) == 1
    await app.processes.close()
