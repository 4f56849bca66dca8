"""The steps of a path: each function with the call that leads to it, and what it overrides on the way."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from prism_contracts.code import EdgeKind, EdgeStatus, Strategy
from prism_contracts.rpc.graph import GraphEdge, GraphNode, GraphPath, OtherMeaning
from prism_gateway.mcp.answers.names import is_distinctive


class PathStep(NamedTuple):
    """A step from a function to one that it runs.

    A call of a declaration that the path leaves for an override is one step, to the override.
    """

    source: GraphNode
    edges: tuple[GraphEdge, ...]  # the call, then the overrides that run instead
    overridden: tuple[GraphNode, ...]  # the declarations in between
    node: GraphNode
    others: tuple[OtherMeaning, ...] = ()  # what else its name may mean
    choices: int = 0  # how many members the call may run, if it is of a declaration

    @property
    def call(self) -> GraphEdge | None:
        """The use at which the step begins; None if the path begins at the declaration."""
        return None if self.edges[0].edge is EdgeKind.OVERRIDES else self.edges[0]

    @property
    def is_only_definition(self) -> bool:
        """Whether a name leads to the node, and nothing else that the name could mean is in the repository."""
        first = self.edges[0]
        called = (*self.overridden, self.node)[0]
        return first.strategy is Strategy.ONLY_DEFINITION and is_distinctive(called.symbol)

    @property
    def is_unsure(self) -> bool:
        """Whether only a name supports the step, and the name may mean something else."""
        doubtful = [edge for edge in self.edges if edge.status is EdgeStatus.CANDIDATE]
        return len(doubtful) > self.is_only_definition


def steps_of(path: GraphPath) -> tuple[PathStep, ...]:
    """Returns the steps of a path."""
    return tuple(_steps(path))


def shared_steps(path: Sequence[PathStep], first: Sequence[PathStep]) -> int:
    """Returns the number of steps at the beginning that a path shares with the first one."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path, first, strict=False)))


def _steps(path: GraphPath) -> Iterator[PathStep]:
    nodes, edges = path.nodes, path.edges
    at = 0
    while at < len(edges):
        end = at + 1
        while end < len(edges) and edges[end].edge is EdgeKind.OVERRIDES:
            end += 1
        others = tuple(one for one in path.others if one.edge == at)
        choices = max(path.choices[at:end], default=0)
        yield PathStep(
            nodes[at], tuple(edges[at:end]), tuple(nodes[at + 1 : end]), nodes[end], others, choices
        )
        at = end
