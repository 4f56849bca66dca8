"""Sums of calls by hour, in memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from prism_contracts.accounting import NO_ONE, UsageHour, UsageRow
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.callers import Caller

# Rows of a tenant and hour. Calls beyond are summed in a row per caller.
ROWS_MAX = 1_000
OTHERS = "others"
TENANT_HOURS_MAX = 2_000
LABEL_CHARS_MAX = 64

Key = tuple[str, str, str, str, str]  # caller, call, repository, code, source


@dataclass(slots=True)
class Use:
    """What a tenant used."""

    calls: int = 0
    errors: int = 0
    tokens: int = 0  # tokens of questions and answers
    seconds: float = 0.0

    def add(self, other: "Use") -> None:
        """Add what another used."""
        self.calls += other.calls
        self.errors += other.errors
        self.tokens += other.tokens
        self.seconds += other.seconds


class HourSums:
    """The sums of one tenant in one hour."""

    def __init__(self) -> None:
        self.is_stored = False
        self.total = Use()
        self._rows: dict[Key, UsageRow] = {}

    def add(self, caller: str, label: str, facts: CallFacts, milliseconds: float) -> None:
        """Add a call."""
        source = facts.source.value if facts.source else ""
        key = (caller, facts.call, facts.repo, facts.code, source)
        if key not in self._rows and len(self._rows) >= ROWS_MAX:
            key = (
                OTHERS,
                facts.call if facts.call in self._known_calls() else OTHERS,
                "",
                facts.code,
                source,
            )
            label = ""
        row = self._rows.get(key) or UsageRow(
            caller=key[0],
            label=label[:LABEL_CHARS_MAX],
            call=key[1],
            repo=key[2],
            code=key[3],
            source=source,
        )
        self._rows[key] = UsageRow.model_construct(
            caller=row.caller,
            label=row.label,
            call=row.call,
            repo=row.repo,
            code=row.code,
            source=row.source,
            calls=row.calls + 1,
            cached=row.cached + facts.cached,
            tokens_in=row.tokens_in + facts.tokens_in,
            tokens_out=row.tokens_out + facts.tokens_out,
            tokens_of_files=row.tokens_of_files + facts.tokens_of_files,
            milliseconds=row.milliseconds + milliseconds,
            milliseconds_max=max(row.milliseconds_max, milliseconds),
        )
        tokens = facts.tokens_in + facts.tokens_out
        self.total.add(Use(1, bool(facts.code), tokens, milliseconds / 1000))
        self.is_stored = False

    @property
    def rows(self) -> tuple[UsageRow, ...]:
        """The sums."""
        return tuple(
            row.model_copy(
                update={
                    "milliseconds": round(row.milliseconds, 1),
                    "milliseconds_max": round(row.milliseconds_max, 1),
                }
            )
            for row in self._rows.values()
        )

    def _known_calls(self) -> set[str]:
        return {call for _, call, *_ in self._rows}


class UsageSums:
    """The sums of all tenants, of the current hour and of hours that are not stored yet."""

    def __init__(self, gateway: str) -> None:
        self._gateway = gateway
        self._hours: dict[tuple[datetime, str], HourSums] = {}

    def add(self, caller: Caller | None, facts: CallFacts, milliseconds: float, now: datetime) -> None:
        """Add a call. `caller` is None if the call identified no one."""
        tenant = caller.tenant if caller else NO_ONE
        key = (hour_of(now), tenant)
        sums = self._hours.get(key)
        if sums is None:
            if len(self._hours) >= TENANT_HOURS_MAX:
                return
            sums = self._hours[key] = HourSums()
        sums.add(caller.id if caller else NO_ONE, caller.label if caller else "", facts, milliseconds)

    def by_tenant(self, now: datetime) -> dict[str, Use]:
        """Returns what each tenant used in the current hour."""
        current = hour_of(now)
        return {tenant: sums.total for (hour, tenant), sums in self._hours.items() if hour == current}

    def unstored(self) -> Iterator[tuple[UsageHour, HourSums]]:
        """Yields the hours that changed since they were stored. Mark each when it is."""
        for (hour, tenant), sums in list(self._hours.items()):
            if not sums.is_stored:
                sums.is_stored = True
                yield UsageHour(tenant=tenant, hour=hour, gateway=self._gateway, rows=sums.rows), sums

    def forget_stored(self, now: datetime) -> None:
        """Forget the hours that are over and stored."""
        current = hour_of(now)
        for (hour, tenant), sums in list(self._hours.items()):
            if sums.is_stored and hour < current:
                del self._hours[hour, tenant]


def hour_of(moment: datetime) -> datetime:
    """Returns the beginning of an hour."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
