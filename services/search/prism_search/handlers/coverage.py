"""Reports which files are searchable, what the index holds of a layer, and how many points it has."""

from collections.abc import Callable

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.base import BASE_LAYER
from prism_contracts.code import UNPARSED, FileStatus
from prism_contracts.records import Repository
from prism_contracts.rpc.files import (
    CountChunksReply,
    CountChunksRequest,
    CoverageProblem,
    CoverageReply,
    CoverageRequest,
    LayerPoints,
    ManifestEntry,
    ManifestReply,
    ManifestRequest,
    PointCountsReply,
    PointCountsRequest,
    RedactedFile,
    UnparsedFile,
)
from prism_search.adapters.occurrences import OccurrenceReader
from prism_store.reader import Reader, StoredPoint, has_any, with_status, with_vector
from prism_store.schema import deep_vector
from prism_store.scope import Scope

MANIFEST_PAGE = 4_000
MANIFEST_FIELDS = ("path", "blob", "generation", "status", "version", "reason", "flags")
CHUNKS_FIELD = "starts"
FILES_PER_READ = 1_000
KNOWN = with_status(FileStatus.INDEXED, FileStatus.SKIPPED, FileStatus.FAILED)
PROBLEMS = with_status(FileStatus.SKIPPED, FileStatus.FAILED)


