"""`Layers` without any layer."""

from prism_catalog.layers import Layers
from prism_contracts.records import Layer


class NoRecords:
    """An empty bucket."""

    def values(self) -> list[Layer]:
        return []


NO_LAYERS = Layers(NoRecords(), None)
