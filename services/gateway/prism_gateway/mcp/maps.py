"""The toolset `graph`, of a repository as a whole: what hangs on what, and what it consists of."""

from typing import Annotated, Any

from pydantic import Field

from prism_contracts import rpc
from prism_gateway.budget import chars, fit
from prism_gateway.mcp import map_texts
from prism_gateway.mcp.code import ANSWER_TOKENS, READ_TOKENS, RECEIPT, STRINGS, TRUNCATED, Glob
from prism_gateway.mcp.tool import (
    INTEGER,
    NUMBER,
    OBJECT,
    SCOPE,
    STRING,
    Answer,
    AnyTool,
    Call,
    MaxTokens,
    ScopedArguments,
    Tool,
    Toolset,
    array,
    record,
)

# What an entry of the map costs beside its path, summary and symbols, in text and data, in characters.
ENTRY_CHARS = 160
# Of a component, a dependency or an entry point of an architecture, all of it.
ITEM_CHARS = 500


class GetModuleMap(ScopedArguments):
    query: Annotated[str, Field(description="words: rank what hangs together with them")] = ""
    path_filter: Glob = ""
    limit: Annotated[int, Field(ge=1, le=rpc.MODULES_LIMIT_MAX)] = 30
    cursor: str = ""
    max_tokens: MaxTokens = ANSWER_TOKENS


class GetArchitecture(ScopedArguments):
    component: Annotated[str, Field(description="name or id of the overview: look inside")] = ""
    limit: Annotated[int, Field(ge=1, le=rpc.ARCHITECTURE_LIMIT_MAX, description="of each list")] = 20
    max_tokens: MaxTokens = READ_TOKENS


async def get_module_map(call: Call, arguments: GetModuleMap) -> Answer:
    request = rpc.ModuleMapRequest(
        **call.scope(arguments), **arguments.model_dump(exclude={*SCOPE, "max_tokens"})
    )
    reply = await call.backend.module_map(request)
    kept = _fitting(reply, arguments.max_tokens)
    cut_off = kept < len(reply.entries)
    if cut_off:
        # Ask again for what fits: only then does the cursor go on right behind it.
        reply = await call.backend.module_map(request.model_copy(update={"limit": kept}))
    return map_texts.module_map(reply, arguments.max_tokens, cut_off=cut_off)


async def get_architecture(call: Call, arguments: GetArchitecture) -> Answer:
    # The budget is spread over the lists; most are shorter than what they may be.
    limit = min(arguments.limit, max(1, chars(arguments.max_tokens) // (ITEM_CHARS * LISTS)))
    reply = await call.backend.architecture(
        rpc.ArchitectureRequest(**call.scope(arguments), component=arguments.component, limit=limit)
    )
    return map_texts.architecture(reply, cut_off=limit < arguments.limit)


def _fitting(reply: rpc.ModuleMapReply, max_tokens: int) -> int:
    overheads = [
        ENTRY_CHARS + 2 * (len(entry.file_path) + len(entry.summary) + sum(map(len, entry.top_symbols)))
        for entry in reply.entries
    ]
    return fit([0] * len(overheads), overheads, chars(max_tokens), 0).kept if overheads else 0


# Of an overview, and of a component, that are long.
LISTS = 4
MODULE = record(
    file_path=STRING,
    language=STRING,
    lines=INTEGER,
    tier=STRING,
    relative_score=NUMBER,
    summary=STRING,
    top_symbols=STRINGS,
)
COMPONENT: dict[str, Any] = record(
    id=INTEGER,
    name=STRING,
    files=INTEGER,
    lines=INTEGER,
    rank=NUMBER,
    main_files=STRINGS,
    main_symbols=STRINGS,
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
        "The files that most of a repository hangs on (PageRank over references), with what they are about; "
        "tier is core, significant or peripheral.",
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
        "What a repository consists of: entry points, components and their dependencies, cycles, where folders and "
        "components disagree. With component: its files, interface, what it uses and what uses it.",
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
