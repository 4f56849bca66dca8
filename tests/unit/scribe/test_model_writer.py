"""Attempts, failover, the breaker, and what is counted."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

import pytest
from prometheus_client import CollectorRegistry
from pydantic import BaseModel, Field

from prism_contracts.accounting import ModelDay, ModelPurpose, ModelUse
from prism_scribe.adapters.model_endpoints import ModelAnswer, ModelCallError
from prism_scribe.adapters.model_metrics import ModelMetrics
from prism_scribe.core.model_attempts import BREAK_S, Failure
from prism_scribe.core.model_budgets import Caps, Cost, fits, reserve, settle, spent
from prism_scribe.core.writing import Declined, DeclineReason, NoWriter, WritingTask, Written
from prism_scribe.operations.writing import ModelWriter

TASK = WritingTask("acme", ModelPurpose.WIKI, "Write.")
COST = Cost(1_000, 50)
NO_CAPS = Caps(None, None)
DAY = date(2026, 11, 25)


class Text(BaseModel):
    """A text."""

    text: str = Field(max_length=20)


GOOD = ModelAnswer(Text(text="good"), 100, 20, 5)
Outcome = ModelAnswer | ModelCallError | Callable[[], object]


@dataclass
class Endpoint:
    """A model that gives outcomes in turn, the last one for ever."""

    outcomes: list[Outcome]
    name: str = "endpoint:first"
    asked: int = 0

    def cost_max(self, *_: object) -> Cost:
        return COST

    async def ask(self, *_: object, timeout_s: float) -> ModelAnswer:
        self.asked += 1
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, ModelCallError):
            raise outcome
        if isinstance(outcome, ModelAnswer):
            return outcome
        await outcome()
        raise AssertionError

    async def close(self) -> None: ...


@dataclass
class Budgets:
    """The budget of one tenant, in memory."""

    caps: Caps = NO_CAPS
    day: ModelDay = field(default_factory=lambda: ModelDay(tenant="acme", day=DAY))
    is_away: bool = False

    async def reserve(self, tenant: str, cost: Cost) -> date | None:
        if self.is_away:
            raise OSError
        if not fits(self.day, cost, self.caps):
            return None
        self.day = reserve(self.day, cost)
        return DAY

    async def settle(self, tenant: str, day: date, reserved: Cost, use: ModelUse) -> None:
        self.day = settle(self.day, reserved, use)


class Clock:
    """Time that passes when something sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def writer_of(
    *endpoints: Endpoint, budgets: Budgets | None = None, clock: Clock | None = None
) -> ModelWriter:
    clock = clock or Clock()
    return ModelWriter(
        endpoints,
        budgets or Budgets(),
        ModelMetrics(CollectorRegistry()),
        timeout_s=5,
        concurrency=2,
        now=lambda: clock.now,
        sleep=clock.sleep,
    )


def failure(kind: Failure, **fields: object) -> ModelCallError:
    return ModelCallError(
        kind, "no", is_free=kind is not Failure.LATE and kind is not Failure.INVALID, **fields
    )


async def test_an_answer_says_who_wrote_it_and_what_it_cost() -> None:
    budgets = Budgets()
    written = await writer_of(Endpoint([GOOD]), budgets=budgets).write(TASK, (), Text)
    assert written == Written(Text(text="good"), "endpoint:first", 120, 5)
    assert spent(budgets.day) == Cost(120, 5)
    assert budgets.day.uses == (
        ModelUse(
            purpose=ModelPurpose.WIKI,
            model="endpoint:first",
            calls=1,
            tokens_in=100,
            tokens_out=20,
            microdollars=5,
        ),
    )


@pytest.mark.parametrize("kind", [Failure.LATE, Failure.UNREACHABLE, Failure.BUSY, Failure.BROKEN])
async def test_what_may_pass_is_tried_three_times_with_growing_pauses(kind: Failure) -> None:
    clock, first = Clock(), Endpoint([failure(kind), failure(kind), GOOD])
    written = await writer_of(first, clock=clock).write(TASK, (), Text)
    assert isinstance(written, Written)
    assert first.asked == 3
    assert len(clock.pauses) == 2
    assert 0.25 <= clock.pauses[0] <= 0.5 <= clock.pauses[1] <= 1.0


async def test_the_next_model_is_asked_after_three_attempts() -> None:
    first, second = Endpoint([failure(Failure.BROKEN)]), Endpoint([GOOD], "endpoint:second")
    written = await writer_of(first, second).write(TASK, (), Text)
    assert isinstance(written, Written)
    assert (written.model, first.asked, second.asked) == ("endpoint:second", 3, 1)


