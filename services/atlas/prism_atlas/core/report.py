"""The overview of a repository, computed once per build; requests select from it."""

from collections.abc import Sequence

from prism_atlas.core.analysis import Analysis
from prism_atlas.core.architecture import Architecture, balanced_by_kind
from prism_contracts.base import Message
from prism_contracts.rpc.maps import ARCHITECTURE_LIMIT_MAX, Overview


class ArchitectureReport(Message):
    """The names of all components, and an overview with lists of the maximum length."""

    names: tuple[str, ...]
    whole: Overview

    @classmethod
    def of(cls, analysis: Analysis, names: Sequence[str] | None = None) -> "ArchitectureReport":
        """Compute the report. `names` are those of the components, if known."""
        architecture = Architecture(analysis, names)
        return cls(names=tuple(architecture.names), whole=architecture.overview(ARCHITECTURE_LIMIT_MAX))

    def overview(self, limit: int) -> Overview:
        """Returns the overview, each list cut at `limit`."""
        whole = self.whole
        differ = whole.divergence
        return whole.model_copy(
            update={
                "entry_points": balanced_by_kind(whole.entry_points, limit),
                "components": whole.components[:limit],
                "dependencies": whole.dependencies[:limit],
                "file_cycles": whole.file_cycles[:limit],
                "component_cycles": whole.component_cycles[:limit],
                "divergence": differ.model_copy(
                    update={
                        "folders": differ.folders[:limit],
                        "components": differ.components[:limit],
                        "outliers": differ.outliers[:limit],
                    }
                ),
                "partitions": whole.partitions[:limit],
            }
        )
