"""Removed tenants: nothing is left of them, others keep everything, and a crash only delays it."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from weakref import WeakKeyDictionary

import pytest
from crashing import WRITES_MAX, ended_at, writes_watched
from layers_stack import NAME, REPO, TENANT, Town, town
from nats.js.api import StreamConfig
from nats.js.errors import BadRequestError, KeyNotFoundError, NotFoundError
from test_removals import ended, mirrors, put_into_each_bucket

from prism_catalog.tenants import PlanSettings, Tenants
from prism_contracts import names, topics
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileChanged
from prism_contracts.records import Group, Layer, LayerKind, RemovedCounts, Tenant, Token, record_key
from prism_contracts.rpc.imports import CloneRequest
from prism_ingest.adapters.leftovers import (
    OBJECTS,
    RECORDS,
    TENANT_OBJECTS,
    TENANT_RECORDS,
    TENANT_STREAMS,
)
from prism_ingest.operations.removals import SETTLES
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket

OTHER = "u"
NOW = datetime.now(UTC)
# What is not deleted by tenant, and why.
KEPT = {
    names.KV_TENANTS: "its own record drives the removal and is deleted last",
    names.KV_CANCELLED_JOBS: "keeps queued files from being indexed; 8 days",
    names.KV_DELIVERIES: "hashes; three days",
    names.KV_REQUESTS: "hashes, and answers sealed by tokens that are deleted; a day",
    names.KV_SESSIONS: "digests of tokens that are deleted; twelve hours",
    names.KV_LEASES: "no tenant's",
    names.KV_INSTALLATION: "no tenant's",
    names.KV_MODEL_VERSIONS: "no tenant's",
    names.KV_DEEP_VECTORS: "vectors by a hash of their text; 30 days",
    names.OBJECTS_CLAIMS: "bodies of messages by hash; 7 days",
    names.AUDIT: "who removed the tenant",
    **{stream.name: "messages under way, which jobs that were cancelled skip" for stream in topics.STREAMS},
}
DELETED = {
    *RECORDS,
    *TENANT_RECORDS,
    *OBJECTS,
    *TENANT_OBJECTS,
    *TENANT_STREAMS,
    names.KV_ANSWERS,
    names.KV_JOBS,
    names.KV_TOKENS,
    names.OBJECTS_SNAPSHOTS,  # the plans of jobs
    names.OBJECTS_SCIP,  # what records name
}


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        yield made


# One copy of the records per stack: each asks NATS all the time how far it is behind.
_OPENED: WeakKeyDictionary[Bus, Tenants] = WeakKeyDictionary()


async def tenants_of(place: Town) -> Tenants:
    if place.bus not in _OPENED:
        tenants = Tenants(PlanSettings())
        await tenants.open(place.bus, replicas=1)
        _OPENED[place.bus] = tenants
    return _OPENED[place.bus]


async def register(place: Town, tenant: str) -> None:
    known = Tenant(tenant=tenant, plan="tested", created_at=NOW)
    await (await tenants_of(place)).records.put(tenant, known)


async def fill(place: Town, tenant: str, repo: str = REPO) -> None:
    """Adds something of a tenant to each bucket and each stream."""
    js = place.bus.js
    await register(place, tenant)
    if tenant == TENANT:
        await put_into_each_bucket(place, repo)
    else:
        job = (
            await place.clones.clone(CloneRequest(tenant=tenant, url=place.origin.url, repo_name=NAME))
        ).job
        await ended(place, tenant, job)
        for bucket in (
            names.KV_SECRETS,
            names.KV_GRAPHS,
            names.KV_ANSWERS,
            names.KV_DESCRIPTIONS,
            names.KV_WRITTEN_DESCRIPTIONS,
        ):
            await (await open_bucket(js, bucket)).put(record_key(tenant, repo), b"{}")
        for bucket in OBJECTS:
            await (await js.create_object_store(bucket)).put(record_key(tenant, repo), b"content")
    written = (
        names.KV_DOCUMENTS,
        names.KV_GIT_OBJECTS,
        names.KV_GIT_REFS,
        names.KV_DOCUMENT_REMOTES,
        names.KV_ANCHORS,
        names.KV_TASKS,
        names.KV_MODEL_DAYS,
    )
    for bucket in written:
        await (await open_bucket(js, bucket)).put(record_key(tenant, "d"), b"{}")
    for bucket in TENANT_OBJECTS:
        await (await js.create_object_store(bucket)).put(record_key(tenant, "d"), b"content")
    layer = Layer(tenant=tenant, repo=repo, layer="l", kind=LayerKind.BRANCH, ref="topic", created_at=NOW)
    await place.ledger.layers.put(layer.key, layer)
    group = Group(tenant=tenant, name="all", repos=(NAME,), created_at=NOW)
    await Records(await open_bucket(js, names.KV_GROUPS), Group).put(group.key, group)
    await (await open_bucket(js, names.KV_REPOSITORY_NAMES)).put(
        record_key(tenant, "n"), names_record(tenant)
    )
    tokens = Records(await open_bucket(js, names.KV_TOKENS), Token)
    await tokens.put(tenant.encode().hex() * 32, Token(tenant=tenant, label="x", created_at=NOW))
    for stream, of in TENANT_STREAMS.items():
        await keep_stream(js, stream)
        await js.publish(of(tenant)[-1].replace("*", "x").replace(">", "x"), b"{}", stream=stream)


def names_record(tenant: str) -> bytes:
    return json.dumps({"tenant": tenant, "name": "acme/gone", "repo": "r", "removed": []}).encode()


async def keep_stream(js, stream: str) -> None:
    subjects = [f"prism.{stream.removeprefix('PRISM_').replace('_', '.').lower()}.>"]
    try:
        await js.add_stream(StreamConfig(name=stream, subjects=subjects))
    except BadRequestError:  # it exists
        return


async def traces(place: Town, tenant: str) -> set[str]:
    """Returns every record, object and message whose name or content has the tenant, and its points."""
    js = place.bus.js
    found = {f"point {held.path}" for held in place.index.held.values() if held.place[0] == tenant}
    for stream in await js.streams_info():
        name = stream.config.name
        kind, _, bucket = name.partition("_")
        if not stream.state.messages:
            continue
        if kind == "KV":
            found |= {f"{bucket} {key}" for key in await records_of(js, bucket, tenant)}
        elif kind == "OBJ":
            found |= {
                f"{bucket} {one}" for one in await objects_of(js, bucket) if one.startswith(f"{tenant}.")
            }
        elif name in TENANT_STREAMS:
            info = await js.stream_info(name, subjects_filter=">")
            found |= {f"{name} {one}" for one in info.state.subjects or () if tenant in one.split(".")}
    return found


async def records_of(js, bucket: str, tenant: str) -> list[str]:
    kv = await js.key_value(bucket)
    info = await js.stream_info(f"KV_{bucket}", subjects_filter=">")
    existing = []
    for key in (subject.removeprefix(f"$KV.{bucket}.") for subject in info.state.subjects or ()):
        try:
            value = (await kv.get(key)).value or b""
        except KeyNotFoundError:
            continue
        if key.split(".")[0] == tenant or f'"tenant":"{tenant}"'.encode() in value.replace(b": ", b":"):
            existing.append(key)
    return existing


async def objects_of(js, bucket: str) -> list[str]:
    try:
        return [info.name for info in await (await js.object_store(bucket)).list(ignore_deletes=True)]
    except NotFoundError:
        return []


async def remove(place: Town, tenant: str = TENANT) -> Tenants:
    """Records a removal as the gateway does, and waits until ingest knows."""
    tenants = await tenants_of(place)
    await tenants.remove(tenant, NOW)

    async def is_known() -> bool:
        return any(one.tenant == tenant for one in place.tenant_removals._tenants.being_removed())

    await place.until(is_known)
    return tenants


async def rounds(place: Town, until: datetime) -> None:
    """Runs the rounds up to a time, as ingest does every second."""
    now = NOW
    while now <= until:
        await place.tenant_removals.round(now)
        now += SETTLES / 2


def buckets(found: set[str]) -> set[str]:
    return {one.split()[0] for one in found}


def test_everything_that_is_stored_is_deleted_or_has_a_reason_to_stay() -> None:
    stored = {
        value
        for name, value in vars(names).items()
        if name.startswith(("KV_", "OBJECTS_")) or (isinstance(value, str) and value.startswith("PRISM_"))
    }
    assert stored | {stream.name for stream in topics.STREAMS} == DELETED | KEPT.keys()
    assert not DELETED & KEPT.keys()


async def test_nothing_is_left_of_a_removed_tenant(place: Town) -> None:
    await fill(place, TENANT)
    before = await traces(place, TENANT)
    assert buckets(before) >= DELETED - {names.OBJECTS_SNAPSHOTS, names.OBJECTS_SCIP}
    tenants = await remove(place)
    await place.tenant_removals.round(NOW)
    # Jobs keep late messages from having an effect.
    assert buckets(await traces(place, TENANT)) <= {names.KV_JOBS, names.KV_CANCELLED_JOBS, names.KV_TENANTS}
    assert await objects_of(place.bus.js, names.OBJECTS_SCIP) == []
    assert mirrors(place) == []
    removal = (await tenants.find(TENANT)).removal
    assert removal is not None
    assert removal.deleted_at == NOW
    counts = removal.removed
    assert (counts.repositories, counts.tokens, counts.points) == (1, 1, 6)
    assert counts.messages == len(TENANT_STREAMS) + 1  # and what its import changed
    assert counts.objects > len(OBJECTS)
    assert counts.records > len(RECORDS)
    await rounds(place, NOW + 2 * SETTLES)
    assert buckets(await traces(place, TENANT)) <= {names.KV_CANCELLED_JOBS}
    for bucket in (*RECORDS, *TENANT_RECORDS):  # not even a marker with its name
        info = await place.bus.js.stream_info(f"KV_{bucket}", subjects_filter=f"$KV.{bucket}.{TENANT}.>")
        assert not info.state.subjects, bucket
    with pytest.raises(PrismError) as gone:
        await tenants.find(TENANT)
    assert gone.value.code is ErrorCode.TENANT_NOT_FOUND


async def test_other_tenants_keep_everything(place: Town) -> None:
    """Also a repository with the same name, and thus the same id."""
    await fill(place, TENANT)
    await fill(place, OTHER)
    before = await traces(place, OTHER)
    assert buckets(before) >= {*OBJECTS, *TENANT_STREAMS, *TENANT_RECORDS, names.KV_TOKENS, names.KV_JOBS}
    await remove(place)
    await rounds(place, NOW + 2 * SETTLES)
    assert await traces(place, OTHER) == before
    assert len(mirrors(place)) == 1


async def test_running_imports_end(place: Town) -> None:
    await register(place, TENANT)
    place.index.may_index.clear()
    place.commit({"late.py": "late\n"})
    job = (await place.clones.clone(CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=NAME))).job
    tenants = await remove(place)
    await place.tenant_removals.round(NOW)
    ended_job = await place.ledger.jobs.get(job.job)
    place.index.may_index.set()
    assert ended_job is not None
    assert ended_job.state == "cancelled"
    removal = (await tenants.find(TENANT)).removal
    assert removal is not None
    assert removal.removed.jobs_cancelled == 1


async def test_late_work_is_deleted_before_the_id_is_free(place: Town) -> None:
    await register(place, TENANT)
    tenants = await remove(place)
    await place.tenant_removals.round(NOW)
    late = FileChanged(
        tenant=TENANT, repo=REPO, path="late.py", version=9, job="j", ordinal=0, lane=Lane.LIVE, blob="1" * 40,
        size_bytes=1, text="",
    )  # fmt: skip
    await place.index.on_changed(late)
    await place.tenant_removals.round(NOW + SETTLES)
    assert "point late.py" not in await traces(place, TENANT)
    removal = (await tenants.find(TENANT)).removal  # not yet: more may come
    assert removal is not None
    assert removal.last_found_at == NOW + SETTLES
    await caught_up(place, removal.last_found_at)
    await place.tenant_removals.round(NOW + 2 * SETTLES)
    assert tenants.records is not None
    assert await tenants.records.get(TENANT) is None


async def caught_up(place: Town, last_found_at: datetime) -> None:
    """Waits until ingest's copy of the records has a removal with this time."""

    async def is_known() -> bool:
        known = place.tenant_removals._tenants.being_removed()
        return [one.removal.last_found_at for one in known] == [last_found_at]

    await place.until(is_known)