@pytest.mark.parametrize(
    ("kind", "attempts"), [(Failure.NOT_ALLOWED, 1), (Failure.REJECTED, 1), (Failure.INVALID, 2)]
)
async def test_what_does_not_pass_is_not_tried_as_often(kind: Failure, attempts: int) -> None:
    first, second = Endpoint([failure(kind)]), Endpoint([GOOD], "endpoint:second")
    assert isinstance(await writer_of(first, second).write(TASK, (), Text), Written)
    assert first.asked == attempts


async def test_a_pause_that_the_server_asks_for_is_kept_unless_it_is_long() -> None:
    clock = Clock()
    short = Endpoint([failure(Failure.BUSY, retry_after_s=3.0), GOOD])
    await writer_of(short, clock=clock).write(TASK, (), Text)
    assert clock.pauses == [3.0]
    long = Endpoint([failure(Failure.BUSY, retry_after_s=60.0)])
    declined = await writer_of(long).write(TASK, (), Text)
    assert isinstance(declined, Declined)
    assert long.asked == 1


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Failure.LATE, DeclineReason.LATE),
        (Failure.INVALID, DeclineReason.INVALID),
        (Failure.BROKEN, DeclineReason.FAILED),
        (Failure.NOT_ALLOWED, DeclineReason.FAILED),
    ],
)
async def test_a_text_that_no_model_writes_is_declined_with_the_reason(
    kind: Failure, reason: DeclineReason
) -> None:
    declined = await writer_of(Endpoint([failure(kind)])).write(TASK, (), Text)
    assert isinstance(declined, Declined)
    assert declined.reason is reason
    assert "endpoint:first" in declined.message


async def test_after_failures_in_a_row_a_model_is_left_alone_and_then_tried_once() -> None:
    clock, first = Clock(), Endpoint([failure(Failure.BROKEN)])
    writer = writer_of(first, clock=clock)
    await writer.write(TASK, (), Text)
    await writer.write(TASK, (), Text)
    assert first.asked == 3
    clock.now += BREAK_S
    await writer.write(TASK, (), Text)
    await writer.write(TASK, (), Text)
    assert first.asked == 4
    clock.now += BREAK_S
    first.outcomes = [GOOD]
    assert isinstance(await writer.write(TASK, (), Text), Written)
    assert isinstance(await writer.write(TASK, (), Text), Written)


@pytest.mark.parametrize("caps", [Caps(999, None), Caps(None, 49)])
async def test_nothing_is_asked_beyond_the_budget(caps: Caps) -> None:
    first = Endpoint([GOOD])
    declined = await writer_of(first, budgets=Budgets(caps)).write(TASK, (), Text)
    assert isinstance(declined, Declined)
    assert (declined.reason, first.asked) == (DeclineReason.BUDGET, 0)


async def test_calls_at_once_stay_within_the_budget_together() -> None:
    budgets = Budgets(Caps(1_500, None))
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.sleep(30)

    writer = writer_of(Endpoint([wait]), budgets=budgets)
    first = asyncio.create_task(writer.write(TASK, (), Text))
    await started.wait()
    second = await writer.write(TASK, (), Text)
    assert isinstance(second, Declined)
    assert second.reason is DeclineReason.BUDGET
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await writer.close()
    # What was cancelled may have been answered, so it counts in full, and no longer as reserved.
    assert budgets.day.reserved_tokens == 0
    assert spent(budgets.day) == COST
    assert budgets.day.uses[0].failures == 1


@pytest.mark.parametrize(("kind", "tokens"), [(Failure.LATE, 3_000), (Failure.BUSY, 0)])
async def test_an_answer_that_was_lost_counts_as_the_most_it_may_have_cost(
    kind: Failure, tokens: int
) -> None:
    budgets = Budgets()
    await writer_of(Endpoint([failure(kind)]), budgets=budgets).write(TASK, (), Text)
    assert spent(budgets.day).tokens == tokens
    assert budgets.day.uses[0].failures == 3


async def test_nothing_is_spent_that_cannot_be_counted() -> None:
    first = Endpoint([GOOD])
    declined = await writer_of(first, budgets=Budgets(is_away=True)).write(TASK, (), Text)
    assert isinstance(declined, Declined)
    assert (declined.reason, first.asked) == (DeclineReason.UNCOUNTED, 0)


async def test_the_deadline_holds_over_all_attempts() -> None:
    async def wait() -> None:
        await asyncio.sleep(30)

    task = WritingTask("acme", ModelPurpose.WIKI, "Write.", deadline_s=0.05)
    writer = writer_of(Endpoint([wait]))
    declined = await writer.write(task, (), Text)
    assert isinstance(declined, Declined)
    assert declined.reason is DeclineReason.LATE
    await writer.close()


async def test_without_a_model_everything_is_declined() -> None:
    declined = await NoWriter().write(TASK, (), Text)
    assert declined == Declined(DeclineReason.NO_MODEL, "No language model is set.")
