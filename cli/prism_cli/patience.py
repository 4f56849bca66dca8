"""The retry budget of a request: how often and how long it is repeated."""

import random
import time
from collections.abc import Callable

FIRST_PAUSE_S = 0.2
PAUSE_MAX_S = 5.0


class Patience:
    """Pauses between attempts: doubling, jittered so that clients spread, and never past the budget."""

    def __init__(self, budget_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends_at = clock() + budget_s
        self._next_s = FIRST_PAUSE_S

    def next_pause(self, asked_s: float | None = None) -> float | None:
        """Returns seconds until the next attempt, or None when the budget is spent. `asked_s` is a
        `Retry-After`.
        """
        pause_s = asked_s if asked_s is not None else self._next_s * random.uniform(0.5, 1.0)  # noqa: S311
        self._next_s = min(2 * self._next_s, PAUSE_MAX_S)
        return pause_s if self._clock() + pause_s < self._ends_at else None
