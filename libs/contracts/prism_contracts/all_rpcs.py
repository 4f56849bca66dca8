"""`ALL_RPCS` lists every request and reply.

Only code about all of them imports this: a client of a few need not load the others.
"""

from prism_contracts.registry import AnyRpc, Rpc
from prism_contracts.rpc import (
    anchors,
    changes,
    common,
    context,
    dead_letters,
    descriptions,
    document_remote,
    documents,
    files,
    graph,
    guidance,
    imports,
    layers,
    maps,
    repositories,
    search,
    symbols,
    tasks,
    unused,
    wiki,
)

MODULES = (
    common,
    search,
    files,
    symbols,
    graph,
    unused,
    maps,
    guidance,
    context,
    imports,
    layers,
    dead_letters,
    repositories,
    changes,
    documents,
    document_remote,
    tasks,
    descriptions,
    wiki,
    anchors,
)

ALL_RPCS: tuple[AnyRpc, ...] = tuple(
    value for module in MODULES for value in vars(module).values() if isinstance(value, Rpc)
)
