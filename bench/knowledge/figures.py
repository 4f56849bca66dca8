"""What a topic of the benchmark returns: times beside their bars, and other values."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bench.report import Row
from bench.spread import Spread, spread
from bench.stack import Stack, Stopwatch

MIB = 1024 * 1024
ANSWERING = ("gateway", "workspace")


@dataclass(frozen=True)
class Figure:
    """Times of one kind of call. `bar_ms` is for the p95; None without a bar.

    `cpu_ms` is what a call took of the services that answer it, which load on the machine hardly changes.
    """

    name: str
    times: Spread
    bar_ms: float | None = None
    cpu_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def row(self) -> Row:
        """The line of the table."""
        value = f"p50 {self.times.p50:.1f} ms, p95 {self.times.p95:.1f} ms"
        if self.cpu_ms:
            value += f"; CPU {', '.join(f'{name} {spent:.1f} ms' for name, spent in self.cpu_ms.items())}"
        if self.bar_ms is None:
            return Row(self.name, value)
        return Row(self.name, value, f"p95 {self.bar_ms:,.0f} ms", self.times.p95 <= self.bar_ms)


@dataclass(frozen=True)
class Fact:
    """Any other value."""

    name: str
    value: str

    @property
    def row(self) -> Row:
        """The line of the table."""
        return Row(self.name, self.value)


Figures = list[Figure | Fact]


async def timed(
    stack: Stack, name: str, calls: Iterable[Callable[[], Awaitable[object]]], bar_ms: float | None = None
) -> Figure:
    """Call one after another, and return how long each took."""
    seconds = []
    with Stopwatch(stack) as watch:
        for call in calls:
            began = time.perf_counter()
            await call()
            seconds.append(time.perf_counter() - began)
    each = {name: 1000 * watch.cpu_s[name] / max(1, len(seconds)) for name in ANSWERING}
    return Figure(name, spread(seconds), bar_ms, each)


def mib(size_bytes: float) -> str:
    """Returns a size as text."""
    return f"{size_bytes / MIB:.0f} MiB"
