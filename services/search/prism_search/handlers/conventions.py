"""Answers `conventions`: how a repository's code is written, inferred from a sample of files."""

import asyncio
from collections.abc import Sequence

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.code import NOT_WRITTEN_HERE, Symbol
from prism_contracts.rpc.guidance import Convention, ConventionsReply, ConventionsRequest
from prism_runtime.weighted_cache import WeightedCache
from prism_search.adapters.documents import Documents
from prism_search.adapters.filters import refuse_unknown_language
from prism_search.adapters.listing import Listing
from prism_search.adapters.sources import Sources
from prism_search.core.conventions import infer
from prism_search.core.conventions.layout import is_configured
from prism_search.core.references.edges import SourceFile
from prism_search.core.repo_documents import PROSE
from prism_store.reader import Reader, StoredPoint
from prism_store.scope import Scope

# Gives shares with an error of some percent; read in a second or two.
FILES_READ_MAX = 240
DATA = PROSE | {
    "json",
    "yaml",
    "toml",
    "xml",
    "html",
    "css",
    "csv",
    "ini",
    "svg",
    "gitignore",
    "dockerfile",
    "make",
    "diff",
    "dotenv",
    "gettext",
}
KEPT_MAX = 100


class ConventionsHandler:
    """Answers `conventions`. Caches what it inferred per state of the index."""

    def __init__(
        self,
        reader: Reader,
        repositories: RepositoryCatalog,
        listing: Listing,
        sources: Sources,
        documents: Documents,
    ) -> None:
        self._reader = reader
        self._repositories = repositories
        self._listing = listing
        self._sources = sources
        self._documents = documents
        self._cache: WeightedCache[tuple[Scope, int, str], tuple[tuple[Convention, ...], int, int]] = (
            WeightedCache(KEPT_MAX)
        )

    async def conventions(self, request: ConventionsRequest) -> ConventionsReply:
        """Returns conventions by topic. Raises INVALID_ARGUMENT if the language is unknown."""
        target = await self._repositories.target(request, single=True)
        language = request.language.lower()
        await refuse_unknown_language(self._reader, self._repositories, target, language)
        key = (target.scope, target.corpus_version, language)
        known = self._cache.get(key) or await self._infer(target, language)
        if target.is_quiet:
            self._cache.put(key, known, 1)
        conventions, files_read, files = known
        return ConventionsReply(
            repo=target.repositories[0].name,
            conventions=conventions,
            rules=await self._documents.rules(target),
            files_read=files_read,
            files=files,
            receipt=await self._repositories.receipt(target),
        )

    async def _infer(self, target: Target, language: str) -> tuple[tuple[Convention, ...], int, int]:
        """Returns conventions, the number of files they are inferred from, and the number of code files."""
        points = (await self._listing.files(target)).points
        code = [point for point in points if _is_code(point, language)]
        files = [
            file
            for file in await self._sources.read(target, _spread(code))
            if not NOT_WRITTEN_HERE & set(file.flags)
        ]
        configured = [point for point in points if is_configured(point.text("path"))]
        documents = await self._documents.read(target, configured)
        paths = [point.text("path") for point in points]
        found = await asyncio.to_thread(_inferred, files, paths, [(d.path, d.symbols) for d in documents])
        return found, len(files), len(code)


def _is_code(point: StoredPoint, language: str) -> bool:
    own = point.text("language")
    return own == language if language else own not in DATA


def _spread(points: Sequence[StoredPoint]) -> Sequence[StoredPoint]:
    """Returns a sample at equal distances in the order of paths, so that each folder gets its share."""
    step = max(1.0, len(points) / FILES_READ_MAX)
    return [points[int(at * step)] for at in range(min(len(points), FILES_READ_MAX))]


def _inferred(
    files: Sequence[SourceFile], paths: Sequence[str], configured: Sequence[tuple[str, Sequence[Symbol]]]
) -> tuple[Convention, ...]:
    return tuple(infer(files, paths, configured))
