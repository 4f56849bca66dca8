"""Rate limits of tenants and callers: decides whether a call may pass, and when to come back if not."""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from nats.aio.client import Client
from prometheus_client import CollectorRegistry, Counter

from prism_catalog.tenants import Tenants
from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.callers import Caller
from prism_gateway.rates.counters import DAY_S, MINUTE_S, Day, Minute, SharedCounter, Window
from prism_gateway.rates.policies import CallClass, Policy, policies_of
from prism_gateway.rates.quota import Quota
from prism_runtime.bus import Bus

IDLE_S = 120.0
# For a refusal that has no better time.
RETRY_AFTER_S = 1
WORDS = {MINUTE_S: "per minute", DAY_S: "per day"}
WINDOWS: Mapping[int, Window] = {MINUTE_S: Minute(), DAY_S: Day()}


class LimitMetrics:
    """Counts what was limited."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.refused = Counter(
            "prism_limited_calls",
            "Calls over a rate limit, by limit.",
            ["limit"],
            registry=registry,
        )
        self.local = Counter(
            "prism_limits_local",
            "Decisions about rate limits that one copy of the gateway made alone, because NATS did not answer.",
            registry=registry,
        )


class LimitState(NamedTuple):
    """What is left of a limit."""

    policy: Policy
    remaining: int
    resets_in_s: int


class Admission(NamedTuple):
    """The limits that a call counted against. `refused` is the one that it exceeds."""

    states: Sequence[LimitState] = ()
    refused: LimitState | None = None

    @property
    def headers(self) -> dict[str, str]:
        """Returns the headers of draft-ietf-httpapi-ratelimit-headers and RFC 9110."""
        if not self.states:
            return {}
        tightest = self.refused or min(self.states, key=lambda one: one.remaining / max(1, one.policy.limit))
        policies = ", ".join(f'"{p.name}";q={p.limit};w={p.window_s}' for p, *_ in self.states)
        limit = f'"{tightest.policy.name}";r={tightest.remaining};t={tightest.resets_in_s}'
        later = {"Retry-After": str(tightest.resets_in_s)} if self.refused else {}
        return {"RateLimit-Policy": policies, "RateLimit": limit, **later}

    def check(self) -> None:
        """Raise RATE_LIMITED if the call exceeds a limit."""
        if self.refused is None:
            return
        policy, _, after_s = self.refused
        owner = "token" if policy.is_of_caller else "tenant"
        raise PrismError(
            ErrorCode.RATE_LIMITED,
            f"The {owner}'s limit `{policy.name}` is reached: {policy.limit} {WORDS[policy.window_s]}.",
            f"Retry in {after_s} s.",
            retry_after_s=after_s,
            limit=policy.limit,
            window_s=policy.window_s,
        )


class Limiter:
    """The limits of one event loop."""

    def __init__(
        self, tenants: Tenants, metrics: LimitMetrics, clock: Callable[[], float] = time.time
    ) -> None:
        self._tenants = tenants
        self._metrics = metrics
        self._clock = clock
        self._connection: Client | None = None
        self._quotas: OrderedDict[str, tuple[Quota, float]] = OrderedDict()  # with its last use

    async def open(self, bus: Bus, *, replicas: int) -> None:
        """Declare the counters. Until then nothing is limited."""
        for config in (Minute.config(replicas), Day.config(replicas)):
            await bus.keep_stream(config)
        self._connection = bus.broker.connection

    async def admit(self, caller: Caller, call: CallClass) -> Admission:
        """Count a call against its limits. One that is refused counts against none."""
        policies = policies_of(call, self._tenants.limits_of(caller.tenant))
        if not policies or self._connection is None:
            return Admission()
        quotas = [self._quota(self._connection, caller, policy) for policy in policies]
        refused = next((index for index, quota in enumerate(quotas) if quota.refused_for_s()), None)
        if refused is None:
            refused = await _take(quotas)
        states = [_state(*pair) for pair in zip(policies, quotas, strict=True)]
        if refused is None:
            return Admission(states)
        self._metrics.refused.labels(policies[refused].name).inc()
        after_s = max(RETRY_AFTER_S, math.ceil(quotas[refused].refused_for_s()))
        return Admission(states, LimitState(policies[refused], 0, after_s))

    def _quota(self, connection: Client, caller: Caller, policy: Policy) -> Quota:
        subject = f"{caller.tenant}.{policy.name}" + (f".{caller.id}" if policy.is_of_caller else "")
        now = self._clock()
        quota, _ = self._quotas.pop(subject, (None, 0.0))
        if quota is None:
            window = WINDOWS[policy.window_s]
            counter = SharedCounter(connection, window, subject)
            quota = Quota(policy.limit, window, counter, self._metrics.local.inc)
        quota.set_limit(policy.limit)
        self._quotas[subject] = (quota, now)  # the newest is at the end
        while (oldest := next(iter(self._quotas.items())))[1][1] < now - IDLE_S:
            del self._quotas[oldest[0]]
        return quota


async def _take(quotas: Sequence[Quota]) -> int | None:
    """Take a unit of each quota, or of none. Returns the position of the first that has none left."""
    units = [quota.take_reserved() for quota in quotas]
    missing = [index for index, unit in enumerate(units) if unit is None]
    # gather() costs a task for each, so the usual case of one goes without.
    taken = (
        [await quotas[missing[0]].take()]
        if len(missing) == 1
        else await asyncio.gather(*(quotas[index].take() for index in missing))
    )
    for index, unit in zip(missing, taken, strict=True):
        units[index] = unit
    refused = next((index for index, unit in enumerate(units) if unit is None), None)
    if refused is not None:
        for quota, unit in zip(quotas, units, strict=True):
            if unit:
                quota.give_back(unit)
    return refused


def _state(policy: Policy, quota: Quota) -> LimitState:
    return LimitState(policy, quota.remaining, math.ceil(quota.resets_in_s()))
