"""Adds up hourly sums for a report."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel

from prism_contracts.accounting import ModelDay, ModelPurpose, UsageHour, UsageRow

GROUPS_MAX = 1_000
MICRODOLLARS = 1_000_000
RULE = (
    "An estimate: a token is four characters. `tokens_of_files` are the files whose code the answers of "
    "search_code, read_file and get_file_outline show, at ten tokens a line; other answers count no files. "
    "`tokens_saved` is that less the answers of these calls, at least 0."
)


class UsageBy(StrEnum):
    """What a report is grouped by."""

    CALL = "call"
    CALLER = "caller"
    REPOSITORY = "repository"
    CODE = "code"
    SOURCE = "source"
    HOUR = "hour"
    DAY = "day"
    TENANT = "tenant"


class UsageOf(BaseModel):
    """Which calls a report is about: those of a repository, a caller (id or label) and a tool; empty for all."""

    repository: str = ""
    caller: str = ""
    call: str = ""

    def has(self, row: UsageRow) -> bool:
        """Whether the calls of a row are among them."""
        return (
            self.repository in ("", row.repo)
            and self.caller in ("", row.caller, row.label)
            and self.call in ("", row.call)
        )


class UsageGroup(BaseModel):
    """The sums of a group. `key` is the tool, caller, repository, code, source, time or tenant."""

    key: str
    label: str = ""
    calls: int = 0
    errors: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_of_files: int = 0
    tokens_saved: int = 0
    milliseconds_mean: float = 0
    milliseconds_max: float = 0


class ModelUsage(BaseModel):
    """The calls to a language model for one purpose."""

    model: str
    purpose: ModelPurpose
    calls: int = 0
    failures: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0  # 0 if the price is not known


class UsageReport(BaseModel):
    """The sums of a tenant, or of all, between two times."""

    tenant: str  # empty for all tenants
    since: datetime
    until: datetime
    by: UsageBy
    of: UsageOf = UsageOf()
    total: UsageGroup
    groups: tuple[UsageGroup, ...]
    groups_left_out: int
    models: tuple[ModelUsage, ...] = ()  # usage on the days (UTC) that the range touches
    rule: str = RULE


class _Sum:
    def __init__(self, key: str) -> None:
        self.group = UsageGroup(key=key)
        self._milliseconds = 0.0

    def add(self, row: UsageRow) -> None:
        group = self.group
        group.calls += row.calls
        group.errors += row.calls if row.code else 0
        group.cached += row.cached
        group.tokens_in += row.tokens_in
        group.tokens_out += row.tokens_out
        group.tokens_of_files += row.tokens_of_files
        if row.tokens_of_files:
            group.tokens_saved += max(0, row.tokens_of_files - row.tokens_out)
        group.milliseconds_max = max(group.milliseconds_max, row.milliseconds_max)
        self._milliseconds += row.milliseconds
        group.milliseconds_mean = round(self._milliseconds / max(1, group.calls), 1)


def report(
    hours: Iterable[UsageHour],
    tenant: str,
    since: datetime,
    until: datetime,
    by: UsageBy,
    *,
    of: UsageOf | None = None,
    days: Iterable[ModelDay] = (),
) -> UsageReport:
    """Returns the sums of the hours that begin in a range of time, and of the days of language models."""
    of = of or UsageOf()
    total, groups = _Sum("total"), dict[str, _Sum]()
    for hour in hours:
        if not since <= hour.hour < until:
            continue
        for row in filter(of.has, hour.rows):
            key = _KEYS[by](hour, row)
            found = groups.setdefault(key, _Sum(key))
            found.add(row)
            total.add(row)
            if by is UsageBy.CALLER:
                found.group.label = row.label or found.group.label
    ordered = sorted((one.group for one in groups.values()), key=lambda group: _order(group, by))
    return UsageReport(
        tenant=tenant,
        since=since,
        until=until,
        by=by,
        of=of,
        total=total.group,
        groups=tuple(ordered[:GROUPS_MAX]),
        groups_left_out=max(0, len(ordered) - GROUPS_MAX),
        models=model_usage(days),
    )


def model_usage(days: Iterable[ModelDay]) -> tuple[ModelUsage, ...]:
    """Returns the sums of days by model and purpose, the most calls first."""
    sums: dict[tuple[str, ModelPurpose], ModelUsage] = {}
    for use in (use for day in days for use in day.uses):
        found = sums.setdefault((use.model, use.purpose), ModelUsage(model=use.model, purpose=use.purpose))
        found.calls += use.calls
        found.failures += use.failures
        found.tokens_in += use.tokens_in
        found.tokens_out += use.tokens_out
        found.dollars = round(found.dollars + use.microdollars / MICRODOLLARS, 6)
    return tuple(sorted(sums.values(), key=lambda one: (-one.calls, one.model, one.purpose)))


_KEYS: Mapping[UsageBy, Callable[[UsageHour, UsageRow], str]] = {
    UsageBy.CALL: lambda _, row: row.call,
    UsageBy.CALLER: lambda _, row: row.caller,
    UsageBy.REPOSITORY: lambda _, row: row.repo,
    UsageBy.CODE: lambda _, row: row.code,
    UsageBy.SOURCE: lambda _, row: row.source,
    UsageBy.HOUR: lambda hour, _: hour.hour.isoformat(),
    UsageBy.DAY: lambda hour, _: hour.hour.date().isoformat(),
    UsageBy.TENANT: lambda hour, _: hour.tenant,
}


def _order(group: UsageGroup, by: UsageBy) -> tuple[int, str]:
    return (0 if by in (UsageBy.HOUR, UsageBy.DAY) else -group.calls, group.key)
