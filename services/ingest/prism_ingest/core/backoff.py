"""Looks more and more seldom at repositories for which looking was in vain."""

# A repository whose remote fails, or whose import fails, is looked at after 2, 4, 8, … rounds.
ROUNDS_LEFT_OUT_MAX = 256


class Backoff:
    """Which repositories are left out of how many rounds, as looking at them was in vain."""

    def __init__(self) -> None:
        self._vain: dict[str, int] = {}
        self._left_out: dict[str, int] = {}

    def is_due(self, key: str) -> bool:
        """Whether this round looks at the repository."""
        left = self._left_out.get(key, 0)
        if left:
            self._left_out[key] = left - 1
        return not left

    def failed(self, key: str) -> None:
        """The look failed, or found what an earlier one had found."""
        self._vain[key] = self._vain.get(key, 0) + 1
        self._left_out[key] = min(2 ** self._vain[key], ROUNDS_LEFT_OUT_MAX) - 1

    def succeeded(self, key: str) -> None:
        """The repository is as it should be."""
        self._vain.pop(key, None)
        self._left_out.pop(key, None)
