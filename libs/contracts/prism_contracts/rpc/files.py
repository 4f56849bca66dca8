"""Indexed files: contents, lists, outlines, coverage and counts."""

from typing import Annotated

from pydantic import Field

from prism_contracts.base import BASE_LAYER, Message
from prism_contracts.code import (
    FileFlags,
    SkipReason,
    Symbol,
)
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import (
    SNAPSHOT_FILES_MAX,
    CallerRequest,
    EnclosingSymbol,
    Receipt,
    ScopedRequest,
)
from prism_contracts.types import (
    Count,
    Cursor,
    FilePath,
    Glob,
    Language,
    LayerId,
    Line,
    LineOrNone,
    PointId,
    RepoKey,
    RepoKeyOrNone,
    ShortText,
    TenantId,
)

LIST_LIMIT_MAX = 5_000
READ_LINES_MAX = 5_000
RANGES_MAX = 2_000


class ReadFileRequest(ScopedRequest):
    """Returns lines of a file. `end_line` 0 means to the end.

    With `around`, `start_line` is a line to show with what is around it: its symbol, or some lines.
    """

    path: FilePath
    start_line: Line = 1
    end_line: LineOrNone = 0
    around: bool = False


class ReadFileReply(Message):
    """The text of the lines, exactly as indexed (secrets redacted)."""

    repo: str
    file_path: str
    start_line: int
    end_line: int
    line_count: int
    content: str
    language: str
    blob: str
    truncated: bool = False
    note: str = ""  # which of the requested lines the file does not have
    # The smallest symbol around all of the lines; None if the symbols of the file are unknown.
    enclosing: EnclosingSymbol | None = None
    # The symbols in it, or at top level, that the lines touch.
    touched: tuple[EnclosingSymbol, ...] = ()
    receipt: Receipt


class FileRange(Message):
    """Lines of one version of a file; of the indexed one if `generation` is empty."""

    file_path: FilePath
    start_line: Line
    end_line: Line
    generation: ShortText = ""


class LinesRequest(ScopedRequest):
    """Returns lines of several files."""

    ranges: Annotated[tuple[FileRange, ...], Field(max_length=RANGES_MAX)]


class LinesReply(Message):
    """One text per range; None if the index does not have that version."""

    texts: tuple[str | None, ...]


class ListFilesRequest(ScopedRequest):
    """Lists files by glob, in the order of their paths."""

    glob: Glob = ""
    language: Language = ""
    include_skipped: bool = False
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT_MAX)] = 500
    cursor: Cursor = ""


class FileEntry(Message):
    """An indexed, skipped or failed file."""

    file_path: str
    blob: str = ""
    language: str = ""
    size_bytes: int = 0
    lines: int = 0
    flags: FileFlags = FileFlags()
    skipped: SkipReason | None = None


class ListFilesReply(Message):
    """A page of files."""

    repo: str
    files: tuple[FileEntry, ...]
    next_cursor: str = ""
    total: int
    receipt: Receipt


class OutlineRequest(ScopedRequest):
    """Returns the symbols of a file, in order."""

    path: FilePath


class OutlineReply(Message):
    """Symbols nest by `parent`, a position in the list."""

    repo: str
    file_path: str
    language: str
    line_count: int
    description: str = ""  # one sentence about the file, as in get_module_map
    symbols: tuple[Symbol, ...]
    parse: str
    receipt: Receipt


class CoverageRequest(ScopedRequest):
    """Reports which files of a repository are searchable, and why others are not."""

    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT_MAX)] = 200


class CoverageProblem(Message):
    """A file that is not searchable."""

    file_path: str
    status: str  # skipped, failed
    reason: str
    detail: str = ""
    size_bytes: int = 0


class UnparsedFile(Message):
    """A searchable file without symbols, because its parser failed. `parse` says how."""

    file_path: str
    language: str
    parse: str


class RedactedFile(Message):
    """A file with redacted secrets, and the rules that matched."""

    file_path: str
    rules: tuple[str, ...]


class CoverageReply(Message):
    """Counts add up: files = indexed + skipped + failed."""

    repo: str
    files: int
    indexed: int
    skipped: int
    failed: int
    by_reason: dict[str, int]
    by_language: dict[str, int]
    by_parse: dict[str, int]
    redacted_files: int
    redactions: dict[str, int]
    problems: tuple[CoverageProblem, ...]
    unparsed: tuple[UnparsedFile, ...] = ()
    redacted: tuple[RedactedFile, ...] = ()
    deep: int = 0  # indexed files with a vector of the running deep model
    scip: int = 0  # indexed files that a SCIP index covers in their current version
    receipt: Receipt


class ManifestRequest(Message):
    """Lists the indexed files of a layer, in pages. Ingest compares snapshots with it."""

    tenant: TenantId
    repo: RepoKey
    layer: LayerId = BASE_LAYER
    paths: Annotated[
        tuple[FilePath, ...], Field(max_length=SNAPSHOT_FILES_MAX)
    ] = ()  # only these files; empty: all
    # Ids of file points in any layer of the repository: lists these instead of the files of `layer`.
    files: Annotated[tuple[PointId, ...], Field(max_length=SNAPSHOT_FILES_MAX)] = ()
    cursor: Cursor = ""


class ManifestEntry(Message):
    """One indexed (or skipped, or failed) file. `generation` is empty unless it is indexed."""

    path: str
    blob: str
    generation: str
    status: str
    version: int = 0  # version of the import that wrote it
    file: str = ""  # id of the file point
    reason: str = ""  # why it is skipped
    flags: str | None = None  # their letters; None: unknown
    chunks: Count = 0  # only in replies about `paths`


class ManifestReply(Message):
    """A page of entries."""

    entries: tuple[ManifestEntry, ...]
    next_cursor: str = ""


class PointCountsRequest(CallerRequest):
    """Counts the points of a tenant by repository and layer."""

    repo: RepoKeyOrNone = ""  # only this one, by its id


class LayerPoints(Message):
    """The points of one layer: all points of the base, or the overrides of a branch layer."""

    repo: str
    layer: str
    ref: str = ""  # the layer's short name
    points: int
    files: int
    lost: Count = 0  # files that were indexed and are missing from the store


class PointCountsReply(Message):
    """The points of a tenant. Points that layers share count in each layer, and once in the totals."""

    total: int
    repositories: dict[str, int] = {}  # by id
    layers: tuple[LayerPoints, ...]


class CountChunksRequest(Message):
    """Counts the chunks of a tenant: of all repositories and layers, also of imports that have not ended."""

    tenant: TenantId


class CountChunksReply(Message):
    """The number of chunks in the index."""

    chunks: int


READ_FILE = Rpc("search.read_file", ReadFileRequest, ReadFileReply, reads=True)
LINES = Rpc("search.lines", LinesRequest, LinesReply, reads=True)
LIST_FILES = Rpc("search.list_files", ListFilesRequest, ListFilesReply, reads=True)
OUTLINE = Rpc("search.outline", OutlineRequest, OutlineReply, reads=True)
COVERAGE = Rpc("search.coverage", CoverageRequest, CoverageReply, reads=True)
MANIFEST = Rpc("search.manifest", ManifestRequest, ManifestReply, reads=True)
POINT_COUNTS = Rpc("search.point_counts", PointCountsRequest, PointCountsReply, reads=True)
COUNT_CHUNKS = Rpc("search.count_chunks", CountChunksRequest, CountChunksReply, reads=True)
