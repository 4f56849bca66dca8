"""What a name that is called may hold: functions that are passed or set under it, and those of a table."""

import re
from collections.abc import Sequence

import numpy as np

from prism_atlas.core.graph import EDGE_KINDS, REFERENCE_KINDS, SYMBOL_KINDS, Graph
from prism_atlas.core.hierarchy import CALLABLE
from prism_atlas.core.rendering import render_nodes
from prism_contracts.code import VALUE_KINDS, EdgeKind, ReferenceKind
from prism_contracts.rpc.graph import StoredValue

FUNCTIONS_MAX = 6
PLACES_MAX = 4
# A name with more definitions says nothing.
DEFINITIONS_MAX = 20
# `loaders` of `loaders[kind]`, `self.loaders.get(kind)` and `self.load`.
TABLE = re.compile(r"([A-Za-z_$][\w$]*)(?:\[[^\[\]]*\]|\.get\([^()]*\))$")
LAST_NAME = re.compile(r"([A-Za-z_$][\w$]*)$")

_IS_VALUE = np.isin(SYMBOL_KINDS, list(VALUE_KINDS))
_REFERENCES = EDGE_KINDS.index(EdgeKind.REFERENCES)
_GIVING = np.isin(REFERENCE_KINDS, [ReferenceKind.VALUE, ReferenceKind.ASSIGN, ReferenceKind.ALIAS])


def stored_values(graph: Graph, called: Sequence[str]) -> tuple[StoredValue, ...]:
    """Returns what each of some called expressions may hold, without those of which nothing is in sight."""
    names = dict.fromkeys(found[1] for one in called if (found := TABLE.search(one) or LAST_NAME.search(one)))
    values = (_stored_value(graph, name) for name in names)
    return tuple(one for one in values if one.functions)


def _stored_value(graph: Graph, name: str) -> StoredValue:
    named = graph.named(name)
    if not named.size or named.size > DEFINITIONS_MAX:
        return StoredValue(name=name)
    kinds = graph.symbols.kind[named]
    references = graph.references_to(name)
    giving = references[_GIVING[graph.references.kind[references]]]
    # A function of the name counts only if something passes or sets it.
    functions = named[CALLABLE[kinds]].tolist() if giving.size else []
    for table in named[_IS_VALUE[kinds]].tolist():
        out = graph.edges_out(table)
        held = graph.edges.target[out][graph.edges.kind[out] == _REFERENCES]
        held = held[held < len(graph.symbols)]
        functions += held[CALLABLE[graph.symbols.kind[held]]].tolist()
    table = graph.references
    places = [
        f"{graph.path(file)}:{line}"
        for file, line in zip(
            graph.files_of(table.source[giving]).tolist(), table.line[giving].tolist(), strict=True
        )
    ]
    shown = list(dict.fromkeys(functions))[:FUNCTIONS_MAX]
    return StoredValue(
        name=name, functions=render_nodes(graph, shown), places=tuple(dict.fromkeys(places))[:PLACES_MAX]
    )
