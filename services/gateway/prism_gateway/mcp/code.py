"""The toolset `code`: find, read and navigate code. It is listed by default, so every word here is paid for."""

from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from prism_contracts import rpc
from prism_contracts.code import EdgeKind, SymbolKind
from prism_gateway.mcp import present, references
from prism_gateway.mcp.tool import (
    BOOLEAN,
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
    one_of,
    record,
)
from prism_gateway.search import search

ANSWER_TOKENS = 4_000
# Reading and listing give more by default: who asks for a file wants the file.
READ_TOKENS = 10_000
FILES_DEFAULT = 200


Kind = Annotated[
    str, AfterValidator(partial(one_of, SymbolKind)), Field(description="function, class, method, …")
]
EdgeName = Annotated[
    str, AfterValidator(partial(one_of, EdgeKind)), Field(description="calls, imports, extends, …")
]
Glob = Annotated[str, Field(description="glob: src/**/*.py")]
Language = Annotated[str, Field(description="python, go, …")]
Limit = rpc.SearchLimit
OutputMode = Annotated[
    str,
    AfterValidator(partial(one_of, rpc.OutputMode)),
    Field(min_length=1, description="content, files_with_matches, count"),
]
Detail = Annotated[
    str,
    AfterValidator(partial(one_of, rpc.Detail)),
    Field(min_length=1, description="full or compact (no code)"),
]


class SearchCode(ScopedArguments):
    query: Annotated[str, Field(description="question, name or words")]
    limit: Limit = 10
    path_filter: Glob = ""
    language: Language = ""
    kind: Kind = ""
    source_only: Annotated[bool, Field(description="no tests, docs, generated")] = False
    detail: Detail = rpc.Detail.FULL.value
    include_file_context: Annotated[bool, Field(description="the file's definitions")] = False
    cursor: str = ""
    max_tokens: MaxTokens = ANSWER_TOKENS


class GrepCode(ScopedArguments):
    pattern: str
    regex: bool = False
    case_sensitive: bool = True
    word: Annotated[bool, Field(description="whole words")] = False
    output_mode: OutputMode = rpc.OutputMode.CONTENT.value
    path_filter: Glob = ""
    language: Language = ""
    context_lines: Annotated[int, Field(ge=0, le=rpc.CONTEXT_LINES_MAX)] = 0
    limit: Annotated[int, Field(ge=1, le=rpc.GREP_LIMIT_MAX)] = 100
    cursor: str = ""
    max_tokens: MaxTokens = READ_TOKENS


class ReadFile(ScopedArguments):
    file_path: str
    start_line: Annotated[int, Field(ge=1)] = 1
    end_line: Annotated[int, Field(ge=0, description="0: to the end")] = 0
    max_tokens: MaxTokens = READ_TOKENS


class ListFiles(ScopedArguments):
    glob: Glob = ""
    language: Language = ""
    include_skipped: bool = False
    limit: Annotated[int, Field(ge=1, le=rpc.LIST_LIMIT_MAX)] = FILES_DEFAULT
    cursor: str = ""
    max_tokens: MaxTokens = READ_TOKENS


class GetFileOutline(ScopedArguments):
    file_path: str
    max_tokens: MaxTokens = READ_TOKENS


class GetSymbolDefinition(ScopedArguments):
    symbol: Annotated[str, Field(description="get or Session.get")] = ""
    symbols: Annotated[list[str], Field(max_length=rpc.SYMBOLS_BATCH_MAX)] = []
    file_path: str = ""
    include_body: bool = False
    max_tokens: MaxTokens = ANSWER_TOKENS

    @model_validator(mode="after")
    def _one_way_of_asking(self) -> "GetSymbolDefinition":
        if bool(self.symbol) == bool(self.symbols):
            raise ValueError("give either symbol or symbols")
        return self


class FindReferences(ScopedArguments):
    symbols: Annotated[list[str], Field(min_length=1, max_length=rpc.REFERENCES_BATCH_MAX)]
    file_path: Annotated[str, Field(description="of the definition")] = ""
    path_filter: Glob = ""
    reference_type: EdgeName = ""
    source_only: Annotated[bool, Field(description="no tests")] = False
    limit: Annotated[int, Field(ge=1, le=rpc.REFERENCES_LIMIT_MAX)] = 50
    cursor: str = ""
    max_tokens: MaxTokens = ANSWER_TOKENS


async def search_code(call: Call, arguments: SearchCode) -> Answer:
    given = arguments.model_dump(exclude={*SCOPE, "kind", "max_tokens"})
    request = rpc.SearchRequest(
        **call.scope(arguments), **given, kind=SymbolKind(arguments.kind) if arguments.kind else None
    )
    return present.search(await search(call.backend, request, arguments.max_tokens), arguments.max_tokens)


async def grep_code(call: Call, arguments: GrepCode) -> Answer:
    request = rpc.GrepRequest(**call.scope(arguments), **arguments.model_dump(exclude={*SCOPE, "max_tokens"}))
    reply = await call.backend.grep(request)
    fits = present.fit_grep(reply, arguments.max_tokens)
    cut_off = fits.kept < len(reply.matches) + len(reply.files)
    if cut_off:
        # Ask again for what fits: only then does the cursor go on right behind it.
        reply = await call.backend.grep(request.model_copy(update={"limit": fits.kept}))
    return present.grep(reply, fits, arguments.max_tokens, cut_off=cut_off)


