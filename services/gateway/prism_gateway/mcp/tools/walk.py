"""The toolset `graph`, traversals: calls, types, dependencies, paths, impact."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Self, TypeVar

from pydantic import Field, model_validator

from prism_contracts import types
from prism_contracts.errors import PrismError
from prism_contracts.rpc.files import LINES
from prism_contracts.rpc.graph import (
    CALL_HIERARCHY,
    DEPENDENCIES,
    FIND_PATH,
    IMPACT,
    PATH_DEPTH_MAX,
    TYPE_HIERARCHY,
    WALK_DEPTH_MAX,
    WALK_LIMIT_MAX,
    CallDirection,
    CallHierarchyRequest,
    DependenciesRequest,
    DependencyDirection,
    ImpactRequest,
)
from prism_gateway.budget import TOKENS_MIN
from prism_gateway.mcp.answers import calls, impacts, paths, walks
from prism_gateway.mcp.answers import types as type_text
from prism_gateway.mcp.answers.graph_parts import joined
from prism_gateway.mcp.arguments import BudgetedArguments, FilePath, OneOf
from prism_gateway.mcp.schema import (
    BOOLEAN,
    INTEGER,
    OBJECT,
    RECEIPT,
    STRING,
    STRINGS,
    TRUNCATED,
    array,
    record,
)
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset, ask_for_what_fits

SYMBOLS_MAX = 10

SymbolName = Annotated[types.SymbolName, Field(description="Session.get or src/session.py:42")]
SymbolsT = TypeVar("SymbolsT", bound="SymbolsArguments")
Depth = Annotated[int, Field(ge=1, le=WALK_DEPTH_MAX)]
Limit = Annotated[int, Field(ge=1, le=WALK_LIMIT_MAX)]
Candidates = Annotated[bool, Field(description="include edges by name only")]
SourceOnly = Annotated[bool, Field(description="skip tests")]
CallDirectionName = Annotated[types.Word, OneOf(CallDirection), Field(min_length=1)]
Direction = Annotated[types.Word, OneOf(DependencyDirection), Field(min_length=1)]


class SymbolsArguments(BudgetedArguments):
    """Arguments of a tool that answers about one symbol, or about several within one budget."""

    symbol: SymbolName = ""
    symbols: Annotated[list[types.SymbolName], Field(max_length=SYMBOLS_MAX)] = []
    file_path: FilePath = ""

    @model_validator(mode="after")
    def _one_way_of_asking(self) -> Self:
        if bool(self.symbol) == bool(self.symbols):
            raise ValueError("give either symbol or symbols")
        return self


class GetCallHierarchy(SymbolsArguments):
    direction: CallDirectionName = CallDirection.CALLERS.value
    depth: Depth = 1
    include_candidates: Candidates = True
    source_only: SourceOnly = False
    limit: Limit = 50
    cursor: types.Cursor = ""


class GetTypeHierarchy(SymbolsArguments):
    include_members: Annotated[bool, Field(description="add overriding members")] = False
    include_candidates: Candidates = True
    source_only: SourceOnly = False
    limit: Limit = WALK_LIMIT_MAX


class GetDependencies(BudgetedArguments):
    path: Annotated[types.FilePath, Field(min_length=1, description="file, folder or package")]
    direction: Direction = DependencyDirection.BOTH.value
    depth: Depth = 1
    include_candidates: Candidates = False
    limit: Limit = 50
    cursor: types.Cursor = ""


class FindPath(BudgetedArguments):
    source: Annotated[SymbolName, Field(min_length=1)]
    target: Annotated[SymbolName, Field(min_length=1)]
    source_path: types.FilePath = ""
    target_path: types.FilePath = ""
    depth: Annotated[int, Field(ge=1, le=PATH_DEPTH_MAX)] = PATH_DEPTH_MAX
    include_candidates: Candidates = True
    include_bodies: Annotated[bool, Field(description="add the code on the way")] = False


class ImpactOfChange(BudgetedArguments):
    symbol: types.SymbolName = ""
    file_path: FilePath = ""
    diff: Annotated[types.Diff, Field(description="unified diff")] = ""
    depth: Depth = 3
    include_candidates: Candidates = True
    source_only: SourceOnly = False
    limit: Limit = 100
    cursor: types.Cursor = ""

    @model_validator(mode="after")
    def _one_way_of_asking(self) -> "ImpactOfChange":
        if bool(self.symbol) == bool(self.diff):
            raise ValueError("give either symbol or diff")
        return self


async def get_call_hierarchy(call: Call, arguments: GetCallHierarchy) -> Answer:
    return await _of_each(call, arguments, _calls_of)


async def _calls_of(call: Call, arguments: GetCallHierarchy) -> Answer:
    reply, _ = await ask_for_what_fits(
        call,
        CALL_HIERARCHY,
        call.request(CallHierarchyRequest, arguments, with_text=True),
        lambda reply: sum(branch.depth == 1 for branch in reply.branches),
        lambda reply: calls.fit_calls(reply, arguments.max_tokens),
    )
    return calls.call_hierarchy(reply, arguments.max_tokens)


async def get_type_hierarchy(call: Call, arguments: GetTypeHierarchy) -> Answer:
    return await _of_each(call, arguments, _types_of)


async def _types_of(call: Call, arguments: GetTypeHierarchy) -> Answer:
    reply = await call.ask(TYPE_HIERARCHY, arguments, with_text=True)
    return type_text.type_hierarchy(reply, arguments.max_tokens)


async def get_dependencies(call: Call, arguments: GetDependencies) -> Answer:
    reply, _ = await ask_for_what_fits(
        call,
        DEPENDENCIES,
        call.request(DependenciesRequest, arguments),
        lambda reply: max(len(reply.uses), len(reply.used_by)),
        lambda reply: walks.fit_dependencies(reply, arguments.max_tokens),
    )
    return walks.dependencies(reply)


async def find_path(call: Call, arguments: FindPath) -> Answer:
    reply = await call.ask(FIND_PATH, arguments, with_text=True)
    ranges = paths.body_ranges(reply) if arguments.include_bodies else ()
    if not ranges:
        return paths.find_path(reply, arguments.max_tokens)
    found = await call.ask(LINES, arguments, ranges=ranges)
    bodies = {place: text for place, text in zip(ranges, found.texts, strict=True) if text is not None}
    return paths.find_path(reply, arguments.max_tokens, bodies)


async def impact_of_change(call: Call, arguments: ImpactOfChange) -> Answer:
    reply, _ = await ask_for_what_fits(
        call,
        IMPACT,
        call.request(ImpactRequest, arguments, with_text=True),
        lambda reply: max(len(reply.affected), len(reply.tests)),
        lambda reply: impacts.fit_impact(reply, arguments.max_tokens),
    )
    return impacts.impact(reply, arguments.max_tokens)


async def _of_each(
    call: Call, arguments: SymbolsT, answer: Callable[[Call, SymbolsT], Awaitable[Answer]]
) -> Answer:
    """Returns the answers about several symbols, each within its share of the budget; an error is an answer."""
    if not arguments.symbols:
        return await answer(call, arguments)
    share = max(TOKENS_MIN, arguments.max_tokens // len(arguments.symbols))

    async def one(symbol: str) -> Answer:
        alone = {"symbol": symbol, "symbols": [], "max_tokens": share}
        try:
            return await answer(call, arguments.model_copy(update=alone))
        except PrismError as error:
            body = error.body
            text = f"{symbol}: {body.code.value}: {body.message} — {body.next_action}"
            return Answer({"error": body.model_dump(mode="json")}, text)

    return joined(
        list(zip(arguments.symbols, await asyncio.gather(*map(one, arguments.symbols)), strict=True))
    )


NODE = record(file_path=STRING, line=INTEGER, symbol=STRING, kind=STRING)
EDGE = record(edge=STRING, status=STRING, strategy=STRING, lines=array(INTEGER), total_lines=INTEGER)
BRANCHES = array(
    record(node=NODE, via=EDGE, parent=INTEGER, depth=INTEGER, same_as=INTEGER, left_out=INTEGER)
)
DEPENDENCY_ROWS = array(
    record(file_path=STRING, depth=INTEGER, edges=array(EDGE), symbols=STRINGS, through=STRING)
)
AFFECTED = array(record(node=NODE, distance=INTEGER, status=STRING, via=EDGE, uses=NODE))
PATHS = array(record(nodes=array(NODE), edges=array(EDGE)))

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_call_hierarchy",
        Toolset.CODE,
        "Callers or callees of a symbol, each call with its line, and whether the list is complete.",
        GetCallHierarchy,
        record(
            answers=OBJECT,
            roots=array(NODE),
            branches=BRANCHES,
            total=INTEGER,
            other_uses=OBJECT,
            in_text=OBJECT,
            levels_in_text=OBJECT,
            stops=array(OBJECT),
            others=array(NODE),
            next_cursor=STRING,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_call_hierarchy,
    ),
    Tool(
        "get_type_hierarchy",
        Toolset.CODE,
        "What a type extends, and what implements or extends it, at any distance.",
        GetTypeHierarchy,
        record(
            answers=OBJECT,
            roots=array(NODE),
            supertypes=BRANCHES,
            subtypes=BRANCHES,
            note=STRING,
            structural=array(NODE),
            outside=OBJECT,
            by_macros=array(OBJECT),
            in_text=OBJECT,
            others=array(NODE),
            **TRUNCATED,
            **RECEIPT,
        ),
        get_type_hierarchy,
    ),
    Tool(
        "get_dependencies",
        Toolset.GRAPH,
        "Dependencies and dependents of a file, folder or package, external modules, import cycles.",
        GetDependencies,
        record(
            files=STRINGS,
            total_files=INTEGER,
            uses=DEPENDENCY_ROWS,
            used_by=DEPENDENCY_ROWS,
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
        Toolset.CODE,
        "How one symbol or file reaches another: up to 3 chains, with the line of each call.",
        FindPath,
        record(
            source=array(NODE),
            target=array(NODE),
            paths=PATHS,
            backward=PATHS,
            notes=STRINGS,
            searches=array(OBJECT),
            **TRUNCATED,
            **RECEIPT,
        ),
        find_path,
    ),
    Tool(
        "impact_of_change",
        Toolset.CODE,
        "What a change of a symbol, or a diff, affects: transitive callers, and the tests to run.",
        ImpactOfChange,
        record(
            files=array(record(file_path=STRING, state=STRING, applied=BOOLEAN, detail=STRING)),
            changed=array(record(node=NODE, exported=BOOLEAN, signature=BOOLEAN, used_by=INTEGER)),
            affected=AFFECTED,
            tests=AFFECTED,
            total_affected=INTEGER,
            resolved_affected=INTEGER,
            total_tests=INTEGER,
            test_commands=array(record(runner=STRING, command=STRING, tests=INTEGER)),
            by_file=OBJECT,
            in_text=OBJECT,
            levels_in_text=OBJECT,
            stops=array(OBJECT),
            next_cursor=STRING,
            **TRUNCATED,
            **RECEIPT,
        ),
        impact_of_change,
    ),
)
