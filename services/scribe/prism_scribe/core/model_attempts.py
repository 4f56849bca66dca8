"""When a model is asked again, and when it is not asked for a while."""

from collections.abc import Callable, Mapping
from enum import StrEnum

ATTEMPTS_MAX = 3
PAUSE_S = 0.5  # pause before the second attempt; it doubles with each further one
PAUSE_S_MAX = 8.0
FAILURES_MAX = 3  # consecutive failures of a model, over all calls
BREAK_S = 30.0


class Failure(StrEnum):
    """Why a call to a model brought nothing."""

    LATE = "late"
    UNREACHABLE = "unreachable"
    BUSY = "busy"  # status 429
    BROKEN = "broken"  # status 5xx
    INVALID = "invalid"  # an answer of another type, cut off, or too long
    REJECTED = "rejected"  # a 4xx about the request: its content, its size, its schema
    NOT_ALLOWED = "not_allowed"  # the key, the name of the model, or the account's credit


# How often a call is made. The same question often gets the same nonsense, so it is asked once more only.
ATTEMPTS: Mapping[Failure, int] = {
    Failure.LATE: ATTEMPTS_MAX,
    Failure.UNREACHABLE: ATTEMPTS_MAX,
    Failure.BUSY: ATTEMPTS_MAX,
    Failure.BROKEN: ATTEMPTS_MAX,
    Failure.INVALID: 2,
}
# Only these say that the next call would fail too.
BREAKING = frozenset({Failure.LATE, Failure.UNREACHABLE, Failure.BUSY, Failure.BROKEN, Failure.NOT_ALLOWED})


def pause_after(attempt: int, failure: Failure, retry_after_s: float | None, chance: float) -> float | None:
    """Returns the seconds until the attempt after this one; None if there is none.

    `attempt` counts from 1; `chance`, from 0 to 1, spreads the attempts of several callers.
    """
    if attempt >= ATTEMPTS.get(failure, 1):
        return None
    if retry_after_s is not None and retry_after_s > PAUSE_S_MAX:
        return None
    pause_s = min(PAUSE_S_MAX, PAUSE_S * float(2 ** (attempt - 1)))
    return max(retry_after_s or 0.0, pause_s * (0.5 + chance / 2))


class Breaker:
    """Stops calls to a model after failures in a row. After a while one call tries it."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._failures = 0
        self._open_until = 0.0

    @property
    def is_closed(self) -> bool:
        """Whether calls pass."""
        return self._failures < FAILURES_MAX

    def lets_through(self) -> bool:
        """Whether the model may be asked. While one call tries it, others wait for the end of another break."""
        if self.is_closed:
            return True
        if self._now() < self._open_until:
            return False
        self._open_until = self._now() + BREAK_S
        return True

    def note(self, failure: Failure | None) -> None:
        """Note how a call ended; None: with an answer."""
        if failure not in BREAKING:
            self._failures = 0
            return
        self._failures += 1
        if not self.is_closed:
            self._open_until = self._now() + BREAK_S
