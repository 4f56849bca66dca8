"""Search by meaning and words, exact search, and the query vectors of the deep model."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.code import (
    SymbolKind,
)
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import EnclosingSymbol, Receipt, ScopedRequest
from prism_contracts.types import (
    Cursor,
    FilePath,
    Glob,
    Language,
    ModelText,
    Pattern,
    Query,
)

SEARCH_LIMIT_MAX = 100
SEARCH_PATHS_MAX = 500
# Among the legs of a hit: the reranker placed it. Among the missing legs of a receipt: it should have, and did not.
RERANKER = "reranker"
GREP_LIMIT_MAX = 2_000
CONTEXT_LINES_MAX = 20
SearchLimit = Annotated[int, Field(ge=1, le=SEARCH_LIMIT_MAX)]


class Intent(StrEnum):
    """The kind of a question."""

    DEFINITION = "definition"
    CALLERS = "callers"
    USAGE = "usage"
    TEST = "test"
    SCHEMA = "schema"
    ARCHITECTURE = "architecture"
    GENERAL = "general"


class Corpus(StrEnum):
    """The files that a search covers."""

    CODE = "code"  # all files; prose ranks lower
    DOCS = "docs"  # Markdown and other prose only


class Detail(StrEnum):
    """How much of each hit an answer contains. A hit in code is a symbol with its range."""

    FULL = "full"  # the text of all hits
    TOP = "top"  # the lines that matter of the first two, the signature of the others
    COMPACT = "compact"  # the signature of each


class SearchRequest(ScopedRequest):
    """Finds the lines that answer a question."""

    query: Query
    corpus: Corpus = Corpus.CODE
    limit: SearchLimit = 10
    path_filter: Glob = ""  # glob, `**` crosses folders
    # Only these files. Empty: every file.
    paths: Annotated[tuple[FilePath, ...], Field(max_length=SEARCH_PATHS_MAX)] = ()
    language: Language = ""
    kind: SymbolKind | None = None
    source_only: bool = False
    detail: Detail = Detail.FULL
    include_file_context: bool = False  # include the definitions of the file of a hit
    cursor: Cursor = ""
    explain: bool = False  # include the contribution of each signal to each score


class FileContext(Message):
    """The definitions of a hit's file, in order, each as `12-40 class Session`."""

    lines: int
    definitions: tuple[str, ...]
    definitions_left_out: int = 0


class ShownLine(Message):
    """A line of a file."""

    number: int
    text: str


class Hit(Message):
    """One result. `score`, from 0 to 1, compares between replies; `raw_score` orders the hits of one,
    unless a reranker did.

    In code it is a symbol, and the lines are its range. `content` is filled with `Detail.FULL`, `lines` with
    `Detail.TOP`.
    """

    repo: str
    file_path: str
    start_line: int
    end_line: int
    content: str
    symbol: str = ""
    kind: str = ""
    # The range of `symbol`, which may begin before the hit or end after it; 0 if it is unknown.
    symbol_start: int = 0
    symbol_end: int = 0
    # The first hits' lines, the first line of the symbol, and the words of the question that the symbol contains.
    lines: tuple[ShownLine, ...] = ()
    is_whole: bool = False  # `lines` are all of its code
    signature: str = ""
    matched: tuple[str, ...] = ()
    beside: tuple[
        str, ...
    ] = ()  # other symbols of the file that answer, best first, each as `Session.close 12-40`
    beside_lines: tuple[
        ShownLine, ...
    ] = ()  # first hit only: lines of the first symbol in `beside` if it may answer better
    callees: tuple[str, ...] = ()  # of the first hit, by name, each as `Session.close src/session.py:12-40`
    callee_lines: tuple[
        ShownLine, ...
    ] = ()  # of the first callee, if it is short and the first hit is not certain
    language: str = ""
    score: float
    raw_score: float = 0.0  # the sum of the signals
    # The legs that found it, each with its rank (from 1), and `RERANKER` with its place if one ordered the hits.
    legs: dict[str, int] = {}
    # The contribution of each signal to the score, if requested.
    signals: dict[str, float] = {}
    # If requested.
    file_context: FileContext | None = None
    id: str = ""  # stable: the same for the same symbol, or lines, of the same content; see `hit_id`
    file_lines: int = 0


