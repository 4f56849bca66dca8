"""The range of time of a list."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.rest.ranges import DEFAULT_RANGE, RANGE_DAYS_MAX, time_range

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))


def test_a_range_ends_now_and_begins_a_week_before_by_default() -> None:
    begin, end = time_range(None, None)
    assert end - begin == DEFAULT_RANGE
    assert end.tzinfo is UTC
    assert time_range(None, NOON) == (NOON - DEFAULT_RANGE, NOON)


def test_a_time_without_a_zone_is_utc_and_others_are_converted() -> None:
    naive = (NOON - timedelta(hours=1)).replace(tzinfo=None)
    assert time_range(naive, datetime(2026, 11, 26, 2, tzinfo=EAST)) == (
        NOON - timedelta(hours=1),
        NOON,
    )


@pytest.mark.parametrize(
    ("since", "until"),
    [
        (NOON, NOON - timedelta(seconds=1)),
        (NOON - timedelta(days=RANGE_DAYS_MAX, seconds=1), NOON),
        (None, datetime.min.replace(tzinfo=UTC)),
        (None, datetime.min.replace(tzinfo=EAST)),
        (datetime.max.replace(tzinfo=WEST), None),
    ],
)
def test_what_is_no_range_is_an_invalid_argument(since, until) -> None:
    with pytest.raises(PrismError) as caught:
        time_range(since, until)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT


def test_the_longest_range_is_accepted() -> None:
    begin = NOON - timedelta(days=RANGE_DAYS_MAX)
    assert time_range(begin, NOON) == (begin, NOON)
