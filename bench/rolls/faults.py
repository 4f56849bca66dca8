"""Rolls and faults: what is done to a site while clients ask and push. Each function returns when the site is whole again."""

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]

from bench.rolls.cluster import NODES
from bench.rolls.copies import SERVICES, STORE, WORKERS, Copy
from bench.rolls.site import Site

# Between two copies of a roll, as an orchestrator's minReadySeconds.
BETWEEN_S = 2.0
NODE_DOWN_S = 6.0
FROZEN_S = 60.0
QUORUM_LOST_S = 8.0


class Scenario(NamedTuple):
    """A name to select it by, what it does, about how long it takes, and the function."""

    name: str
    what: str
    seconds: float
    disturb: Callable[[Site], None]


def roll(site: Site, service: str) -> None:
    """Restart the copies of a service one after the other."""
    for copy in site.copies.of(service):
        site.copies.restart(copy)
        time.sleep(BETWEEN_S)


def retire_nodes(site: Site) -> None:
    """Restart the nodes of NATS one after the other, each in lame duck mode."""
    for node in range(NODES):
        site.cluster.retire(node)
        site.cluster.start(node)
        site.cluster.wait_healthy()


def kill_leader(site: Site, stream: str) -> None:
    """Kill the node that leads a stream; it comes back some seconds later."""
    node = site.cluster.leader(stream)
    site.cluster.kill(node)
    time.sleep(NODE_DOWN_S)
    site.cluster.start(node)
    site.cluster.wait_healthy()


def freeze_node(site: Site) -> None:
    """Make the node with most clients vanish without a reset, for a minute."""
    node = max(range(NODES), key=lambda one: len(site.cluster.clients(one)))
    site.cluster.suspend(node)
    time.sleep(FROZEN_S)
    site.cluster.resume(node)
    site.cluster.wait_healthy()


def lose_quorum(site: Site) -> None:
    """Kill two of the three nodes; both come back some seconds later."""
    for node in (0, 1):
        site.cluster.kill(node)
    time.sleep(QUORUM_LOST_S)
    for node in (0, 1):
        site.cluster.start(node)
    site.cluster.wait_healthy()


def kill_workers(site: Site) -> None:
    """Kill one copy of each worker, one after the other."""
    for service in WORKERS:
        site.copies.kill(Copy(service))
        site.copies.start(Copy(service))
    site.copies.wait_ready(*(Copy(service) for service in WORKERS))


def kill_importer(site: Site) -> None:
    """Kill the copy of ingest that does most of the work of the import."""
    copy = site.copies.busiest("ingest", _cpu_s)
    site.copies.kill(copy)
    site.copies.start(copy)
    site.copies.wait_ready(copy)


def _nothing(site: Site) -> None:  # noqa: ARG001 - the signature of a fault
    time.sleep(BETWEEN_S)


def _cpu_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


UNDISTURBED = Scenario("undisturbed", "nothing", 20, _nothing)
SCENARIOS = (
    *(
        Scenario(f"roll-{service}", f"roll of {service}", 25, partial(roll, service=service))
        for service in SERVICES
    ),
    Scenario("restart-store", "restart of the store", 15, partial(roll, service=STORE)),
    Scenario("lame-duck", "lame duck of each NATS node in turn", 120, retire_nodes),
    *(
        Scenario(
            f"kill-leader-{stream.rpartition('_')[2].lower()}",
            f"`kill -9` of the leader of {stream}",
            15,
            partial(kill_leader, stream=stream),
        )
        for stream in ("PRISM_CHUNKED", "KV_prism_jobs", "KV_prism_tokens")
    ),
    Scenario("freeze-node", "a NATS node frozen for 60 s", 90, freeze_node),
    Scenario("lose-quorum", "two of three NATS nodes killed for 8 s", 20, lose_quorum),
    Scenario("kill-workers", "`kill -9` of one copy of each worker", 25, kill_workers),
    Scenario("kill-importer", "`kill -9` of the busier ingest during an import", 25, kill_importer),
)
