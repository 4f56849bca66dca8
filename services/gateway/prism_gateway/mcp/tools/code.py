"""The toolset `code`: find, read and navigate code.

It is listed by default, so agents pay for every word here.
"""

import asyncio
from collections.abc import Mapping
from itertools import groupby
from typing import Annotated

from pydantic import Field, model_validator

from prism_contracts import types
from prism_contracts.code import EdgeKind, SymbolKind
from prism_contracts.errors import PrismError
from prism_contracts.rpc.files import (
    LINES,
    LIST_FILES,
    LIST_LIMIT_MAX,
    OUTLINE,
    RANGES_MAX,
    ListFilesRequest,
)
from prism_contracts.rpc.graph import TYPE_HIERARCHY, WALK_LIMIT_MAX, TypeHierarchyReply
from prism_contracts.rpc.search import (
    CONTEXT_LINES_MAX,
    GREP,
    GREP_LIMIT_MAX,
    Detail,
    GrepRequest,
    Only,
    OutputMode,
    SearchLimit,
    SearchRequest,
)
from prism_contracts.rpc.symbols import (
    DEFINITIONS,
    REFERENCES,
    REFERENCES_BATCH_MAX,
    REFERENCES_LIMIT_MAX,
    SYMBOLS_BATCH_MAX,
    ReferencePage,
    ReferencesReply,
    ReferencesRequest,
)
from prism_gateway.budget import CHARS_PER_TOKEN
from prism_gateway.mcp.answers import files, hits, matches, references, symbols
from prism_gateway.mcp.answers import types as type_text
from prism_gateway.mcp.answers.reference_bodies import BodyPlace, body_uses
from prism_gateway.mcp.arguments import (
    READ_TOKENS,
    BudgetedArguments,
    FilePath,
    Glob,
    Language,
    MaxTokens,
    OneOf,
)
from prism_gateway.mcp.graph_first import graph_answer, read_question
from prism_gateway.mcp.schema import (
    BOOLEAN,
    INTEGER,
    OBJECT,
    PLACE,
    RECEIPT,
    SEARCH_OUTPUT,
    STRING,
    STRINGS,
    SYMBOL,
    TRUNCATED,
    array,
    record,
)
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset, ask_for_what_fits
from prism_gateway.search import search

FILES_DEFAULT = 200
# References that a type outside of the repository may have, beside any.
SUPERTYPE_KINDS = frozenset({None, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS})
# Hits that follow an answer of the graph.
HITS_BESIDE_GRAPH = 3

Kind = Annotated[types.Word, OneOf(SymbolKind), Field(description="function, class, …")]
EdgeName = Annotated[types.Word, OneOf(EdgeKind)]
OnlyName = Annotated[types.Word, OneOf(Only), Field(description="where matches count")]
OutputModeName = Annotated[types.Word, OneOf(OutputMode), Field(min_length=1)]
DetailName = Annotated[
    types.Word,
    OneOf(Detail),
    Field(min_length=1, description="code of the first hits, of all, of none"),
]


class SearchCode(BudgetedArguments):
    query: Annotated[types.Query, Field(description="question, name or words")]
    limit: SearchLimit = 10
    path_filter: Glob = ""
    language: Language = ""
    kind: Kind = ""
    source_only: Annotated[bool, Field(description="skip tests, docs, generated code")] = False
    detail: DetailName = Detail.TOP.value
    include_file_context: Annotated[bool, Field(description="add the definitions of each file")] = False
    cursor: types.Cursor = ""


class GrepCode(BudgetedArguments):
    pattern: types.Pattern
    regex: bool = False
    case_sensitive: bool = True
    word: Annotated[bool, Field(description="match whole words")] = False
    output_mode: OutputModeName = OutputMode.CONTENT.value
    path_filter: Glob = ""
    exclude: Annotated[Glob, Field(description="glob of files to skip")] = ""
    only: OnlyName = ""
    source_only: bool = False
    language: Language = ""
    context_lines: Annotated[int, Field(ge=0, le=CONTEXT_LINES_MAX)] = 0
    limit: Annotated[int, Field(ge=1, le=GREP_LIMIT_MAX)] = 100
    cursor: types.Cursor = ""
    max_tokens: MaxTokens = READ_TOKENS


class ListFiles(BudgetedArguments):
    glob: Glob = ""
    language: Language = ""
    include_skipped: bool = False
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT_MAX)] = FILES_DEFAULT
    cursor: types.Cursor = ""
    max_tokens: MaxTokens = READ_TOKENS


class GetFileOutline(BudgetedArguments):
    file_path: FilePath
    max_tokens: MaxTokens = READ_TOKENS


