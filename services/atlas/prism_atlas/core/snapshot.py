"""What is served of a repository: its graph, and what was found out about the graph as a whole."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from prism_atlas.core.columns import columns_of, paths_of, read_columns, table_of, write_columns
from prism_atlas.core.communities import Communities, communities
from prism_atlas.core.file_graph import file_edges, graph_of_files
from prism_atlas.core.graph import (
    EDGE_KINDS,
    EDGE_STATUSES,
    ENTRY_KINDS,
    REFERENCE_KINDS,
    SOUGHT,
    STRATEGIES,
    SYMBOL_KINDS,
    Edges,
    Graph,
)
from prism_atlas.core.links import Links, file_links, quiet_files
from prism_atlas.core.ranking import Ranks, ranks


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state of a repository. Immutable; arrays of numbers throughout."""

    graph: Graph
    links: Links
    ranks: Ranks
    communities: Communities
    between_files: Edges

    @classmethod
    def of(cls, graph: Graph) -> "Snapshot":
        """Find out about a graph."""
        links = file_links(graph)
        return cls(
            graph,
            links,
            ranks(graph, links),
            communities(links, len(graph.files), quiet_files(graph)),
            file_edges(graph),
        )

    def files(self) -> Graph:
        """The graph seen from further off: its nodes are the files."""
        return graph_of_files(self.graph, self.between_files)

    def write(self, path: Path) -> None:
        """Write to a file."""
        write_columns(path, FORMAT, columns_of(self))

    @classmethod
    def read(cls, path: Path) -> "Snapshot":
        """Map a file that was written. Raises ValueError if it is cut short or of another version of Prism."""
        return table_of(cls, read_columns(path, FORMAT))


def _format() -> str:
    """What the columns are and what their codes stand for, by hash."""
    kinds = (*SYMBOL_KINDS, *EDGE_KINDS, *EDGE_STATUSES, *STRATEGIES, *ENTRY_KINDS, *REFERENCE_KINDS, *SOUGHT)
    codes = [str(code) for code in kinds]
    return hashlib.sha256("\n".join([*paths_of(Snapshot), *codes]).encode()).hexdigest()[:16]


FORMAT = _format()
