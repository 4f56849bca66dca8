"""Files as the index holds them: contents, lists, outlines, coverage and counts."""

from typing import Annotated

from pydantic import Field

from prism_contracts.base import BASE_LAYER, Message
from prism_contracts.code import (
    FileFlags,
    SkipReason,
    Symbol,
)
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import SNAPSHOT_FILES_MAX, Receipt, ScopedRequest
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
    TenantId,
)

LIST_LIMIT_MAX = 5_000
READ_LINES_MAX = 5_000


class ReadFileRequest(ScopedRequest):
    """Lines of a file. `end_line` 0 means to the end."""

    path: FilePath
    start_line: Line = 1
    end_line: LineOrNone = 0


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
    note: str = ""  # which of the lines that were asked for the file does not have
    receipt: Receipt


class ListFilesRequest(ScopedRequest):
    """Files by glob, in order of path."""

    glob: Glob = ""
    language: Language = ""
    include_skipped: bool = False
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT_MAX)] = 500
    cursor: Cursor = ""


class FileEntry(Message):
    """A file as the index knows it."""

    file_path: str
    blob: str = ""
    language: str = ""
    size_bytes: int = 0
    lines: int = 0
    flags: FileFlags = FileFlags()
    skipped: SkipReason | None = None


class ListFilesReply(Message):
    """Files, and where to go on."""

    repo: str
    files: tuple[FileEntry, ...]
    next_cursor: str = ""
    total: int
    receipt: Receipt


class OutlineRequest(ScopedRequest):
    """The symbols of a file, in order."""

    path: FilePath


class OutlineReply(Message):
    """Symbols nest by `parent`, a position in the list."""

    repo: str
    file_path: str
    language: str
    line_count: int
    symbols: tuple[Symbol, ...]
    parse: str
    receipt: Receipt


class CoverageRequest(ScopedRequest):
    """What of a repository is searchable, and what is not, with reasons."""

    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT_MAX)] = 200


class CoverageProblem(Message):
    """A file that is not searchable."""

    file_path: str
    status: str  # skipped, failed
    reason: str
    detail: str = ""
    size_bytes: int = 0


class UnparsedFile(Message):
    """A file that is searchable and has no symbols, as its parser gave it up. `parse` says how."""

    file_path: str
    language: str
    parse: str


class RedactedFile(Message):
    """A file that secrets were taken out of, and the rules that found them."""

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
    deep: int = 0  # indexed files that have a vector of the deep model that runs
    scip: int = 0  # indexed files of which a SCIP index speaks as they are now
    receipt: Receipt


class ManifestRequest(Message):
    """What the index holds of a layer, in pages: for ingest, to find what changed."""

    tenant: TenantId
    repo: RepoKey
    layer: LayerId = BASE_LAYER
    paths: Annotated[
        tuple[FilePath, ...], Field(max_length=SNAPSHOT_FILES_MAX)
    ] = ()  # only these files; empty: all
    # Ids of file points, of whatever layers of the repository: only these, in the place of the files of `layer`.
    files: Annotated[tuple[PointId, ...], Field(max_length=SNAPSHOT_FILES_MAX)] = ()
    cursor: Cursor = ""


class ManifestEntry(Message):
    """One indexed (or skipped, or failed) file. `generation` is empty unless it is indexed."""

    path: str
    blob: str
    generation: str
    status: str
    version: int = 0  # of the import that wrote it
    file: str = ""  # id of the file point
    reason: str = ""  # why it is skipped


class ManifestReply(Message):
    """A page of entries. `address` is how generations are made now: if it changed, nothing is up to date."""

    entries: tuple[ManifestEntry, ...]
    next_cursor: str = ""


class PointCountsRequest(Message):
    """How many points a tenant has, by repository and layer."""

    tenant: TenantId
    repo: RepoKeyOrNone = ""  # only this one, by its id


class LayerPoints(Message):
    """Points of one layer: of the base all, of another what it has in the base's place."""

    repo: str
    layer: str
    ref: str = ""  # what the layer is called
    points: int
    files: int
    lost: Count = 0  # files that were indexed and that the store no longer has


class PointCountsReply(Message):
    """Points of the tenant. What several layers share is counted in each of them, and once elsewhere."""

    total: int
    repositories: dict[str, int] = {}  # by id
    layers: tuple[LayerPoints, ...]


READ_FILE = Rpc("search.read_file", ReadFileRequest, ReadFileReply)
LIST_FILES = Rpc("search.list_files", ListFilesRequest, ListFilesReply)
OUTLINE = Rpc("search.outline", OutlineRequest, OutlineReply)
COVERAGE = Rpc("search.coverage", CoverageRequest, CoverageReply)
MANIFEST = Rpc("search.manifest", ManifestRequest, ManifestReply)
POINT_COUNTS = Rpc("search.point_counts", PointCountsRequest, PointCountsReply)