class SearchAnswer(Message):
    """The part of a reply that depends on the question and the index only: hits, best first.

    `confidence` describes the first hit of the first page; docs/quality.md defines the levels.
    """

    results: tuple[Hit, ...]
    confidence: str  # high, medium, low, none
    query_intent: Intent
    next_actions: tuple[str, ...] = ()
    diagnostics: dict[str, object] = {}
    next_cursor: str = ""


class SearchReply(SearchAnswer):
    """An answer with its receipt and timings."""

    truncated: bool = False  # shortened to the requested budget
    receipt: Receipt
    timings_ms: dict[str, float] = {}


class OutputMode(StrEnum):
    """What an exact search returns."""

    CONTENT = "content"  # the matching lines
    FILES_WITH_MATCHES = "files_with_matches"  # the files with matches
    COUNT = "count"  # the files with matches, and their counts


class Only(StrEnum):
    """Where matches of an exact search count. The parts of a file are those of code: prose has none."""

    CODE = "code"  # neither in a comment nor in a string
    COMMENTS = "comments"
    STRINGS = "strings"
    TESTS = "tests"  # in test files
    SOURCES = "sources"  # in files that are no tests, docs, or generated, vendored or minified code


class GrepRequest(ScopedRequest):
    """Finds every matching line, by path and line.

    `limit` counts lines, or files if the mode returns files. A literal pattern that is nowhere and looks like a
    regex is answered as one.
    """

    pattern: Pattern
    regex: bool = False
    case_sensitive: bool = True
    word: bool = False
    output_mode: OutputMode = OutputMode.CONTENT
    path_filter: Glob = ""
    exclude: Glob = ""
    only: Only | None = None
    source_only: bool = False
    language: Language = ""
    context_lines: Annotated[int, Field(ge=0, le=CONTEXT_LINES_MAX)] = 0
    limit: Annotated[int, Field(ge=1, le=GREP_LIMIT_MAX)] = 100
    cursor: Cursor = ""


class GrepMatch(Message):
    """One matching line, without its line end."""

    repo: str
    file_path: str
    line: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    # None if the symbols of the file are unknown.
    enclosing: EnclosingSymbol | None = None


class FileMatches(Message):
    """A file with matching lines. `lines` is their number, if they were counted.

    A file that a time limit cut is on two pages, whose counts add up.
    """

    repo: str
    file_path: str
    lines: int | None = None


class GrepReply(Message):
    """A page of matches, or of files with matches.

    `complete` is False if a limit cut the scan; `note` then says which. Each page has the totals of all
    pages. A total is None if it was not counted, because of a time limit or the mode.
    """

    matches: tuple[GrepMatch, ...] = ()
    files: tuple[FileMatches, ...] = ()
    total_files: int | None = None
    total_lines: int | None = None
    # On the first page of lines, if they were counted: the files with further lines, each with their number.
    rest: tuple[FileMatches, ...] = ()
    next_cursor: str = ""
    complete: bool
    note: str = ""
    files_scanned: int
    receipt: Receipt


class EmbedQueryRequest(Message):
    """Embeds queries with the deep model."""

    texts: Annotated[tuple[ModelText, ...], Field(min_length=1, max_length=16)]


class EmbedQueryReply(Message):
    """One vector per text."""

    model: str  # fingerprint of the weights
    vectors: tuple[tuple[float, ...], ...]


SEARCH = Rpc("search.search", SearchRequest, SearchReply, reads=True)
GREP = Rpc("search.grep", GrepRequest, GrepReply, reads=True)
EMBED_DEEP_QUERY = Rpc("embedder-deep.query", EmbedQueryRequest, EmbedQueryReply, deadline_s=10, reads=True)
