"""Requests and replies by topic. Each module ends with its `Rpc`s; `ALL_RPCS` lists every one."""

from prism_contracts.registry import AnyRpc, Rpc
from prism_contracts.rpc import (
    common,
    files,
    graph,
    guidance,
    imports,
    layers,
    maps,
    repositories,
    search,
    symbols,
)

MODULES = (common, search, files, symbols, graph, maps, guidance, imports, layers, repositories)

ALL_RPCS: tuple[AnyRpc, ...] = tuple(
    value for module in MODULES for value in vars(module).values() if isinstance(value, Rpc)
)
