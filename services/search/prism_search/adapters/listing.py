"""The indexed files of repositories, in order of path: what an exact search looks at if the index cannot say less.

Kept while the repositories are quiet (see `facts`): reading thousands of file points costs more than searching them.
"""

from collections.abc import Iterable, Sequence

from prism_contracts.code import FileStatus
from prism_contracts.rpc import Scope
from prism_search.adapters.kept import Kept
from prism_search.adapters.repositories import Target
from prism_store.reader import Reader, StoredPoint, with_status

FIELDS = ("scope", "path", "generation", "starts", "language")
FILES_KEPT_MAX = 50_000
FILES_PER_READ = 5_000
# So many are read one by one rather than all of them, if the list is not there yet.
FILES_BY_ID_MAX = 200


class Listing:
    """Reads file points with FIELDS, or has read them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kept: Kept[Scope, tuple[int, list[StoredPoint]]] = Kept(FILES_KEPT_MAX)

    async def files(self, target: Target) -> Sequence[StoredPoint]:
        """All indexed files of the target."""
        known = self.known(target)
        if known is None:
            points = self._reader.scan(
                target.scope, [with_status(FileStatus.INDEXED)], FIELDS, FILES_PER_READ
            )
            known = in_order([point async for point in points])
            if target.is_quiet:
                self._kept.keep(target.scope, (target.corpus_version, known), len(known))
        return known

    async def files_of(self, target: Target, ids: Sequence[str]) -> Sequence[StoredPoint]:
        """Those of the target's indexed files that have these ids."""
        if self.known(target) is None and len(ids) <= FILES_BY_ID_MAX:
            return in_order((await self._reader.points(target.scope, ids, FIELDS)).values())
        wanted = set(ids)
        return [file for file in await self.files(target) if file.id in wanted]

    def known(self, target: Target) -> Sequence[StoredPoint] | None:
        """All indexed files of the target, if they need not be read."""
        version, files = self._kept.get(target.scope) or (None, None)
        return files if target.is_quiet and version == target.corpus_version else None


def in_order(files: Iterable[StoredPoint]) -> list[StoredPoint]:
    """By path, and by repository where a path is in several."""
    return sorted(files, key=place)


def place(file: StoredPoint) -> tuple[str, str]:
    """Path and scope."""
    return file.text("path"), file.text("scope")