class CoverageHandlers:
    """Answers `coverage`, `manifest`, `point_counts` and `count_chunks`."""

    def __init__(
        self,
        reader: Reader,
        repositories: RepositoryCatalog,
        occurrences: OccurrenceReader,
        deep_model: Callable[[], str],
    ) -> None:
        """`deep_model` returns the deep model that runs; empty without one."""
        self._reader = reader
        self._repositories = repositories
        self._occurrences = occurrences
        self._deep_model = deep_model

    async def coverage(self, request: CoverageRequest) -> CoverageReply:
        """Returns counts that add up, and the files that are not searchable."""
        target = await self._repositories.target(request, single=True)
        scope = target.scope
        by_status = await self._reader.counts_by(scope, "status", [KNOWN])
        indexed = [with_status(FileStatus.INDEXED)]
        redactions = await self._reader.counts_by(scope, "redactions", indexed)
        scan = self._reader.scan(scope, [PROBLEMS], ["path", "status", "reason", "detail", "size"])
        problems = [_problem(point) async for point in scan]
        without_symbols = [*indexed, has_any("parse", sorted(UNPARSED))]
        scan = self._reader.scan(scope, without_symbols, ["path", "language", "parse"])
        unparsed = [_unparsed_file(point) async for point in scan]
        redacted = await self._redacted(scope, list(redactions))
        return CoverageReply(
            repo=target.repositories[0].name,
            files=sum(by_status.values()),
            indexed=by_status.get(FileStatus.INDEXED, 0),
            skipped=by_status.get(FileStatus.SKIPPED, 0),
            failed=by_status.get(FileStatus.FAILED, 0),
            by_reason=await self._reader.counts_by(scope, "reason", [PROBLEMS]),
            by_language=await self._reader.counts_by(scope, "language", indexed),
            by_parse=await self._reader.counts_by(scope, "parse", indexed),
            redacted_files=len(redacted),
            redactions=redactions,
            redacted=tuple(sorted(redacted, key=lambda file: file.file_path)[: request.limit]),
            problems=tuple(sorted(problems, key=lambda problem: problem.file_path)[: request.limit]),
            unparsed=tuple(sorted(unparsed, key=lambda file: file.file_path)[: request.limit]),
            deep=await self._deep_files(scope),
            scip=await self._scip_files(target),
            receipt=await self._repositories.receipt(target),
        )

    async def manifest(self, request: ManifestRequest) -> ManifestReply:
        """Returns a page of the indexed files, without tombstones; or the files requested by id."""
        scope = Scope(tenant=request.tenant, repos=(request.repo,), layer=request.layer)
        if request.files:
            found = await self._reader.points_of_any_layer(scope, request.files, MANIFEST_FIELDS)
            return ManifestReply(entries=tuple(map(_entry, found.values())))
        wanted = [KNOWN, has_any("path", request.paths)] if request.paths else [KNOWN]
        # The lines of all chunks of a repository would double its pages.
        fields = (*MANIFEST_FIELDS, CHUNKS_FIELD) if request.paths else MANIFEST_FIELDS
        points, cursor = await self._reader.page(scope, wanted, fields, request.cursor, MANIFEST_PAGE)
        return ManifestReply(entries=tuple(map(_entry, points)), next_cursor=cursor)

    async def point_counts(self, request: PointCountsRequest) -> PointCountsReply:
        """Returns the points and files of each layer that the caller may see."""
        layers: list[LayerPoints] = []
        totals: dict[str, int] = {}
        for repository in self._repositories.seen_by(request):
            if repository.served is None or request.repo not in {"", repository.repo}:
                continue
            scope = Scope(tenant=request.tenant, repos=(repository.repo,))
            points = await self._reader.count(scope)
            removed = await self._reader.count(scope, [with_status(FileStatus.REMOVED)])
            files = await self._reader.count(scope, [with_status(FileStatus.INDEXED)])
            layers.append(
                LayerPoints(
                    repo=repository.repo,
                    layer=BASE_LAYER,
                    points=points - removed,
                    files=files,
                    lost=await self._repositories.files_lost(repository),
                )
            )
            added, shared = await self._points_of_layers(repository)
            layers += added
            totals[repository.repo] = points - removed + shared
        return PointCountsReply(total=sum(totals.values()), repositories=totals, layers=tuple(layers))

    async def count_chunks(self, request: CountChunksRequest) -> CountChunksReply:
        """Returns how many chunks a tenant has, for the limit of its plan."""
        return CountChunksReply(chunks=await self._reader.chunks_of(request.tenant))

    async def _points_of_layers(self, repository: Repository) -> tuple[list[LayerPoints], int]:
        """Returns each layer's own points and files, and the distinct points of all layers."""
        views = await self._repositories.views(repository)
        scope = Scope(repository.tenant, (repository.repo,))
        keys = sorted({key for _, view in views for key in view.keys})
        points = await self._reader.counts_of_keys(scope, keys)
        files = await self._reader.counts_of_keys(scope, keys, [with_status(FileStatus.INDEXED)])
        counts = [
            LayerPoints(
                repo=repository.repo,
                layer=layer.layer,
                ref=layer.ref,
                points=sum(points.get(key, 0) for key in view.keys),
                files=sum(files.get(key, 0) for key in view.keys),
                lost=await self._repositories.files_lost(repository, layer),
            )
            for layer, view in views
        ]
        return counts, sum(points.values())

    async def _redacted(self, scope: Scope, rules: list[str]) -> list[RedactedFile]:
        if not rules:
            return []
        wanted = [with_status(FileStatus.INDEXED), has_any("redactions", rules)]
        scan = self._reader.scan(scope, wanted, ["path", "redactions"])
        return [
            RedactedFile(file_path=point.text("path"), rules=point.texts("redactions"))
            async for point in scan
        ]

    async def _scip_files(self, target: Target) -> int:
        """Returns how many files have a SCIP index of their current content."""
        current: set[str] = set()
        for index in await self._occurrences.indexes(target):
            for start in range(0, len(index.files), FILES_PER_READ):
                ids = index.files[start : start + FILES_PER_READ]
                points = await self._reader.points(target.scope, ids, ["blob"])
                current |= {file for file, point in points.items() if index.has(file, point.text("blob"))}
        return len(current)

    async def _deep_files(self, scope: Scope) -> int:
        model = self._deep_model()
        if not model or not await self._reader.has_deep_vectors(scope.tenant, model):
            return 0
        return await self._reader.count(
            scope, [with_status(FileStatus.INDEXED), with_vector(deep_vector(model))]
        )


def _entry(point: StoredPoint) -> ManifestEntry:
    return ManifestEntry(
        path=point.text("path"),
        blob=point.text("blob"),
        generation=point.text("generation"),
        status=point.text("status"),
        version=point.number("version"),
        file=point.id,
        reason=point.text("reason"),
        flags=point.text("flags"),
        chunks=len(point.text(CHUNKS_FIELD).split()),
    )


def _problem(point: StoredPoint) -> CoverageProblem:
    return CoverageProblem(
        file_path=point.text("path"),
        status=point.text("status"),
        reason=point.text("reason"),
        detail=point.text("detail"),
        size_bytes=point.number("size"),
    )


def _unparsed_file(point: StoredPoint) -> UnparsedFile:
    return UnparsedFile(
        file_path=point.text("path"), language=point.text("language"), parse=point.text("parse")
    )
