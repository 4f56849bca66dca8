"""An in-memory cache with a maximum weight."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


class WeightedCache(Generic[Key, Item]):
    """Items by key, up to a total weight; beyond it, the oldest are evicted. Heavier items are not stored."""

    def __init__(self, weight_max: int) -> None:
        self._items: dict[Key, tuple[Item, int]] = {}
        self._weight = 0
        self._weight_max = weight_max

    @property
    def room(self) -> int:
        """The weight that can be added without an eviction."""
        return self._weight_max - self._weight

    def get(self, key: Key) -> Item | None:
        """Returns the item of a key."""
        found = self._items.get(key)
        return found[0] if found else None

    def values(self) -> list[Item]:
        """Returns all items, the oldest first."""
        return [item for item, _ in self._items.values()]

    def put(self, key: Key, item: Item, weight: int) -> None:
        """Store an item, and replace the one of the same key."""
        self.drop(key)
        self._items[key] = (item, weight)
        self._weight += weight
        while self._weight > self._weight_max:
            self.drop(next(iter(self._items)))

    def drop(self, key: Key) -> None:
        """Remove a key."""
        self._weight -= self._items.pop(key, (None, 0))[1]

    def drop_if(self, condition: Callable[[Key, Item], bool]) -> None:
        """Remove the items that match a condition."""
        for key in [key for key, (item, _) in self._items.items() if condition(key, item)]:
            self.drop(key)
