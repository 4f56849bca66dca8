"""Graphs built after imports: the real process on real NATS and the real local store, with files from the
real chunker.
"""

import asyncio
from functools import partial

import pytest
import scip_files
from graph_town import DEADLINE_S, NAME, REPO
from indexed_texts import CREATED_AT
from nats.js.errors import NotFoundError
from scip_files import columns_of as scip_columns_of
from scip_files import parcels

from prism_atlas.adapters.disk_cache import DiskCache
from prism_atlas.adapters.state_assembler import RepositoryState, StateAssembler
from prism_atlas.core.columns import columns_of
from prism_catalog.histories import HistoryStore
from prism_contracts import names, topics
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import History, HistoryCommit, HistoryFile
from prism_contracts.rpc.graph import CALL_HIERARCHY, CallHierarchyRequest
from prism_contracts.rpc.maps import MODULE_MAP, ModuleMapRequest, Tier
from prism_store.reader import Reader
from prism_store.scope import Scope

pytest_plugins = ["graph_town"]

FILES = {
    "parcels/rates.py": '"""What parcels cost."""\n\n\ndef rate(zone):\n    return zone\n',
    "parcels/depot.py": "from .rates import rate\n\n\nclass Depot:\n    def close(self):\n        rate(1)\n",
    "parcels/tour.py": "from .depot import Depot\nfrom .rates import rate\n\nDepot()\nrate(2)\n",
    "README.md": "# Parcels\n",
}


INDEX = scip_columns_of(parcels(), {path: f"{path} of 1" for path in scip_files.FILES})
GUESSED, KNOWN = [("price", "candidate", "name")], [("price", "resolved", "scip")]


async def until_callers(town, expected: list[tuple[str, str, str]]) -> None:
    """Waits until these are the callers of `Zone.rate`."""
    async with asyncio.timeout(DEADLINE_S):
        while await callers(town) != expected:
            await asyncio.sleep(0.02)


async def callers(town) -> list[tuple[str, str, str]]:
    """Returns the callers of `Zone.rate`, each with status and strategy."""
    request = CallHierarchyRequest(tenant=town.tenant, symbol="Zone.rate", include_candidates=True)
    reply = await town.answer(partial(town.ask, CALL_HIERARCHY, request))
    return [(one.node.symbol, one.via.status, one.via.strategy) for one in reply.branches]


async def test_an_import_is_mapped_and_switched_at_once(town):
    async with town.atlas():
        await town.import_(1, FILES)
        first = await town.built(1)
        assert (first.commit, first.files) == ("c1", 4)
        reply = await town.answer(town.map)
        assert [(entry.file_path, entry.tier) for entry in reply.entries] == [
            ("parcels/rates.py", Tier.CORE),
            ("parcels/depot.py", Tier.SIGNIFICANT),
            ("parcels/tour.py", Tier.PERIPHERAL),
        ]
        assert (reply.entries[0].summary, reply.entries[0].used_by) == ("What parcels cost.", 2)
        assert reply.entries[1].top_symbols == ("class Depot",)
        assert (reply.receipt.graph_commit, reply.receipt.graph_lag_seconds) == ("c1", 0.0)

        await town.import_(2, {"parcels/depot.py": None, "parcels/fees.py": FILES["parcels/depot.py"]})
        second = await town.built(2)
        assert second.edges < first.edges  # only its name leads from the tour to the depot now
        reply = await town.answer(town.map)
        assert {entry.file_path for entry in reply.entries} == {
            "parcels/rates.py", "parcels/fees.py", "parcels/tour.py",
        }  # fmt: skip
        objects = await town.bus.js.object_store(names.OBJECTS_GRAPHS)
        async with asyncio.timeout(DEADLINE_S):
            while [info.name for info in await objects.list(ignore_deletes=True)] != [second.object]:
                await asyncio.sleep(0.02)


async def test_a_deleted_file_has_no_summary_until_the_next_graph(town):
    await town.import_(1, FILES)
    async with town.atlas():
        await town.built(1)
        await town.answer(lambda: town.architecture("letters"))  # the graph is served
        await town.import_(2, {"parcels/rates.py": None}, announced=False)
        reply = await town.answer(town.map)
    first = reply.entries[0]
    assert (first.file_path, first.summary) == ("parcels/rates.py", "")
    assert reply.receipt.graph_commit == "c1"