async def read_file(call: Call, arguments: ReadFile) -> Answer:
    reply = await call.backend.read_file(
        rpc.ReadFileRequest(
            **call.scope(arguments),
            path=arguments.file_path,
            start_line=arguments.start_line,
            end_line=arguments.end_line,
        )
    )
    return present.read_file(reply, arguments.max_tokens)


async def list_files(call: Call, arguments: ListFiles) -> Answer:
    request = rpc.ListFilesRequest(
        **call.scope(arguments), **arguments.model_dump(exclude={*SCOPE, "max_tokens"})
    )
    reply = await call.backend.list_files(request)
    kept = present.fit_files(reply, arguments.max_tokens).kept
    cut_off = kept < len(reply.files)
    if cut_off:
        # As in grep_code: the cursor has to go on right behind the last file that is shown.
        reply = await call.backend.list_files(request.model_copy(update={"limit": kept}))
    return present.list_files(reply, arguments.max_tokens, cut_off=cut_off)


async def get_file_outline(call: Call, arguments: GetFileOutline) -> Answer:
    request = rpc.OutlineRequest(**call.scope(arguments), path=arguments.file_path)
    return present.outline(await call.backend.outline(request), arguments.max_tokens)


async def get_symbol_definition(call: Call, arguments: GetSymbolDefinition) -> Answer:
    request = rpc.DefinitionsRequest(
        **call.scope(arguments),
        symbols=tuple(arguments.symbols) or (arguments.symbol,),
        path=arguments.file_path,
        include_body=arguments.include_body,
    )
    return present.definitions(await call.backend.definitions(request), arguments.max_tokens)


async def find_references(call: Call, arguments: FindReferences) -> Answer:
    given = arguments.model_dump(exclude={*SCOPE, "file_path", "max_tokens", "reference_type"})
    request = rpc.ReferencesRequest(
        **call.scope(arguments),
        **given,
        path=arguments.file_path,
        reference_type=EdgeKind(arguments.reference_type) if arguments.reference_type else None,
    )
    reply = await call.backend.references(request)
    kept = references.fit_entries(reply, arguments.max_tokens)
    if kept < max(len(answer.entries) for answer in reply.answers):
        # Ask again for what fits: only then does the cursor go on right behind it.
        reply = await call.backend.references(request.model_copy(update={"limit": kept}))
    return references.answer(reply)


PLACE = {"repo": STRING, "file_path": STRING, "start_line": INTEGER, "end_line": INTEGER}
SYMBOL = {"name": STRING, "kind": STRING, "signature": STRING, "docstring": STRING}
RECEIPT = {"receipt": OBJECT}
TRUNCATED = {"truncated": BOOLEAN}
STRINGS = array(STRING)
SEARCH_OUTPUT = record(
    results=array(
        record(
            **PLACE,
            content=STRING,
            symbol=STRING,
            kind=STRING,
            language=STRING,
            score=NUMBER,
            legs=OBJECT,
            file_context=OBJECT,
        )
    ),
    confidence=STRING,
    query_intent=STRING,
    next_actions=STRINGS,
    next_cursor=STRING,
    diagnostics=OBJECT,
    **TRUNCATED,
    **RECEIPT,
)

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "search_code",
        Toolset.CODE,
        "Find code by meaning, name or words: where and how something is done. Best first, with the code. Start here.",
        SearchCode,
        SEARCH_OUTPUT,
        search_code,
    ),
    Tool(
        "grep_code",
        Toolset.CODE,
        "Every line that matches a literal or a regex, as ripgrep finds them, by path and line. Go on with next_cursor.",
        GrepCode,
        record(
            matches=array(
                record(
                    repo=STRING, file_path=STRING, line=INTEGER, text=STRING, before=STRINGS, after=STRINGS
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
        "read_file",
        Toolset.CODE,
        "Lines of an indexed file, secrets redacted.",
        ReadFile,
        record(**PLACE, line_count=INTEGER, content=STRING, language=STRING, **TRUNCATED, **RECEIPT),
        read_file,
    ),
    Tool(
        "list_files",
        Toolset.CODE,
        "Indexed files by glob, in order of path.",
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
        "Symbols of a file with signatures and lines, cheaper than reading it. parent is a position in the list.",
        GetFileOutline,
        record(
            symbols=array(record(**SYMBOL, start_line=INTEGER, end_line=INTEGER, parent=INTEGER)),
            language=STRING,
            line_count=INTEGER,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_file_outline,
    ),
    Tool(
        "get_symbol_definition",
        Toolset.CODE,
        "Where symbols are defined, with signature and, if asked, body; near names on a miss. Give symbol, or symbols for several.",
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
        "Who uses a symbol, by group: resolved edges and how each was found, candidates, and lines with the name that are neither.",
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
            **RECEIPT,
        ),
        find_references,
    ),
)
