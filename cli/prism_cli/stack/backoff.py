"""The pause between the death of a process and its next start."""

FIRST_PAUSE_S = 0.5
PAUSE_MAX_S = 10.0
# A process that lived this long starts again with the first pause.
HEALTHY_AFTER_S = 60.0


class Backoff:
    """Pauses that double from death to death, until a life was long enough."""

    def __init__(self, healthy_after_s: float = HEALTHY_AFTER_S) -> None:
        self._healthy_after_s = healthy_after_s
        self._next_s = FIRST_PAUSE_S

    def pause_after(self, lived_s: float) -> float:
        """Returns the seconds to wait after a life of `lived_s` seconds."""
        if lived_s >= self._healthy_after_s:
            self._next_s = FIRST_PAUSE_S
        pause_s = self._next_s
        self._next_s = min(2 * pause_s, PAUSE_MAX_S)
        return pause_s