async def test_the_map_shows_how_often_a_file_changed(town):
    commit = HistoryCommit(commit="0b1c2d3", at=CREATED_AT, message="Raise the rates")
    changed = HistoryFile(path="parcels/rates.py", last=0, commits_90_days=3, commits_12_months=7)
    histories = await HistoryStore.open(town.bus.js, 1)
    await histories.put(town.tenant, REPO, History(version=1, commits=(commit,), files=(changed,)))
    await town.import_(1, FILES)
    async with town.atlas():
        await town.built(1)
        reply = await town.answer(town.map)
    velocities = {entry.file_path: entry.commits_90_days for entry in reply.entries}
    assert velocities == {"parcels/rates.py": 3, "parcels/depot.py": None, "parcels/tour.py": None}


async def test_only_the_newest_of_missed_imports_is_built(town):
    await town.import_(1, FILES, announced=False)
    await town.import_(2, {"parcels/more.py": "from .rates import rate\n"}, announced=False)
    for version in (1, 2):
        await town.announce(version)
    async with town.atlas():
        assert (await town.built(1)).version == 2
        durable = topics.REPO_INDEXED.durable("atlas", Lane.LIVE)
        async with asyncio.timeout(DEADLINE_S):
            while (await town.bus.js.consumer_info("PRISM_SETTLED", durable)).ack_floor.consumer_seq < 2:
                await asyncio.sleep(0.02)
        bucket = await town.bus.js.object_store(names.OBJECTS_GRAPHS)
        assert (await bucket.status()).stream_info.state.last_seq <= 3  # chunks and name of one object


async def test_the_next_process_finishes_a_killed_build(town):
    await town.import_(1, FILES)
    durable = topics.REPO_INDEXED.durable("atlas", Lane.LIVE)
    async with town.atlas() as process:
        async with asyncio.timeout(DEADLINE_S):
            while True:
                try:
                    info = await town.bus.js.consumer_info("PRISM_SETTLED", durable)
                except NotFoundError:
                    info = None  # it has not started yet
                if info and info.num_ack_pending:
                    break
                await asyncio.sleep(0.005)
        process.kill()
        await asyncio.to_thread(process.join)
    assert await town.record() is None
    async with town.atlas():
        assert (await town.built(1)).files == 4


async def test_any_process_serves_a_stored_graph(town):
    async with town.atlas():
        await town.import_(1, FILES)
        await town.built(1)
    async with town.atlas():
        reply = await town.answer(town.map)
        assert len(reply.entries) == 3


async def test_a_missing_graph_is_built_on_the_first_question(town):
    await town.import_(3, FILES, announced=False)
    async with town.atlas():
        errors: list[PrismError] = []
        async with asyncio.timeout(DEADLINE_S):
            while not errors:
                try:
                    await town.map()
                except PrismError as error:
                    errors += [error] if error.code is ErrorCode.GRAPH_NOT_BUILT else []
                await asyncio.sleep(0.02)
        assert errors[0].body.details["seconds_since_indexed"] > 0
        assert (await town.built(3)).version == 3


async def test_an_older_graph_is_served_with_its_lag(town):
    async with town.atlas():
        await town.import_(1, FILES)
        await town.built(1)
        await town.import_(2, {"parcels/more.py": "x = 1\n"}, announced=False)
        async with asyncio.timeout(DEADLINE_S):
            while not (reply := await town.answer(town.map)).receipt.graph_lag_seconds:
                await asyncio.sleep(0.02)
        assert (reply.receipt.indexed_commit, reply.receipt.graph_commit) == ("c2", "c1")


async def test_pages_of_the_map_continue_within_one_state(town):
    async with town.atlas():
        await town.import_(1, FILES)
        await town.built(1)
        first = await town.answer(lambda: town.map(limit=2))
        second = await town.map(limit=2, cursor=first.next_cursor)
        paths = [entry.file_path for page in (first, second) for entry in page.entries]
        assert paths == [entry.file_path for entry in (await town.map()).entries]
        assert not second.next_cursor
        await town.import_(2, {"parcels/more.py": "from .rates import rate\n"})
        await town.built(2)
        error = await town.answer(lambda: town.map(limit=2, cursor=first.next_cursor))
        assert isinstance(error, PrismError)
        assert error.code is ErrorCode.INVALID_CURSOR


