"""The bus on a cluster of three nats-servers: replicas, elections, and nodes that die or freeze."""

import asyncio
import json
from typing import Any

import nats
import pytest
from nats.js.api import KeyValueConfig

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.registry import Rpc
from prism_contracts.rpc.imports import CANCEL_JOB, JOB, JobReply, JobRequest
from prism_runtime import bus as bus_module
from prism_runtime import patience
from prism_runtime.bus import Bus
from prism_runtime.patience import StartError
from prism_runtime.records import open_bucket
from prism_runtime.settings import InvalidSettingsError, ServiceSettings
from prism_runtime.tasks import running

DEADLINE_S = 120
BUCKET, OBJECTS = "prism_test", "prism_test_objects"
KV_STREAM, OBJ_STREAM = f"KV_{BUCKET}", f"OBJ_{OBJECTS}"
STREAM = "PRISM_EMBEDDED"


def a_bus(url: str, replicas: int, service: str = "chunker") -> Bus:
    return Bus(service, ServiceSettings(nats_url=url, nats_replicas=replicas))


async def stream_config(bus: Bus, stream: str) -> dict[str, Any]:
    answer = await bus.broker.connection.request(f"$JS.API.STREAM.INFO.{stream}", timeout=DEADLINE_S)
    config: dict[str, Any] = json.loads(answer.data)["config"]
    return config


async def test_a_bucket_of_three_replicas_outlives_a_node(nats_cluster) -> None:
    first = nats_cluster.nodes["n0"]
    client = await nats.connect(first.url)
    js = client.jetstream()
    bucket = await js.create_key_value(KeyValueConfig(bucket="kept", replicas=3))
    await bucket.put("key", b"value")
    leader = (await js.stream_info("KV_kept")).cluster.leader
    dying = next(node for name, node in nats_cluster.nodes.items() if node is not first and name != leader)
    dying.kill()
    assert (await bucket.get("key")).value == b"value"
    dying.start()
    nats_cluster.wait_until_healthy()
    await client.close()


async def test_streams_and_buckets_grow_and_shrink_with_the_setting(nats_cluster) -> None:
    before: dict[str, dict[str, Any]] = {}
    for replicas in (1, 3, 1):
        bus = a_bus(nats_cluster.url, replicas)
        await bus.start()
        bucket = await open_bucket(bus.js, BUCKET, ttl_s=3_600, replicas=replicas)
        objects = await bus.objects(OBJECTS)
        if not before:
            await bucket.put("key", b"value")
            await objects.put("object", b"content")
        assert (await bucket.get("key")).value == b"value"
        assert (await objects.get("object")).data == b"content"
        for stream in (KV_STREAM, OBJ_STREAM, STREAM, f"OBJ_{names.OBJECTS_CLAIMS}"):
            config = await stream_config(bus, stream)
            assert config.pop("num_replicas") == replicas, stream
            assert before.setdefault(stream, config) == config
        await bus.stop()


async def test_a_bucket_keeps_its_replicas_if_none_are_asked_for(nats_cluster) -> None:
    bus = a_bus(nats_cluster.url, 3)
    await bus.start()
    await open_bucket(bus.js, BUCKET, replicas=3)
    await open_bucket(bus.js, BUCKET)
    assert (await stream_config(bus, KV_STREAM))["num_replicas"] == 3
    await bus.stop()


async def test_a_single_server_refuses_three_replicas_by_the_name_of_the_setting(nats_server) -> None:
    bus = a_bus(nats_server.url, 3)
    with pytest.raises(InvalidSettingsError, match=r"PRISM_NATS_REPLICAS: NATS is a single server"):
        await bus.start()
    await bus.stop()


@pytest.mark.parametrize("_round", range(3))
async def test_copies_start_together_on_an_empty_cluster(tmp_path, new_nats_cluster, _round) -> None:
    cluster = new_nats_cluster()
    for node in cluster.nodes.values():
        node.start()  # and without waiting for anything
    copies = [a_bus(cluster.url, 3, service) for service in ("chunker", "chunker", "ingest", "ingest")]

    async def start(bus: Bus) -> None:
        await bus.connect()
        bucket = await open_bucket(bus.js, BUCKET, replicas=3)
        await bucket.put(bus.service, b"started")
        await bus.objects(OBJECTS)
        await bus.start()

    async with asyncio.timeout(DEADLINE_S):
        await asyncio.gather(*map(start, copies))
    for bus in copies:
        await bus.check()
        await bus.stop()


async def test_a_start_without_a_majority_ends_with_an_explanation(new_nats_cluster, monkeypatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_S", 1.0)
    cluster = new_nats_cluster()
    cluster.nodes["n0"].start()
    bus = a_bus(cluster.nodes["n0"].url, 3)
    with pytest.raises(StartError, match="Check that a majority of the NATS servers runs"):
        await bus.start()
    await bus.stop()


async def test_a_read_is_repeated_when_the_node_of_its_connection_freezes(nats_cluster, monkeypatch) -> None:
    monkeypatch.setattr(bus_module, "PING_EVERY_S", 0.5)
    asking, answering = (
        a_bus(nats_cluster.nodes[node].url, 1, service)
        for node, service in (("n0", "gateway"), ("n2", "ingest"))
    )

    async def handle(request: JobRequest) -> JobReply:
        raise PrismError(ErrorCode.JOB_NOT_FOUND, "No such job.", "List the jobs.")

    answering.serve(JOB, handle)
    answering.serve(CANCEL_JOB, handle)
    await answering.start()
    await asking.start()

    async def ask(rpc: Rpc[Any, Any], timeout_s: float) -> ErrorCode:
        with pytest.raises(PrismError) as caught:
            await asking.ask(rpc, rpc.request(tenant="t", job="j"), timeout_s=timeout_s)
        return caught.value.code

    assert await ask(JOB, DEADLINE_S) is ErrorCode.JOB_NOT_FOUND
    nats_cluster.nodes["n0"].freeze()
    read, write = await asyncio.gather(ask(JOB, DEADLINE_S), ask(CANCEL_JOB, 5.0))
    assert read is ErrorCode.JOB_NOT_FOUND
    assert write is ErrorCode.DEADLINE_EXCEEDED
    await asking.stop()
    await answering.stop()


async def test_a_connection_to_a_frozen_node_ends_though_much_is_unsent(nats_cluster, monkeypatch) -> None:
    monkeypatch.setattr(bus_module, "PING_EVERY_S", 0.5)
    bus = a_bus(nats_cluster.nodes["n0"].url, 1)
    await bus.connect()
    connection = bus.broker.connection
    nats_cluster.nodes["n0"].freeze()

    async def send_more_than_the_kernel_buffers() -> None:
        for _ in range(30):
            await connection.publish("prism.test", bytes(900_000))

    async with running(send_more_than_the_kernel_buffers()), asyncio.timeout(DEADLINE_S):
        while not connection.stats["reconnects"]:
            await asyncio.sleep(0.05)
    await bus.stop()
