"""Search by meaning and words, exact search, and the query vectors of the deep model."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.code import (
    SymbolKind,
)
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import Receipt, ScopedRequest
from prism_contracts.types import (
    Cursor,
    Glob,
    Language,
    ModelText,
    Pattern,
    Query,
)

SEARCH_LIMIT_MAX = 100
GREP_LIMIT_MAX = 2_000
CONTEXT_LINES_MAX = 20
SearchLimit = Annotated[int, Field(ge=1, le=SEARCH_LIMIT_MAX)]


class Intent(StrEnum):
    """What kind of question it is."""

    DEFINITION = "definition"
    CALLERS = "callers"
    USAGE = "usage"
    TEST = "test"
    SCHEMA = "schema"
    ARCHITECTURE = "architecture"
    GENERAL = "general"


class Corpus(StrEnum):
    """Which files a search looks at."""

    CODE = "code"  # everything, prose ranked low
    DOCS = "docs"  # Markdown and other prose only


class Detail(StrEnum):
    """How much of each hit an answer has."""

    FULL = "full"
    COMPACT = "compact"  # where it is and what it is called, without the lines


class SearchRequest(ScopedRequest):
    """Find the lines that answer a question."""

    query: Query
    corpus: Corpus = Corpus.CODE
    limit: SearchLimit = 10
    path_filter: Glob = ""  # glob, `**` crosses folders
    language: Language = ""
    kind: SymbolKind | None = None
    source_only: bool = False
    detail: Detail = Detail.FULL
    include_file_context: bool = False  # tell what else the file of a hit defines
    cursor: Cursor = ""
    explain: bool = False  # tell each signal's share of each score


class FileContext(Message):
    """What a hit stands among: the definitions of its file, in order, each as `12-40 class Session`."""

    lines: int
    definitions: tuple[str, ...]
    definitions_left_out: int = 0


class Hit(Message):
    """One answer. Scores compare within one reply only."""

    repo: str
    file_path: str
    start_line: int
    end_line: int
    content: str
    symbol: str = ""
    kind: str = ""
    language: str = ""
    score: float
    # The legs that found it, with the rank (from 1) that each gave it.
    legs: dict[str, int] = {}
    # What each signal added to the score, if asked for.
    signals: dict[str, float] = {}
    # If asked for.
    file_context: FileContext | None = None


class SearchAnswer(Message):
    """What a question and the state of the index decide between them. Hits, best first.

    `confidence` is that of the first hit of the first page (docs/quality.md has what each level means).
    """

    results: tuple[Hit, ...]
    confidence: str  # high, medium, low, none
    query_intent: Intent
    next_actions: tuple[str, ...] = ()
    diagnostics: dict[str, object] = {}
    next_cursor: str = ""


class SearchReply(SearchAnswer):
    """An answer, how fresh it is, and how long it took."""

    truncated: bool = False  # cut to fit into the budget that was asked for
    receipt: Receipt
    timings_ms: dict[str, float] = {}


class OutputMode(StrEnum):
    """What an exact search answers with."""

    CONTENT = "content"  # the matching lines
    FILES_WITH_MATCHES = "files_with_matches"  # the files that have one
    COUNT = "count"  # those files, and how many of their lines match


class GrepRequest(ScopedRequest):
    """Find every line that matches, in order of path and line. `limit` counts lines, or files where files are the answer."""

    pattern: Pattern
    regex: bool = False
    case_sensitive: bool = True
    word: bool = False
    output_mode: OutputMode = OutputMode.CONTENT
    path_filter: Glob = ""
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


class FileMatches(Message):
    """A file that has matching lines. `lines` is how many, if they were counted.

    A file that a time limit cut is on two pages, each with the lines that were counted for it: they add up.
    """

    repo: str
    file_path: str
    lines: int | None = None


class GrepReply(Message):
    """A page of matches, or of files that have some, and where to go on.

    `complete` is False if a limit cut the scan; `note` then says which. The totals are those of all pages, on each of them;
    None where nobody counted: of lines in content, and of what was not looked at before a time limit.
    """

    matches: tuple[GrepMatch, ...] = ()
    files: tuple[FileMatches, ...] = ()
    total_files: int | None = None
    total_lines: int | None = None
    next_cursor: str = ""
    complete: bool
    note: str = ""
    files_scanned: int
    receipt: Receipt


class EmbedQueryRequest(Message):
    """Texts to turn into query vectors."""

    texts: Annotated[tuple[ModelText, ...], Field(min_length=1, max_length=16)]


class EmbedQueryReply(Message):
    """One vector a text."""

    model: str  # fingerprint of the weights
    vectors: tuple[tuple[float, ...], ...]


SEARCH = Rpc("search.search", SearchRequest, SearchReply)
GREP = Rpc("search.grep", GrepRequest, GrepReply)
EMBED_DEEP_QUERY = Rpc("embedder-deep.query", EmbedQueryRequest, EmbedQueryReply, deadline_s=10)