async def test_the_architecture_lists_components_and_describes_one(town):
    async with town.atlas():
        await town.import_(1, FILES)
        await town.built(1)
        overview = (await town.answer(town.architecture)).overview
        assert [(one.name, one.files) for one in overview.components] == [("parcels", 3)]
        assert overview.components[0].description == "Around rates.py: What parcels cost."
        detail = (await town.architecture("parcels")).component
        assert detail.summary.description == overview.components[0].description
        assert detail.files[0].file_path == "parcels/rates.py"
        error = await town.answer(lambda: town.architecture("letters"))
        assert (error.code, error.body.details["components"]) == (ErrorCode.COMPONENT_NOT_FOUND, ["parcels"])


async def test_a_graph_is_rebuilt_when_scip_indexes_change(town):
    async with town.atlas():
        await town.import_(1, scip_files.FILES)
        await town.built(1)
        await until_callers(town, GUESSED)

        index = await town.store_scip(INDEX)
        await town.built(1, index)
        await until_callers(town, KNOWN)

        await town.import_(2, {"parcels/depot.py": f"# weighed\n{scip_files.DEPOT}"})
        await town.built(2, index)
        await until_callers(town, GUESSED)

        await town.delete_scip(index)
        async with asyncio.timeout(DEADLINE_S):
            while (
                await town.record()
            ).indexes:  # a question notices that the graph was built with other indexes, once their record arrives
                await callers(town)
                await asyncio.sleep(0.02)


async def test_a_graph_is_rebuilt_without_a_removed_scip_index(town):
    async with town.atlas():
        await town.import_(1, scip_files.FILES)
        await town.built(1)
        index = await town.store_scip(INDEX)
        await town.built(1, index)
        await town.delete_scip(index, announced=True)
        await town.built(1)
        await until_callers(town, GUESSED)


async def test_a_missed_scip_index_is_in_the_first_graph(town):
    await town.import_(1, scip_files.FILES)
    index = await town.store_scip(INDEX)
    async with town.atlas():
        await town.built(1, index)
        await until_callers(town, KNOWN)


async def test_every_indexable_file_is_accepted(town):
    async with town.atlas():
        await town.import_(1, {"empty.py": "", "data.json": "{}", "a b/ü.md": "# Über\n"})
        await town.built(1)
        reply = await town.answer(town.map)
        assert reply.total == len(reply.entries) == 0
        assert not (await town.architecture()).overview.components
        unknown = ModuleMapRequest(tenant=town.tenant, repo="no/such")
        with pytest.raises(PrismError) as error:
            await town.bus.ask(MODULE_MAP, unknown, timeout_s=10)
        assert error.value.code is ErrorCode.REPO_NOT_FOUND


async def test_a_process_continues_from_the_saved_state(town, tmp_path):
    scope = Scope(tenant=town.tenant, repos=(REPO,))
    disk_cache: DiskCache[RepositoryState] = DiskCache(tmp_path, 1_000_000)
    first = StateAssembler(Reader(town.client), disk_cache)
    await town.import_(1, FILES, announced=False)
    _, files_resolved = await first.snapshot(scope, NAME, 1, {})
    assert files_resolved == len(FILES)
    first.save_all()

    await town.import_(2, {"parcels/more.py": "from .depot import Depot\n\nDepot()\n"}, announced=False)
    snapshot, files_resolved = await StateAssembler(Reader(town.client), disk_cache).snapshot(
        scope, NAME, 2, {}
    )
    assert files_resolved < len(FILES)  # the new file, and files that use its imports
    afresh, _ = await StateAssembler(Reader(town.client), disk_cache).snapshot(scope, NAME, 2, {})
    for name, column in columns_of(afresh.graph).items():
        assert columns_of(snapshot.graph)[name].tolist() == column.tolist(), name
