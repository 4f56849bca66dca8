"""Exponential backoff, counted in rounds instead of seconds."""

# After a failure a key is due again in 2, 4, 8, … rounds, at most in this many.
ROUNDS_SKIPPED_MAX = 256


class RoundBackoff:
    """How many rounds to skip per key after failures."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}
        self._skipped: dict[str, int] = {}  # rounds left to skip

    def is_due(self, key: str) -> bool:
        """Whether this round includes the key. Call once per round."""
        left = self._skipped.get(key, 0)
        if left:
            self._skipped[key] = left - 1
        return not left

    def failed(self, key: str) -> None:
        """Record a failure, or a result that has not changed since the last round."""
        self._failures[key] = self._failures.get(key, 0) + 1
        self._skipped[key] = min(2 ** self._failures[key], ROUNDS_SKIPPED_MAX) - 1

    def succeeded(self, key: str) -> None:
        """Reset the key: nothing is left to do."""
        self._failures.pop(key, None)
        self._skipped.pop(key, None)
