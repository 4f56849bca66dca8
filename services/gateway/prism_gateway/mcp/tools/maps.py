"""The toolset `graph`, for a whole repository: module map and architecture."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.rpc.maps import (
    ARCHITECTURE,
    ARCHITECTURE_LIMIT_MAX,
    MODULE_MAP,
    MODULES_LIMIT_MAX,
    ModuleMapRequest,
)
from prism_gateway.mcp.answers import maps
from prism_gateway.mcp.arguments import READ_TOKENS, BudgetedArguments, Glob, MaxTokens
from prism_gateway.mcp.schema import (
    INTEGER,
    NUMBER,
    OBJECT,
    RECEIPT,
    STRING,
    STRINGS,
    TRUNCATED,
    array,
    record,
)
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset, ask_for_what_fits


class GetModuleMap(BudgetedArguments):
    query: Annotated[types.Query, Field(description="words: rank files related to them")] = ""
    path_filter: Glob = ""
    limit: Annotated[int, Field(ge=1, le=MODULES_LIMIT_MAX)] = 30
    cursor: types.Cursor = ""


class GetArchitecture(BudgetedArguments):
    component: Annotated[types.FilePath, Field(description="name or id from the overview")] = ""
    limit: Annotated[int, Field(ge=1, le=ARCHITECTURE_LIMIT_MAX, description="per list")] = 20
    max_tokens: MaxTokens = READ_TOKENS


async def get_module_map(call: Call, arguments: GetModuleMap) -> Answer:
    reply, cut_off = await ask_for_what_fits(
        call,
        MODULE_MAP,
        call.request(ModuleMapRequest, arguments),
        lambda reply: len(reply.entries),
        lambda reply: maps.fit_modules(reply, arguments.max_tokens),
    )
    return maps.module_map(reply, arguments.max_tokens, cut_off=cut_off)


async def get_architecture(call: Call, arguments: GetArchitecture) -> Answer:
    limit = min(arguments.limit, maps.fit_architecture(arguments.max_tokens))
    reply = await call.ask(ARCHITECTURE, arguments, limit=limit)
    return maps.architecture(reply, cut_off=limit < arguments.limit)


MODULE = record(
    file_path=STRING,
    language=STRING,
    lines=INTEGER,
    tier=STRING,
    relative_score=NUMBER,
    summary=STRING,
    used_by=INTEGER,
    top_symbols=STRINGS,
    commits_90_days=INTEGER,
)
COMPONENT = record(
    id=INTEGER,
    name=STRING,
    files=INTEGER,
    lines=INTEGER,
    rank=NUMBER,
    main_files=STRINGS,
    main_symbols=STRINGS,
    description=STRING,
)
DEPENDENCIES = array(
    record(source=STRING, target=STRING, references=INTEGER, candidates=INTEGER, example=STRINGS)
)
ENTRY_POINTS = array(record(kind=STRING, file_path=STRING, line=INTEGER, symbol=STRING))
CYCLES = array(record(members=INTEGER, path=STRINGS))
SPREADS = array(record(name=STRING, files=INTEGER, over=OBJECT))

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_module_map",
        Toolset.GRAPH,
        "The most depended-upon files, each with a description.",
        GetModuleMap,
        record(
            repo=STRING,
            entries=array(MODULE),
            total=INTEGER,
            tiers=OBJECT,
            next_cursor=STRING,
            next_actions=STRINGS,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_module_map,
    ),
    Tool(
        "get_architecture",
        Toolset.GRAPH,
        "Entry points, components, their dependencies and cycles; or one component.",
        GetArchitecture,
        record(
            repo=STRING,
            overview=record(
                entry_points=ENTRY_POINTS,
                components=array(COMPONENT),
                dependencies=DEPENDENCIES,
                file_cycles=CYCLES,
                component_cycles=CYCLES,
                divergence=record(
                    agreement=NUMBER, folders=SPREADS, components=SPREADS, outliers=array(OBJECT)
                ),
                partitions=array(record(folder=STRING, manifest=STRING, files=INTEGER)),
                totals=OBJECT,
            ),
            component=record(
                summary=COMPONENT,
                files=array(MODULE),
                interface=array(record(file_path=STRING, line=INTEGER, symbol=STRING, references=INTEGER)),
                uses=DEPENDENCIES,
                used_by=DEPENDENCIES,
                external_modules=OBJECT,
                entry_points=ENTRY_POINTS,
                cycles=CYCLES,
                totals=OBJECT,
            ),
            next_actions=STRINGS,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_architecture,
    ),
)