class GetSymbolDefinition(BudgetedArguments):
    symbol: Annotated[types.SymbolName, Field(description="get or Session.get")] = ""
    symbols: Annotated[list[types.SymbolName], Field(max_length=SYMBOLS_BATCH_MAX)] = []
    file_path: FilePath = ""
    include_body: bool = False

    @model_validator(mode="after")
    def _one_way_of_asking(self) -> "GetSymbolDefinition":
        if bool(self.symbol) == bool(self.symbols):
            raise ValueError("give either symbol or symbols")
        return self


class FindReferences(BudgetedArguments):
    symbols: Annotated[
        list[types.SymbolName],
        Field(
            min_length=1,
            max_length=REFERENCES_BATCH_MAX,
            description="Depot.open(int) or depot.py:42",
        ),
    ]
    file_path: Annotated[FilePath, Field(description="file of the definition")] = ""
    path_filter: Glob = ""
    reference_type: EdgeName = ""
    source_only: Annotated[bool, Field(description="skip tests")] = False
    page: Annotated[
        types.Word,
        OneOf(ReferencePage),
        Field(min_length=1, description="other: another symbol"),
    ] = ReferencePage.MAIN.value
    include_bodies: Annotated[bool, Field(description="the code around")] = False
    include_candidates: Annotated[bool, Field(description="matches by name only")] = True
    limit: Annotated[int, Field(ge=1, le=REFERENCES_LIMIT_MAX)] = 50
    cursor: types.Cursor = ""


async def search_code(call: Call, arguments: SearchCode) -> Answer:
    request = call.request(SearchRequest, arguments, kind=arguments.kind or None)
    question = read_question(arguments.query) if not arguments.cursor else None
    if question is None:
        return hits.search(await search(call.backend, request, arguments.max_tokens), arguments.max_tokens)
    known, reply = await asyncio.gather(
        graph_answer(call, question, arguments), search(call.backend, request, arguments.max_tokens)
    )
    if known is None:
        return hits.search(reply, arguments.max_tokens)
    few = reply.model_copy(update={"results": reply.results[:HITS_BESIDE_GRAPH], "next_actions": ()})
    found = hits.search(few, arguments.max_tokens)
    return Answer(
        {**found.structured, "graph": known.structured}, f"{known.text}\n\n{found.text}", found.meta
    )


async def grep_code(call: Call, arguments: GrepCode) -> Answer:
    reply, cut_off = await ask_for_what_fits(
        call,
        GREP,
        call.request(GrepRequest, arguments, only=arguments.only or None),
        lambda reply: len(reply.matches) + len(reply.files),
        lambda reply: matches.fit_matches(reply, arguments.max_tokens).kept,
    )
    return matches.grep(reply, arguments.max_tokens, cut_off=cut_off)


async def list_files(call: Call, arguments: ListFiles) -> Answer:
    reply, cut_off = await ask_for_what_fits(
        call,
        LIST_FILES,
        call.request(ListFilesRequest, arguments),
        lambda reply: len(reply.files),
        lambda reply: files.fit_files(reply, arguments.max_tokens),
    )
    return files.list_files(reply, arguments.max_tokens, cut_off=cut_off)


async def get_file_outline(call: Call, arguments: GetFileOutline) -> Answer:
    reply = await call.ask(OUTLINE, arguments)
    return symbols.outline(reply, arguments.max_tokens)


async def get_symbol_definition(call: Call, arguments: GetSymbolDefinition) -> Answer:
    asked = arguments.symbols or [arguments.symbol]
    reply = await call.ask(DEFINITIONS, arguments, symbols=asked, count_uses=True)
    return symbols.definitions(reply, arguments.max_tokens)


async def find_references(call: Call, arguments: FindReferences) -> Answer:
    kind = arguments.reference_type or None
    request = call.request(ReferencesRequest, arguments, reference_type=kind)
    reply = await _references_that_fit(call, request, arguments.max_tokens)
    outside = await _outside_types(call, arguments, reply) if kind in SUPERTYPE_KINDS else {}
    room = arguments.max_tokens
    if outside:
        room -= sum(len(one.text) for one in outside.values()) // CHARS_PER_TOKEN
        asked = zip(request.symbols, reply.answers, strict=True)
        # With a kind, the other uses of a type are not asked for.
        rest = tuple(symbol for symbol, one in asked if not kind or one.symbol not in outside)
        reply = (
            await _references_that_fit(call, request.model_copy(update={"symbols": rest}), room)
            if rest
            else reply.model_copy(update={"answers": ()})
        )
    texts = await _bodies_around(call, arguments, reply) if arguments.include_bodies else None
    found = references.answer(reply, request, texts, room)
    if not outside:
        return found
    return Answer(
        found.structured | {"outside": {name: one.structured for name, one in outside.items()}},
        "\n\n".join([*(one.text for one in outside.values()), *([found.text] if reply.answers else [])]),
        found.meta,
    )


async def _references_that_fit(call: Call, request: ReferencesRequest, max_tokens: int) -> ReferencesReply:
    reply, _ = await ask_for_what_fits(
        call,
        REFERENCES,
        request,
        lambda reply: max(len(references.paged_lines(one, request.page)) for one in reply.answers),
        lambda reply: references.fit_entries(reply, request.page, max_tokens),
    )
    return reply


