"""References to a symbol."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.answering.helped_tests import helped_tests
from prism_atlas.core.answering.overriding_members import overriding
from prism_atlas.core.graph import EDGE_STATUSES, REFERENCE_KINDS, STRATEGIES, Graph
from prism_atlas.core.overloads import Overloads
from prism_atlas.core.uses import (
    TESTS,
    UseTable,
    definitions_at,
    explained_lines,
    find_uses,
    merged,
    overridden_uses,
    references_by_name,
    targets_of,
    used_lines,
)
from prism_contracts.code import EDGE_KINDS, EdgeKind, EdgeStatus, ReferenceKind
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.symbols import ReferenceEntry, ReferenceGroup, UsesReply, UsesRequest
from prism_runtime.packing import pack_lines
from prism_store.globs import compile_glob

_GROUPS = tuple(ReferenceGroup)
_VALUE = REFERENCE_KINDS.index(ReferenceKind.VALUE)
_RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)


def uses(graph: Graph, repo: str, request: UsesRequest) -> UsesReply:
    """Returns a page of references, without the versions of the graph.

    Raises SYMBOL_NOT_FOUND if the graph has none of the definitions.
    """
    targets = targets_of(graph, request.name, request.definitions)
    if not targets:
        raise PrismError(
            ErrorCode.SYMBOL_NOT_FOUND,
            f"The graph has no definition of {request.name!r} in that place.",
            "Retry when the graph is up to date.",
        )
    if request.reference_type is EdgeKind.OVERRIDES:
        asked = definitions_at(graph, request.definitions) if request.one_overload else targets
        return overriding(graph, repo, request, asked)
    overloads = Overloads(graph, targets)
    every = find_uses(graph, request.name, targets)
    if overloads.types:
        names = {graph.strings[graph.symbols.name[node]] for node in overloads.types}
        made = [find_uses(graph, name, sorted(overloads.types)) for name in sorted(names)]
        every = merged(graph, [every, *made])
    asked = definitions_at(graph, request.definitions) if request.one_overload else targets
    if overloads.types or (request.one_overload and overloads.are_several):
        every = overloads.narrowed(every, overloads.wanted(asked))
    above = overridden_uses(graph, sorted(overloads.wanted(asked)) if request.one_overload else targets)
    if above is not None:
        every = merged(graph, [every, above])
    kept = every.at(_passing(graph, every, request))
    page = kept.at(slice(request.start, request.start + request.limit))
    counts = Counter(kept.group.tolist())
    resolved = int(np.count_nonzero(every.status == _RESOLVED))
    named = references_by_name(graph, request.name)
    in_tests = kept.reference[(kept.group == TESTS) & (kept.status == _RESOLVED)] if not request.start else []
    sources = np.unique(graph.references.source[in_tests]).tolist() if len(in_tests) else []
    helped = helped_tests(graph, sources)
    return UsesReply(
        entries=tuple(
            _entry(graph, repo, page, position, None if request.one_overload else overloads)
            for position in range(len(page.reference))
        ),
        counts={group: counts[code] for code, group in enumerate(_GROUPS) if counts[code]},
        resolved=resolved,
        candidates=len(every.reference) - resolved,
        elsewhere=len(named) - int(np.count_nonzero(np.isin(every.reference, named))),
        helped=helped.shown,
        helped_left_out=helped.left_out,
        used=pack_lines(used_lines(graph, every)),
        explained=pack_lines(explained_lines(graph, request.name, every)),
    )


def _passing(graph: Graph, uses: UseTable, request: UsesRequest) -> NDArray[np.bool_]:
    """Returns by row whether it passes the filters of the request."""
    passing = np.ones(len(uses.reference), np.bool_)
    if request.reference_type is not None:
        kinds = [EDGE_KINDS[kind] is request.reference_type for kind in REFERENCE_KINDS]
        passing &= np.array(kinds)[graph.references.kind[uses.reference]]
    if request.source_only:
        passing &= uses.group != TESTS
    if not request.include_candidates:
        passing &= uses.status == _RESOLVED
    if request.path_filter:
        glob = compile_glob(request.path_filter)
        files, file = np.unique(uses.file, return_inverse=True)
        matching = [glob.fullmatch(graph.path(one)) is not None for one in files.tolist()]
        passing &= np.array(matching, np.bool_)[file]
    return passing


def _entry(
    graph: Graph, repo: str, uses: UseTable, position: int, overloads: Overloads | None
) -> ReferenceEntry:
    reference = int(uses.reference[position])
    source = int(graph.references.source[reference])
    return ReferenceEntry(
        repo=repo,
        file_path=graph.path(int(uses.file[position])),
        line=int(graph.references.line[reference]),
        symbol="" if graph.is_file(source) else graph.strings[graph.symbols.qualified_name[source]],
        group=_GROUPS[uses.group[position]],
        edge=EDGE_KINDS[REFERENCE_KINDS[graph.references.kind[reference]]],
        status=EDGE_STATUSES[uses.status[position]],
        strategy=STRATEGIES[uses.strategy[position]],
        text="",
        stored=_stored(graph, reference),
        reaches=overloads.reached_by(reference) if overloads else (),
    )


def _stored(graph: Graph, reference: int) -> str:
    """Returns the field in which a reference stores its value."""
    if graph.references.kind[reference] != _VALUE:
        return ""
    rows = np.flatnonzero(graph.aliases.reference == reference)
    return graph.strings[graph.aliases.alias[rows[0]]] if rows.size else ""
