"""What atlas serves for a repository: its graph, and the figures about the whole graph."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.analysis import Analysis
from prism_atlas.core.columns import columns_of, paths_of, read_columns, table_of, write_columns
from prism_atlas.core.file_graph import file_edges, graph_of_files
from prism_atlas.core.graph import (
    EDGE_KINDS,
    EDGE_STATUSES,
    ENTRY_KINDS,
    LOOKUP_KINDS,
    REFERENCE_KINDS,
    STRATEGIES,
    SYMBOL_KINDS,
    EdgeTable,
    Graph,
)
from prism_atlas.core.ranking import TIERS
from prism_atlas.core.report import ArchitectureReport
from prism_resolver.resolution import RULES


@dataclass(frozen=True, slots=True)
class GraphSnapshot:
    """A state of a repository. Immutable arrays throughout."""

    analysis: Analysis
    between_files: EdgeTable
    report: NDArray[np.uint8]  # JSON of an ArchitectureReport

    @classmethod
    def of(cls, graph: Graph, before: Analysis | None = None) -> "GraphSnapshot":
        """Compute all that questions need about a whole graph. `before` belongs to an earlier graph."""
        analysis = Analysis.of(graph, before)
        report = ArchitectureReport.of(analysis).model_dump_json().encode()
        return cls(analysis, file_edges(graph), np.frombuffer(report, np.uint8))

    @property
    def graph(self) -> Graph:
        """The graph of symbols and files."""
        return self.analysis.graph

    def read_report(self) -> ArchitectureReport:
        """Returns the report of the repository's architecture."""
        return ArchitectureReport.model_validate_json(self.report.tobytes())

    def files(self) -> Graph:
        """Returns the graph whose nodes are the files."""
        return graph_of_files(self.graph, self.between_files)

    def write(self, path: Path) -> None:
        """Write to a file."""
        write_columns(path, FORMAT, columns_of(self))

    @classmethod
    def read(cls, path: Path) -> "GraphSnapshot":
        """Map a file. Raises ValueError if it is truncated or was written by another version of Prism."""
        return table_of(cls, read_columns(path, FORMAT))


def _format() -> str:
    """Returns a hash of the columns, of the meanings of their codes, and of the rules that make edges."""
    kinds = (
        *SYMBOL_KINDS,
        *EDGE_KINDS,
        *EDGE_STATUSES,
        *STRATEGIES,
        *ENTRY_KINDS,
        *REFERENCE_KINDS,
        *LOOKUP_KINDS,
        *TIERS,
    )
    codes = [str(code) for code in kinds]
    return hashlib.sha256("\n".join([*paths_of(GraphSnapshot), *codes, str(RULES)]).encode()).hexdigest()[:16]


FORMAT = _format()
