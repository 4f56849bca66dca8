"""The pages of usage and audit."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from starlette.responses import Response

from prism_contracts.accounting import AuditAction
from prism_gateway.accounting.pages import Wanted
from prism_gateway.accounting.usage_report import UsageBy, UsageGroup, UsageOf
from prism_gateway.console.audit_subjects import AuditSubject, subjects_of
from prism_gateway.console.page import PageView, Visit
from prism_gateway.grants import check_whole_tenant

RANGES_DAYS: Final = (1, 7, 30)
RANGE_DEFAULT: Final = 7
BARS_WIDTH: Final = 720
BARS_HEIGHT: Final = 96
BAR_GAP: Final = 2
ENTRIES: Final = 100
POSITION_DIGITS_MAX: Final = 15
GROUPINGS: Final = (UsageBy.CALL, UsageBy.CALLER, UsageBy.REPOSITORY, UsageBy.CODE, UsageBy.SOURCE)


# What the calls of a group are shown by, once one follows it.
NARROWS: Final = {
    UsageBy.REPOSITORY: UsageBy.CALLER,
    UsageBy.CALLER: UsageBy.REPOSITORY,
    UsageBy.CALL: UsageBy.CALLER,
}
NAME_CHARS_MAX: Final = 300


class Bar(NamedTuple):
    """A bar of a chart, in its units."""

    x: float
    y: float
    width: float
    height: float
    group: UsageGroup


async def usage(visit: Visit) -> Response:
    """Calls over time, and by tool, token, repository or error."""
    check_whole_tenant(visit.caller)
    days = _days(visit.query.get("days", ""))
    by = next((one for one in GROUPINGS if one == visit.query.get("by")), UsageBy.CALL)
    end = datetime.now(UTC)
    begin = (end - timedelta(days=days)).replace(minute=0, second=0, microsecond=0)
    book = visit.parts.usage
    of = UsageOf(**{name: visit.query.get(name, "")[:NAME_CHARS_MAX] for name in UsageOf.model_fields})
    over_time = await book.report(visit.tenant, begin, end, UsageBy.HOUR if days == 1 else UsageBy.DAY, of)
    report = await book.report(visit.tenant, begin, end, by, of)
    return visit.show(
        "usage.html",
        report=report,
        bars=_bars(over_time.groups, begin, end, timedelta(hours=1) if days == 1 else timedelta(days=1)),
        most=max((group.calls for group in report.groups), default=0) or 1,
        days=days,
        ranges=RANGES_DAYS,
        by=by.value,
        of={name: value for name, value in of if value},
        narrows={one.value: other.value for one, other in NARROWS.items()},
        groupings=[one.value for one in GROUPINGS],
        width=BARS_WIDTH,
        height=BARS_HEIGHT,
    )


async def audit(visit: Visit) -> Response:
    """Who changed what, the newest first."""
    check_whole_tenant(visit.caller)
    action = visit.query.get("action", "")
    chosen = AuditAction(action) if action in set(AuditAction) else None
    end = datetime.now(UTC)
    begin = end - timedelta(days=RANGES_DAYS[-1])
    wanted = Wanted(
        visit.tenant,
        begin,
        end,
        visit.query.get("actor", "")[:200],
        ENTRIES,
        visit.number("before", digits=POSITION_DIGITS_MAX),
        with_changes_of=True,
    )
    page = await visit.parts.audit.page(wanted, chosen)
    subjects = await subjects_of(visit, page.entries)
    return visit.show(
        "audit.html",
        entries=[(one, subjects.get(one.subject, AuditSubject(one.subject))) for one in page.entries],
        older=page.next_position,
        actions=[one.value for one in AuditAction],
        action=chosen.value if chosen else "",
        actor=wanted.actor,
        days=RANGES_DAYS[-1],
    )


def _days(text: str) -> int:
    return next((days for days in RANGES_DAYS if str(days) == text), RANGE_DEFAULT)


def _bars(groups: Iterable[UsageGroup], begin: datetime, end: datetime, step: timedelta) -> list[Bar]:
    """Returns a bar for each hour or day, also for those without a call."""
    known = {group.key: group for group in groups}
    moment = begin if step < timedelta(days=1) else begin.replace(hour=0)
    shown: list[UsageGroup] = []
    while moment < end:
        key = moment.isoformat() if step < timedelta(days=1) else moment.date().isoformat()
        shown.append(known.get(key) or UsageGroup(key=key))
        moment += step
    most = max((group.calls for group in shown), default=0) or 1
    width = BARS_WIDTH / max(1, len(shown))
    return [
        Bar(
            round(number * width, 2),
            round(BARS_HEIGHT * (1 - group.calls / most), 2),
            round(width - BAR_GAP, 2),
            round(BARS_HEIGHT * group.calls / most, 2),
            group,
        )
        for number, group in enumerate(shown)
    ]


VIEWS: Final = (PageView("/usage", "GET /usage", usage), PageView("/audit", "GET /audit", audit))