async def test_an_id_is_taken_while_its_tenant_is_removed(place: Town) -> None:
    await register(place, TENANT)
    tenants = await remove(place)
    again = Tenant(tenant=TENANT, plan="tested", created_at=NOW)
    for call in (tenants.create(again), tenants.change(TENANT, lambda known: known), tenants.check(TENANT)):
        with pytest.raises(PrismError, match="is being removed"):
            await call
    assert not tenants.is_active(TENANT)
    first = await tenants.find(TENANT)
    assert await tenants.remove(TENANT, NOW + timedelta(seconds=9)) == first
    await rounds(place, NOW + 2 * SETTLES)
    await tenants.create(again)
    assert (await tenants.find(TENANT)).is_active


async def test_repositories_of_inactive_tenants_are_not_polled(place: Town) -> None:
    await register(place, TENANT)
    tenants = await tenants_of(place)
    commit = place.commit({"a.py": "a = 2\n"})
    await tenants.change(TENANT, lambda known: known.model_copy(update={"is_active": False}))

    async def is_known() -> bool:
        return not place.tenant_removals._tenants.is_active(TENANT)

    await place.until(is_known)
    await place.poller.round()
    assert (await place.repository()).head_commit != commit
    await tenants.change(TENANT, lambda known: known.model_copy(update={"is_active": True}))
    await place.until(lambda: active(place))
    await place.poller.round()
    await place.serves_base(commit)


