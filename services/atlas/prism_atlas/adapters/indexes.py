"""SCIP indexes of repositories, written to files for the build process."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

from prism_catalog.scip_indexes import ScipIndexes
from prism_contracts.records import ScipIndex


class IndexFiles:
    """Lists the stored indexes and writes them to temporary files."""

    def __init__(self, stored: ScipIndexes, folder: Path) -> None:
        self._stored = stored
        self._folder = folder

    def objects(self, tenant: str, repo: str) -> tuple[str, ...]:
        """Returns the object names of a repository's indexes, in order."""
        return self._stored.objects(tenant, [repo])

    async def catch_up(self) -> None:
        """Wait until all changes written before this call have been received. Raises UNAVAILABLE."""
        await self._stored.catch_up()

    @contextlib.asynccontextmanager
    async def materialized(self, tenant: str, repo: str) -> AsyncIterator[dict[str, str]]:
        """Write a repository's indexes to temporary files and yield their paths by object name.

        Raises UNAVAILABLE.
        """
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            paths = await self._stored.each(tenant, [repo], partial(self._write, Path(folder)))
            yield {path.name: str(path) for path in sorted(paths)}

    async def _write(self, folder: Path, index: ScipIndex) -> Path:
        path = folder / index.object
        await asyncio.to_thread(path.write_bytes, await self._stored.data(index))
        return path
