"""`python -m bench.limits`: what a rate limit costs a call, and how exact it is, with several gateways on one NATS.

Each gateway is a process with the limiter of the product and one connection. It starts a nats-server of its
own and stops it.
"""

import argparse
import asyncio
import multiprocessing
import os
import time
from collections.abc import Sequence
from typing import NamedTuple

import uvloop
from prometheus_client import CollectorRegistry

from bench.broker import nats_server
from prism_catalog.tenants import PlanSettings, Tenants
from prism_gateway.callers import Caller
from prism_gateway.rates.limiter import Limiter, LimitMetrics
from prism_gateway.rates.policies import CallClass
from prism_runtime.bus import Bus
from prism_runtime.settings import ServiceSettings

WINDOW_S = 60.0


class Load(NamedTuple):
    """A measurement: how many gateways offer how many calls per second, and how many at once."""

    gateways: int
    per_s: float
    at_once: int
    per_minute: int
    seconds: float


class Calls(NamedTuple):
    """The calls of one gateway: when one passed, how long each decision took, how many were refused."""

    passed: list[float]
    took_s: list[float]
    refused: int


def main() -> None:
    """Measure every load, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateways", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=130.0, help="of the loads that reach their limit")
    options = parser.parse_args()
    loads = (
        Load(options.gateways, 0.4, 1, 60, options.seconds / 4),
        Load(options.gateways, 10, 1, 60, options.seconds),
        Load(options.gateways, 200, 50, 60, options.seconds),
        Load(options.gateways, 200, 1, 1_000_000, 10),
        Load(options.gateways, 1000, 1, 1_000_000, 10),
    )
    with nats_server() as url:
        for number, load in enumerate(loads):
            print(_line(load, _measure(load, url, f"bench-{number}")), flush=True)


def most_in_window(passed: Sequence[float], window_s: float = WINDOW_S) -> int:
    """Returns the most calls that passed within any window."""
    ordered, most, first = sorted(passed), 0, 0
    for last, at in enumerate(ordered):
        while ordered[first] <= at - window_s:
            first += 1
        most = max(most, last - first + 1)
    return most


def _line(load: Load, calls: Sequence[Calls]) -> str:
    took_ms = sorted(1000 * took for one in calls for took in one.took_s)
    mean, p50, p99 = (
        sum(took_ms) / len(took_ms),
        took_ms[len(took_ms) // 2],
        took_ms[len(took_ms) * 99 // 100],
    )
    passed = [at for one in calls for at in one.passed]
    return (
        f"{load.gateways} gateways, {load.per_s:g} calls/s each, {load.at_once} at once, limit {load.per_minute:,} a "
        f"minute: at most {most_in_window(passed):,} passed in any minute; {len(passed):,} of {len(took_ms):,} passed in "
        f"{load.seconds:g} s; a decision took {mean:.3f} ms on average, {p50:.3f} p50, {p99:.3f} p99"
    )


def _measure(load: Load, url: str, tenant: str) -> list[Calls]:
    context = multiprocessing.get_context("spawn")
    with context.Pool(load.gateways) as pool:
        return pool.starmap(_gateway, [(load, url, tenant)] * load.gateways)


def _gateway(load: Load, url: str, tenant: str) -> Calls:
    return uvloop.run(_call(load, url, tenant))


async def _call(load: Load, url: str, tenant: str) -> Calls:
    limits = {"searches_per_minute": load.per_minute, "requests_per_day": 10_000_000}
    plans = PlanSettings(plans={"bench": limits}, plan_default="bench")
    bus = Bus("gateway", ServiceSettings(nats_url=url))
    await bus.start()
    limiter = Limiter(Tenants(plans), LimitMetrics(CollectorRegistry()))
    await limiter.open(bus, replicas=1)
    caller = Caller(tenant=tenant, scopes=frozenset(), id=f"token:{os.getpid()}", label="bench")
    calls = Calls([], [], 0)
    refused = 0

    async def one() -> None:
        nonlocal refused
        began = time.perf_counter()
        verdict = await limiter.admit(caller, CallClass.SEARCH)
        calls.took_s.append(time.perf_counter() - began)
        if verdict.refused:
            refused += 1
        else:
            calls.passed.append(time.time())

    began = time.monotonic()
    while time.monotonic() < began + load.seconds:
        await asyncio.gather(*(one() for _ in range(load.at_once)))
        due = began + len(calls.took_s) / load.per_s
        await asyncio.sleep(max(0.0, due - time.monotonic()))
    await bus.stop()
    return calls._replace(refused=refused)


if __name__ == "__main__":
    main()