async def active(place: Town) -> bool:
    return place.tenant_removals._tenants.is_active(TENANT)


@pytest.fixture
async def watched(nats_server, tmp_path) -> AsyncIterator[Town]:
    with writes_watched():
        async with town(nats_server, tmp_path) as made:
            yield made


async def test_a_crash_at_any_write_only_delays_the_removal(watched: Town) -> None:
    place, writes = watched, []
    for write in range(1, WRITES_MAX):
        tenant = f"gone{write}"
        await fill(place, tenant)
        tenants = await remove(place, tenant)
        write_name = await ended_at(lambda: place.tenant_removals.round(NOW), write)
        await rounds(place, NOW + 3 * SETTLES)
        assert buckets(await traces(place, tenant)) <= {names.KV_CANCELLED_JOBS}, write_name
        assert await tenants.records.get(tenant) is None, write_name
        if not write_name:
            assert len(writes) > len(TENANT_STREAMS) + len(TENANT_RECORDS) + len(OBJECTS)
            break
        writes.append(write_name)
    # The last round, which deletes jobs, markers and the record.
    for write in range(1, WRITES_MAX):
        tenant = f"last{write}"
        await fill(place, tenant)
        tenants = await remove(place, tenant)
        await place.tenant_removals.round(NOW)
        await place.until(lambda tenant=tenant: is_deleted(place, tenant))
        write_name = await ended_at(lambda: place.tenant_removals.round(NOW + SETTLES), write)
        await rounds(place, NOW + 3 * SETTLES)
        assert buckets(await traces(place, tenant)) <= {names.KV_CANCELLED_JOBS}, write_name
        assert await tenants.records.get(tenant) is None, write_name
        if not write_name:
            break


async def is_deleted(place: Town, tenant: str) -> bool:
    known = {one.tenant: one.removal for one in place.tenant_removals._tenants.being_removed()}
    return known[tenant].deleted_at is not None


def test_counts_start_at_nothing() -> None:
    assert set(RemovedCounts().model_dump().values()) == {0}
