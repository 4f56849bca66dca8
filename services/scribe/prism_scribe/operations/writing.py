"""Asks language models within a tenant's budget: up to three attempts each, then the next model."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from pydantic import BaseModel

from prism_contracts.accounting import ModelUse
from prism_runtime import tracing
from prism_runtime.tracing import Attribute
from prism_scribe.adapters.model_endpoints import ModelAnswer, ModelCallError, ModelEndpoint
from prism_scribe.adapters.model_metrics import ANSWERED, ModelMetrics
from prism_scribe.core.model_attempts import ATTEMPTS_MAX, Breaker, Failure, pause_after
from prism_scribe.core.model_budgets import Cost
from prism_scribe.core.writing import (
    Declined,
    DeclineReason,
    EvidenceText,
    Output,
    WritingTask,
    Written,
    require_bounded,
)

log = logging.getLogger(__name__)


class Budgets(Protocol):
    """The budgets of tenants. Raises OSError if they are not known."""

    async def reserve(self, tenant: str, cost: Cost) -> date | None:
        """Reserve what a call may cost. Returns the day that it counts for; None if the budget is used."""
        ...

    async def settle(self, tenant: str, day: date, reserved: Cost, use: ModelUse) -> None:
        """Count what a call did cost, in place of its reservation."""
        ...


@dataclass
class _Order:
    """What to write, and what the attempts cost so far."""

    task: WritingTask
    evidence: Sequence[EvidenceText]
    output: type[BaseModel]
    tokens: int = 0
    microdollars: int = 0

    def declined(self, reason: DeclineReason, message: str) -> Declined:
        return Declined(reason, message, self.tokens, self.microdollars)


@dataclass(frozen=True)
class _Call:
    """A call that is made, and what is reserved for it."""

    order: _Order
    model: str
    reserved: Cost
    day: date
    began: float

    def use(self, spent: ModelAnswer | ModelCallError | None) -> ModelUse:
        """Returns what the call cost; with None, the most that it may have cost."""
        is_lost = spent is None or (
            isinstance(spent, ModelCallError) and not (spent.is_free or spent.tokens_in or spent.tokens_out)
        )
        # A call that was late may have been answered in full.
        tokens_in = self.reserved.tokens if is_lost else spent.tokens_in if spent else 0
        microdollars = self.reserved.microdollars if is_lost else spent.microdollars if spent else 0
        return ModelUse(
            purpose=self.order.task.purpose,
            model=self.model,
            calls=1,
            failures=0 if isinstance(spent, ModelAnswer) else 1,
            tokens_in=tokens_in,
            tokens_out=spent.tokens_out if spent else 0,
            microdollars=microdollars,
        )


class ModelWriter:
    """Writes with the language models of the settings."""

    def __init__(
        self,
        endpoints: Sequence[ModelEndpoint],
        budgets: Budgets,
        metrics: ModelMetrics,
        *,
        timeout_s: float,
        concurrency: int,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoints = tuple(endpoints)
        self._budgets = budgets
        self._metrics = metrics
        self._timeout_s = timeout_s
        self._calls = asyncio.Semaphore(concurrency)
        self._now = now
        self._sleep = sleep
        self._breakers = {endpoint.name: Breaker(now) for endpoint in endpoints}
        self._settling: set[asyncio.Task[None]] = set()

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order in which they are asked."""
        return tuple(endpoint.name for endpoint in self._endpoints)

    async def write(
        self, task: WritingTask, evidence: Sequence[EvidenceText], output: type[Output]
    ) -> Written[Output] | Declined:
        """Write a value of a type. Raises ValueError if the type is not bounded."""
        require_bounded(output)
        order = _Order(task, evidence, output)
        with tracing.span("ask language model", kind=tracing.CLIENT) as span:
            try:
                async with asyncio.timeout(task.deadline_s):
                    result = await self._write(order)
            except TimeoutError:
                message = f"No language model answered within {task.deadline_s:g} s."
                result = order.declined(DeclineReason.LATE, message)
            if isinstance(result, Declined):
                span.set_attribute(Attribute.ERROR, result.reason.value)
                self._metrics.count_declined(task.purpose, result.reason.value)
                return result
        written, model = result
        assert isinstance(written, output)
        return Written(written, model, order.tokens, order.microdollars)

    async def close(self) -> None:
        """Count what was cancelled, and close the connections."""
        await asyncio.gather(*self._settling)
        for endpoint in self._endpoints:
            await endpoint.close()

    async def _write(self, order: _Order) -> tuple[BaseModel, str] | Declined:
        failures: list[str] = []
        kinds: set[Failure | None] = set()
        for endpoint in self._endpoints:
            if order.task.model not in {"", endpoint.name}:
                continue
            if not self._breakers[endpoint.name].lets_through():
                failures.append(f"{endpoint.name} is not asked for a while, after failures")
                kinds.add(None)
                continue
            try:
                found = await self._attempts(endpoint, order)
            except ModelCallError as error:
                log.warning("%s wrote nothing for %s: %s", endpoint.name, order.task.purpose.value, error)
                failures.append(f"{endpoint.name}: {error}")
                kinds.add(error.failure)
                continue
            return found if isinstance(found, Declined) else (found.output, endpoint.name)
        reason = _REASONS.get(next(iter(kinds)), None) if len(kinds) == 1 else None
        return order.declined(
            reason or DeclineReason.FAILED, f"No language model answered: {'; '.join(failures)}."
        )

    async def _attempts(self, endpoint: ModelEndpoint, order: _Order) -> ModelAnswer | Declined:
        """Returns what a model answered, or why it was not asked. Raises the ModelCallError of the last attempt."""
        breaker = self._breakers[endpoint.name]
        for attempt in range(1, ATTEMPTS_MAX + 1):
            try:
                async with self._calls:
                    found = await self._call(endpoint, order)
            except ModelCallError as error:
                breaker.note(error.failure)
                pause_s = pause_after(attempt, error.failure, error.retry_after_s, random.random())  # noqa: S311 - no secret
                if pause_s is None or not breaker.is_closed:
                    raise
                await self._sleep(pause_s)
                continue
            if isinstance(found, ModelAnswer):
                breaker.note(None)
            return found
        raise AssertionError("the last attempt returns or raises")

    async def _call(self, endpoint: ModelEndpoint, order: _Order) -> ModelAnswer | Declined:
        reserved = endpoint.cost_max(order.task, order.evidence)
        try:
            day = await self._budgets.reserve(order.task.tenant, reserved)
        except OSError:
            message = "What the tenant has used of language models is not known: NATS does not answer."
            return order.declined(DeclineReason.UNCOUNTED, message)
        if day is None:
            message = "The tenant's budget for language models is used until midnight UTC."
            return order.declined(DeclineReason.BUDGET, message)
        call = _Call(order, endpoint.name, reserved, day, self._now())
        try:
            found = await endpoint.ask(order.task, order.evidence, order.output, timeout_s=self._timeout_s)
        except ModelCallError as error:
            await self._settle(call, call.use(error), error.failure.value)
            raise
        except asyncio.CancelledError:
            settling = asyncio.create_task(self._settle(call, call.use(None), Failure.LATE.value))
            self._settling.add(settling)
            settling.add_done_callback(self._settling.discard)
            raise
        await self._settle(call, call.use(found), ANSWERED)
        return found

    async def _settle(self, call: _Call, use: ModelUse, result: str) -> None:
        call.order.tokens += use.tokens_in + use.tokens_out
        call.order.microdollars += use.microdollars
        self._metrics.count(use, result, self._now() - call.began)
        try:
            await self._budgets.settle(call.order.task.tenant, call.day, call.reserved, use)
        except OSError as error:
            log.warning("cannot count a call to %s, so its reservation stays: %s", use.model, error)


_REASONS: Mapping[Failure | None, DeclineReason] = {
    Failure.INVALID: DeclineReason.INVALID,
    Failure.LATE: DeclineReason.LATE,
}
