"""The toolset `graph`, what walks along it: calls, types, dependencies, paths, impact."""

from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from prism_contracts import rpc
from prism_gateway.mcp import walked
from prism_gateway.mcp.code import ANSWER_TOKENS, RECEIPT, STRINGS, TRUNCATED
from prism_gateway.mcp.tool import (
    BOOLEAN,
    INTEGER,
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
    one_of,
    record,
)

SymbolName = Annotated[str, Field(min_length=1, description="Session.get or src/session.py:42")]
Depth = Annotated[int, Field(ge=1, le=rpc.WALK_DEPTH_MAX)]
Limit = Annotated[int, Field(ge=1, le=rpc.WALK_LIMIT_MAX)]
Candidates = Annotated[bool, Field(description="edges that only a name speaks for")]
CallDirection = Annotated[
    str,
    AfterValidator(partial(one_of, rpc.CallDirection)),
    Field(min_length=1, description="callers or callees"),
]
Direction = Annotated[
    str,
    AfterValidator(partial(one_of, rpc.DependencyDirection)),
    Field(min_length=1, description="out, in or both"),
]


class GetCallHierarchy(ScopedArguments):
    symbol: SymbolName
    file_path: str = ""
    direction: CallDirection = rpc.CallDirection.CALLERS.value
    depth: Depth = 2
    include_candidates: Candidates = True
    limit: Limit = 20
    cursor: str = ""
    max_tokens: MaxTokens = ANSWER_TOKENS


class GetTypeHierarchy(ScopedArguments):
    symbol: SymbolName
    file_path: str = ""
    include_members: Annotated[bool, Field(description="members that override")] = False
    include_candidates: Candidates = True
    limit: Limit = 50
    max_tokens: MaxTokens = ANSWER_TOKENS


class GetDependencies(ScopedArguments):
    path: Annotated[str, Field(min_length=1, description="file, folder or package")]
    direction: Direction = rpc.DependencyDirection.BOTH.value
    depth: Depth = 1
    include_candidates: Candidates = False
    limit: Limit = 50
    cursor: str = ""
    max_tokens: MaxTokens = ANSWER_TOKENS


class FindPath(ScopedArguments):
    source: SymbolName
    target: SymbolName
    source_path: str = ""
    target_path: str = ""
    depth: Annotated[int, Field(ge=1, le=rpc.PATH_DEPTH_MAX)] = rpc.PATH_DEPTH_MAX
    include_candidates: Candidates = True
    max_tokens: MaxTokens = ANSWER_TOKENS


class ImpactOfChange(ScopedArguments):
    symbol: str = ""
    file_path: str = ""
    diff: Annotated[str, Field(description="unified diff")] = ""
    depth: Depth = 3
    include_candidates: Candidates = True
    limit: Limit = 50
    cursor: str = ""
    max_tokens: MaxTokens = ANSWER_TOKENS

    @model_validator(mode="after")
    def _one_way_of_asking(self) -> "ImpactOfChange":
        if bool(self.symbol) == bool(self.diff):
            raise ValueError("give either symbol or diff")
        return self


async def get_call_hierarchy(call: Call, arguments: GetCallHierarchy) -> Answer:
    given = arguments.model_dump(exclude={*SCOPE, "file_path", "direction", "max_tokens"})
    request = rpc.CallHierarchyRequest(
        **call.scope(arguments),
        **given,
        path=arguments.file_path,
        direction=rpc.CallDirection(arguments.direction),
    )
    reply = await call.backend.call_hierarchy(request)
    direct = sum(branch.depth == 1 for branch in reply.branches)
    kept = walked.fit_branches(reply.branches, arguments.max_tokens)
    if kept < direct:
        # Ask again for what fits: only then does the cursor go on right behind it.
        reply = await call.backend.call_hierarchy(request.model_copy(update={"limit": kept}))
        kept = walked.fit_branches(reply.branches, arguments.max_tokens)
    return walked.call_hierarchy(reply, kept)


async def get_type_hierarchy(call: Call, arguments: GetTypeHierarchy) -> Answer:
    given = arguments.model_dump(exclude={*SCOPE, "file_path", "max_tokens"})
    request = rpc.TypeHierarchyRequest(**call.scope(arguments), **given, path=arguments.file_path)
    return walked.type_hierarchy(await call.backend.type_hierarchy(request), arguments.max_tokens)


