"""Layers as they are known where there are none."""

from prism_catalog.layers import Layers
from prism_contracts.records import Layer


class NoRecords:
    """A bucket that nothing was put into."""

    def values(self) -> list[Layer]:
        return []


NO_LAYERS = Layers(NoRecords(), None)
