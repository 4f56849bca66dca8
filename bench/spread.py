"""A summary of many measured times."""

from collections.abc import Sequence
from typing import NamedTuple


class Spread(NamedTuple):
    """Milliseconds."""

    asked: int
    p50: float
    p95: float
    p99: float
    max: float


def spread(seconds: Sequence[float]) -> Spread:
    """Percentiles by nearest rank: every figure is a measured value."""
    if not seconds:
        return Spread(0, 0.0, 0.0, 0.0, 0.0)
    ordered = [round(value * 1000, 2) for value in sorted(seconds)]
    p50, p95, p99 = (_rank(ordered, share) for share in (50, 95, 99))
    return Spread(len(ordered), p50, p95, p99, ordered[-1])


def median(values: Sequence[float]) -> float:
    """Returns the median, 0 without values."""
    return _rank(sorted(values), 50) if values else 0.0


def _rank(ordered: Sequence[float], percent: int) -> float:
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