async def _outside_types(call: Call, arguments: FindReferences, reply: ReferencesReply) -> dict[str, Answer]:
    """Returns the subtypes of the types that the repository does not define, by name, on the first page."""
    if arguments.cursor or arguments.page != ReferencePage.MAIN:
        return {}
    names = [one.symbol for one in reply.answers if not one.definitions]
    replies = await asyncio.gather(*(_outside_type(call, arguments, name) for name in names))
    found = {name: one for name, one in zip(names, replies, strict=True) if one}
    # The other symbols have at least half of the room, all of them together.
    room = arguments.max_tokens // (1 if arguments.reference_type and len(found) == len(reply.answers) else 2)
    return {name: type_text.type_hierarchy(one, room // len(found)) for name, one in found.items()}


async def _outside_type(call: Call, arguments: FindReferences, name: str) -> TypeHierarchyReply | None:
    try:
        reply = await call.ask(
            TYPE_HIERARCHY, arguments, symbol=name, path="", limit=WALK_LIMIT_MAX, with_text=True
        )
    except PrismError:  # such as no graph yet: the references are the answer
        return None
    return reply if reply.outside else None


async def _bodies_around(
    call: Call, arguments: FindReferences, reply: ReferencesReply
) -> Mapping[BodyPlace, str]:
    """Returns the code of the symbols that contain references."""
    texts: dict[BodyPlace, str] = {}
    places = sorted(body_uses(reply), key=lambda place: place.repo)
    for repo, of_repo in groupby(places, key=lambda place: place.repo):
        asked = list(of_repo)[:RANGES_MAX]
        found = await call.ask(LINES, arguments, repo=repo, ranges=[place.lines for place in asked])
        texts |= {place: text for place, text in zip(asked, found.texts, strict=True) if text is not None}
    return texts


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "search_code",
        Toolset.CODE,
        "Find code by meaning, name or words: the best places, the first with its code.",
        SearchCode,
        SEARCH_OUTPUT,
        search_code,
    ),
    Tool(
        "grep_code",
        Toolset.CODE,
        "Every line that matches a literal or regex, like ripgrep, grouped by function.",
        GrepCode,
        record(
            matches=array(
                record(
                    repo=STRING,
                    file_path=STRING,
                    line=INTEGER,
                    text=STRING,
                    symbol=STRING,
                    before=STRINGS,
                    after=STRINGS,
                )
            ),
            files=array(record(repo=STRING, file_path=STRING, lines=INTEGER)),
            total_files=INTEGER,
            total_lines=INTEGER,
            next_cursor=STRING,
            complete=BOOLEAN,
            note=STRING,
            **TRUNCATED,
            **RECEIPT,
        ),
        grep_code,
    ),
    Tool(
        "list_files",
        Toolset.CODE,
        "Indexed files by glob.",
        ListFiles,
        record(
            files=array(
                record(file_path=STRING, language=STRING, lines=INTEGER, flags=STRINGS, skipped=STRING)
            ),
            total=INTEGER,
            next_cursor=STRING,
            **TRUNCATED,
            **RECEIPT,
        ),
        list_files,
    ),
    Tool(
        "get_file_outline",
        Toolset.CODE,
        "Symbols of a file with ranges and signatures.",
        GetFileOutline,
        record(
            symbols=array(record(**SYMBOL, start_line=INTEGER, end_line=INTEGER, parent=INTEGER)),
            language=STRING,
            line_count=INTEGER,
            description=STRING,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_file_outline,
    ),
    Tool(
        "get_symbol_definition",
        Toolset.CODE,
        "Where symbols are defined: range and signature.",
        GetSymbolDefinition,
        record(
            answers=array(
                record(
                    symbol=STRING,
                    definitions=array(record(**PLACE, **SYMBOL, body=STRING)),
                    total=INTEGER,
                    suggestions=STRINGS,
                )
            ),
            **TRUNCATED,
            **RECEIPT,
        ),
        get_symbol_definition,
    ),
    Tool(
        "find_references",
        Toolset.CODE,
        "Who uses or calls a symbol: every line, by kind, with its function. Says whether the list is complete.",
        FindReferences,
        record(
            answers=array(
                record(
                    symbol=STRING,
                    definitions=array(record(**PLACE, name=STRING, kind=STRING, signature=STRING)),
                    groups=OBJECT,
                    counts=OBJECT,
                    reconciliation=OBJECT,
                    suggestions=STRINGS,
                    next_cursor=STRING,
                )
            ),
            outside=OBJECT,
            bodies=array(
                record(repo=STRING, file_path=STRING, start_line=INTEGER, end_line=INTEGER, lines=OBJECT)
            ),
            **RECEIPT,
        ),
        find_references,
    ),
)
