"""Layers as they are known where there are none."""

from prism_contracts.records import Layer
from prism_store.layers import Layers


class NoRecords:
    """A bucket that nothing was put into."""

    def values(self) -> list[Layer]:
        return []


NO_LAYERS = Layers(NoRecords(), None)
