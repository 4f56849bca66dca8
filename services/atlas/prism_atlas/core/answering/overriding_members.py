"""Members that override others, in the form of references: each is where it is defined."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from prism_atlas.core.graph import EDGE_KINDS, EDGE_STATUSES, STRATEGIES, Graph
from prism_atlas.core.uses import explained_lines, find_uses, used_lines
from prism_contracts.code import EdgeKind, EdgeStatus
from prism_contracts.rpc.symbols import ReferenceEntry, ReferenceGroup, UsesReply, UsesRequest
from prism_runtime.packing import pack_lines
from prism_store.globs import compile_glob

_OVERRIDES = EDGE_KINDS.index(EdgeKind.OVERRIDES)


def overriding(graph: Graph, repo: str, request: UsesRequest, members: Sequence[int]) -> UsesReply:
    """Returns a page of the members that override some members, at any distance, sure ones first."""
    every = _entries(graph, repo, members)
    glob = compile_glob(request.path_filter) if request.path_filter else None
    kept = [
        one
        for one in every
        if (glob is None or glob.fullmatch(one.file_path))
        and not (request.source_only and one.group is ReferenceGroup.TESTS)
        and (request.include_candidates or one.status is EdgeStatus.RESOLVED)
    ]
    uses = find_uses(graph, request.name, members)  # what the text is compared with
    resolved = sum(one.status is EdgeStatus.RESOLVED for one in every)
    return UsesReply(
        entries=tuple(kept[request.start : request.start + request.limit]),
        counts=dict(Counter(one.group for one in kept)),
        resolved=resolved,
        candidates=len(every) - resolved,
        elsewhere=0,
        used=pack_lines(used_lines(graph, uses)),
        explained=pack_lines(explained_lines(graph, request.name, uses)),
    )


def _entries(graph: Graph, repo: str, members: Sequence[int]) -> list[ReferenceEntry]:
    edges, symbols = graph.edges, graph.symbols
    into = np.concatenate([graph.edges_in(member) for member in members])
    into = into[edges.kind[into] == _OVERRIDES]
    order = np.lexsort((edges.source[into], edges.status[into]))
    in_tests = graph.in_tests()
    found: dict[int, ReferenceEntry] = {}
    for edge in into[order].tolist():
        node = int(edges.source[edge])
        if node in found:
            continue
        found[node] = ReferenceEntry(
            repo=repo,
            file_path=graph.path(int(symbols.file[node])),
            line=int(symbols.name_line[node]),
            symbol=graph.strings[symbols.qualified_name[node]],
            group=ReferenceGroup.TESTS if in_tests[node] else ReferenceGroup.OVERRIDES,
            edge=EdgeKind.OVERRIDES,
            status=EDGE_STATUSES[edges.status[edge]],
            strategy=STRATEGIES[edges.strategy[edge]],
            text="",
        )
    return sorted(
        found.values(),
        key=lambda one: (one.status is EdgeStatus.CANDIDATE, one.group is ReferenceGroup.TESTS),
    )
