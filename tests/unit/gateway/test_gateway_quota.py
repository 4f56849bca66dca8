"""Quotas of two gateways on one counter: no schedule of calls lets more through than the limit."""

import asyncio
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from prism_gateway.rates.counters import DAY_S, HOLD_S, MINUTE_S, Day, Minute, Reservation
from prism_gateway.rates.policies import CLASS_OF_ROUTE, CLASS_OF_TOOL, CallClass, policies_of
from prism_gateway.rates.quota import FULL_S_MIN, LOCAL_S, Quota
from prism_gateway.scopes import ROUTES, TOOLS

LIMIT = 60


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Log:
    """The counter of all gateways, in memory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: list[tuple[float, int]] = []
        self.asked = 0
        self.is_down = False

    async def reserve(self, wanted: int, limit: int) -> Reservation:
        await asyncio.sleep(0)  # other calls arrive meanwhile
        self.asked += 1
        if self.is_down:
            raise OSError("no answer")
        now = self._clock.now
        self._entries = [(at, added) for at, added in self._entries if at > now - MINUTE_S - HOLD_S]
        used = sum(added for _, added in self._entries)
        granted = max(0, min(wanted, limit - used))
        if granted:
            self._entries.append((now, granted))
            return Reservation(granted, used + granted)
        return Reservation(0, used, self._entries[0][0] + MINUTE_S + HOLD_S)


async def call(quota: Quota) -> bool:
    return (quota.take_reserved() or await quota.take()) is not None


async def pass_at_once(quota: Quota, calls: int) -> int:
    return sum(await asyncio.gather(*(call(quota) for _ in range(calls))))


def most_in_a_minute(passed: Sequence[float]) -> int:
    return max((sum(at - MINUTE_S < other <= at for other in passed) for at in passed), default=0)


calls_of_gateways = st.lists(
    st.tuples(st.floats(0, 20), st.integers(0, 1), st.integers(1, 80)), min_size=1, max_size=60
)


@given(calls_of_gateways)
async def test_no_minute_has_more_calls_than_the_limit(schedule) -> None:
    clock = Clock()
    log = Log(clock)
    gateways = [Quota(LIMIT, Minute(), log, clock=clock) for _ in range(2)]
    passed: list[float] = []
    for pause_s, gateway, calls in schedule:
        clock.now += pause_s
        passed += [clock.now] * await pass_at_once(gateways[gateway], calls)
    assert most_in_a_minute(passed) <= LIMIT


@given(calls_of_gateways)
async def test_a_refused_call_may_pass_at_the_time_it_names(schedule) -> None:
    clock = Clock()
    quota = Quota(LIMIT, Minute(), Log(clock), clock=clock)
    for pause_s, _, calls in schedule:
        clock.now += pause_s
        await pass_at_once(quota, calls)
    while not await call(quota):
        assert 0 < quota.refused_for_s() <= MINUTE_S + HOLD_S
        clock.now += quota.refused_for_s() + 0.001
        assert await call(quota)
        break


async def test_one_gateway_lets_the_whole_limit_through() -> None:
    clock = Clock()
    quota = Quota(LIMIT, Minute(), Log(clock), clock=clock)
    assert await pass_at_once(quota, 100) == LIMIT
    assert quota.remaining == 0


async def test_calls_that_follow_each_other_all_pass_up_to_the_limit() -> None:
    clock = Clock()
    quota = Quota(LIMIT, Minute(), Log(clock), clock=clock)
    passed = 0
    for _ in range(100):
        clock.now += 0.1
        passed += await call(quota)
    assert passed == LIMIT


async def test_a_busy_caller_seldom_asks_the_counter() -> None:
    clock = Clock()
    log = Log(clock)
    quota = Quota(1_000, Minute(), log, clock=clock)
    for _ in range(600):
        clock.now += 0.1
        assert await call(quota)
        await asyncio.sleep(0)  # the refill of this call
    assert log.asked < 150


async def test_a_full_quota_refuses_without_asking() -> None:
    clock = Clock()
    log = Log(clock)
    quota = Quota(LIMIT, Minute(), log, clock=clock)
    await pass_at_once(quota, 100)
    asked = log.asked
    assert await pass_at_once(quota, 100) == 0
    assert log.asked == asked


async def test_without_the_counter_one_gateway_keeps_the_limit() -> None:
    clock = Clock()
    log = Log(clock)
    decisions: list[None] = []
    quota = Quota(LIMIT, Minute(), log, lambda: decisions.append(None), clock)
    log.is_down = True
    assert await pass_at_once(quota, 100) == LIMIT
    assert decisions
    assert 0 < quota.refused_for_s() <= MINUTE_S
    log.is_down = False
    clock.now += MINUTE_S + LOCAL_S
    assert await pass_at_once(quota, 100) == LIMIT


async def test_calls_decided_alone_count_after_the_outage() -> None:
    clock = Clock()
    log = Log(clock)
    quota = Quota(LIMIT, Minute(), log, clock=clock)
    log.is_down = True
    assert await pass_at_once(quota, 40) == 40
    log.is_down = False
    clock.now += LOCAL_S + FULL_S_MIN
    assert await pass_at_once(quota, 100) == LIMIT - 40


async def test_a_unit_that_is_given_back_can_be_taken_again() -> None:
    clock = Clock()
    quota = Quota(1, Minute(), Log(clock), clock=clock)
    unit = await quota.take()
    assert unit
    quota.give_back(unit)
    assert await call(quota)


async def test_a_day_ends_at_midnight() -> None:
    clock = Clock()
    clock.now = 3 * DAY_S + 100.0
    assert Quota(LIMIT, Day(), Log(clock), clock=clock).resets_in_s() == DAY_S - 100


def test_every_class_is_that_of_a_route_or_tool_that_exists() -> None:
    assert CLASS_OF_ROUTE.keys() <= ROUTES.keys()
    assert CLASS_OF_TOOL.keys() <= TOOLS.keys()


def test_a_plan_without_limits_limits_nothing() -> None:
    assert all(not policies_of(call, {}) for call in CallClass)


async def test_a_higher_limit_admits_calls_at_once() -> None:
    clock = Clock()
    quota = Quota(LIMIT, Minute(), Log(clock), clock=clock)
    assert await pass_at_once(quota, 100) == LIMIT
    quota.set_limit(LIMIT + 10)
    assert quota.refused_for_s() == 0
    assert await pass_at_once(quota, 100) == 10


async def test_a_limit_that_rises_while_the_counter_answers_admits_the_call() -> None:
    clock = Clock()
    log = Log(clock)
    quota = Quota(1, Minute(), log, clock=clock)
    assert await call(quota)
    reserve = log.reserve

    async def reserve_slowly(wanted: int, limit: int) -> Reservation:
        found = await reserve(wanted, limit)
        quota.set_limit(2)
        return found

    log.reserve = reserve_slowly
    assert await call(quota)


async def test_a_lower_limit_holds_for_the_next_call() -> None:
    clock = Clock()
    quota = Quota(LIMIT, Minute(), Log(clock), clock=clock)
    assert await call(quota)
    quota.set_limit(1)
    assert not await call(quota)
