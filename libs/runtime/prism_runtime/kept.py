"""Things kept in memory, up to a weight."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")


class Kept(Generic[Key, Thing]):
    """Things by key, up to a weight in all; past it, what came first goes. What is heavier alone is not kept."""

    def __init__(self, weight_max: int) -> None:
        self._things: dict[Key, tuple[Thing, int]] = {}
        self._weight = 0
        self._weight_max = weight_max

    @property
    def room(self) -> int:
        """The weight that can be added before something goes."""
        return self._weight_max - self._weight

    def get(self, key: Key) -> Thing | None:
        """What is kept of the key."""
        found = self._things.get(key)
        return found[0] if found else None

    def things(self) -> list[Thing]:
        """All that is kept, what came first first."""
        return [thing for thing, _ in self._things.values()]

    def keep(self, key: Key, thing: Thing, weight: int) -> None:
        """Keep it, in the place of what was kept of the key."""
        self.drop(key)
        self._things[key] = (thing, weight)
        self._weight += weight
        while self._weight > self._weight_max:
            self.drop(next(iter(self._things)))

    def drop(self, key: Key) -> None:
        """Keep nothing of the key."""
        self._weight -= self._things.pop(key, (None, 0))[1]

    def drop_if(self, condition: Callable[[Key, Thing], bool]) -> None:
        """Keep nothing of which the condition is true."""
        for key in [key for key, (thing, _) in self._things.items() if condition(key, thing)]:
            self.drop(key)