async def get_dependencies(call: Call, arguments: GetDependencies) -> Answer:
    given = arguments.model_dump(exclude={*SCOPE, "direction", "max_tokens"})
    request = rpc.DependenciesRequest(
        **call.scope(arguments), **given, direction=rpc.DependencyDirection(arguments.direction)
    )
    reply = await call.backend.dependencies(request)
    kept = walked.fit_dependencies(reply, arguments.max_tokens)
    if kept < max(len(reply.uses), len(reply.used_by)):
        # As in get_call_hierarchy.
        reply = await call.backend.dependencies(request.model_copy(update={"limit": kept}))
    return walked.dependencies(reply)


async def find_path(call: Call, arguments: FindPath) -> Answer:
    given = arguments.model_dump(exclude={*SCOPE, "max_tokens"})
    reply = await call.backend.find_path(rpc.FindPathRequest(**call.scope(arguments), **given))
    return walked.find_path(reply, arguments.max_tokens)


async def impact_of_change(call: Call, arguments: ImpactOfChange) -> Answer:
    given = arguments.model_dump(exclude={*SCOPE, "file_path", "max_tokens"})
    request = rpc.ImpactRequest(**call.scope(arguments), **given, path=arguments.file_path)
    reply = await call.backend.impact(request)
    kept = walked.fit_impact(reply, arguments.max_tokens)
    if kept < max(len(reply.affected), len(reply.tests)):
        # As in get_call_hierarchy.
        reply = await call.backend.impact(request.model_copy(update={"limit": kept}))
    return walked.impact(reply, arguments.max_tokens)


NODE = record(file_path=STRING, line=INTEGER, symbol=STRING, kind=STRING)
EDGE = record(edge=STRING, status=STRING, strategy=STRING, lines=array(INTEGER), total_lines=INTEGER)
BRANCHES = array(
    record(node=NODE, via=EDGE, parent=INTEGER, depth=INTEGER, same_as=INTEGER, left_out=INTEGER)
)
DEPENDENCIES = array(
    record(file_path=STRING, depth=INTEGER, edges=array(EDGE), symbols=STRINGS, through=STRING)
)
AFFECTED = array(record(node=NODE, distance=INTEGER, status=STRING, via=EDGE, uses=NODE))
PATHS = array(record(nodes=array(NODE), edges=array(EDGE)))

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_call_hierarchy",
        Toolset.GRAPH,
        "Who calls a symbol, or what it calls, as a tree. No callers is only said if the text agrees.",
        GetCallHierarchy,
        record(
            roots=array(NODE),
            branches=BRANCHES,
            total=INTEGER,
            other_uses=OBJECT,
            in_text=OBJECT,
            others=array(NODE),
            next_cursor=STRING,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_call_hierarchy,
    ),
    Tool(
        "get_type_hierarchy",
        Toolset.GRAPH,
        "Supertypes and subtypes of a type, all the way.",
        GetTypeHierarchy,
        record(
            roots=array(NODE),
            supertypes=BRANCHES,
            subtypes=BRANCHES,
            note=STRING,
            structural=array(NODE),
            others=array(NODE),
            **TRUNCATED,
            **RECEIPT,
        ),
        get_type_hierarchy,
    ),
    Tool(
        "get_dependencies",
        Toolset.GRAPH,
        "Files that a file, folder or package uses and that use it, external modules, and cycles through it.",
        GetDependencies,
        record(
            files=STRINGS,
            total_files=INTEGER,
            uses=DEPENDENCIES,
            used_by=DEPENDENCIES,
            total_uses=INTEGER,
            total_used_by=INTEGER,
            externals=array(record(module=STRING, files=INTEGER)),
            cycles=array(STRINGS),
            next_cursor=STRING,
            **RECEIPT,
        ),
        get_dependencies,
    ),
    Tool(
        "find_path",
        Toolset.GRAPH,
        "How one symbol or file reaches another: up to 3 shortest paths over calls, else over other uses.",
        FindPath,
        record(
            source=array(NODE),
            target=array(NODE),
            paths=PATHS,
            backward=PATHS,
            searches=array(OBJECT),
            **TRUNCATED,
            **RECEIPT,
        ),
        find_path,
    ),
    Tool(
        "impact_of_change",
        Toolset.GRAPH,
        "What a change of a symbol, or a unified diff, affects: callers of callers, tests, public interface. Give symbol or diff.",
        ImpactOfChange,
        record(
            files=array(record(file_path=STRING, state=STRING, applied=BOOLEAN, detail=STRING)),
            changed=array(record(node=NODE, exported=BOOLEAN, signature=BOOLEAN, used_by=INTEGER)),
            affected=AFFECTED,
            tests=AFFECTED,
            total_affected=INTEGER,
            resolved_affected=INTEGER,
            total_tests=INTEGER,
            by_file=OBJECT,
            next_cursor=STRING,
            **TRUNCATED,
            **RECEIPT,
        ),
        impact_of_change,
    ),
)
