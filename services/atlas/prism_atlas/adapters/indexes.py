"""SCIP indexes of repositories, as files for the process that builds."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

from prism_contracts.records import ScipIndex
from prism_runtime.scip_indexes import ScipIndexes


class IndexFiles:
    """Knows which there are, and lays them down."""

    def __init__(self, stored: ScipIndexes, folder: Path) -> None:
        self._stored = stored
        self._folder = folder

    def objects(self, tenant: str, repo: str) -> tuple[str, ...]:
        """The names of the objects of those of a repository, in order."""
        return self._stored.objects(tenant, [repo])

    async def catch_up(self) -> None:
        """Return when all has been heard of that had been written when this was called. Raises UNAVAILABLE."""
        await self._stored.catch_up()

    @contextlib.asynccontextmanager
    async def materialized(self, tenant: str, repo: str) -> AsyncIterator[dict[str, str]]:
        """The paths of those of a repository, by the names of their objects; the files are gone afterwards. Raises UNAVAILABLE."""
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            paths = await self._stored.each(tenant, [repo], partial(self._write, Path(folder)))
            yield {path.name: str(path) for path in sorted(paths)}

    async def _write(self, folder: Path, index: ScipIndex) -> Path:
        path = folder / index.object
        await asyncio.to_thread(path.write_bytes, await self._stored.data(index))
        return path
