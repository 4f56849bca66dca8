"""An in-memory cache with a maximum weight."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")


class Kept(Generic[Key, Thing]):
    """Items by key, up to a total weight; beyond it, the oldest are evicted. Heavier items are not stored."""

    def __init__(self, weight_max: int) -> None:
        self._things: dict[Key, tuple[Thing, int]] = {}
        self._weight = 0
        self._weight_max = weight_max

    @property
    def room(self) -> int:
        """The weight that can be added without an eviction."""
        return self._weight_max - self._weight

    def get(self, key: Key) -> Thing | None:
        """Returns the item of a key."""
        found = self._things.get(key)
        return found[0] if found else None

    def things(self) -> list[Thing]:
        """Returns all items, the oldest first."""
        return [thing for thing, _ in self._things.values()]

    def keep(self, key: Key, thing: Thing, weight: int) -> None:
        """Store an item, and replace the one of the same key."""
        self.drop(key)
        self._things[key] = (thing, weight)
        self._weight += weight
        while self._weight > self._weight_max:
            self.drop(next(iter(self._things)))

    def drop(self, key: Key) -> None:
        """Remove a key."""
        self._weight -= self._things.pop(key, (None, 0))[1]

    def drop_if(self, condition: Callable[[Key, Thing], bool]) -> None:
        """Remove the items that match a condition."""
        for key in [key for key, (thing, _) in self._things.items() if condition(key, thing)]:
            self.drop(key)
