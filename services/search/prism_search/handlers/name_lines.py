"""Answers `name_lines`: where the text of a repository contains names, whatever they mean."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.unused import NameLinesReply, NameLinesRequest
from prism_runtime.packing import pack_lines
from prism_search.adapters.listing import Listing
from prism_search.adapters.texts import Texts, read_text
from prism_search.core.references.name_lines import NameLine, SoughtNames
from prism_store.reader import Reader, StoredPoint

FILES_AT_ONCE = 256
# Markdown with imports and components.
CODE_IN_PROSE = ".mdx"
# A name that more lines contain is a common word.
LINES_PER_NAME_MAX = 400


class NameLinesHandler:
    """Answers `name_lines`."""

    def __init__(
        self, reader: Reader, repositories: RepositoryCatalog, listing: Listing, texts: Texts
    ) -> None:
        self._reader = reader
        self._repositories = repositories
        self._listing = listing
        self._texts = texts

    async def name_lines(self, request: NameLinesRequest) -> NameLinesReply:
        """Returns the lines that contain each name. Reads every file of the repository."""
        target = await self._repositories.target(request, single=True)
        points = (await self._listing.files(target)).points
        sought, found = SoughtNames(request.names), _FoundLines()
        for start in range(0, len(points), FILES_AT_ONCE):
            batch = points[start : start + FILES_AT_ONCE]
            texts = await self._texts_of(target, batch)
            await asyncio.to_thread(found.add, sought, batch, texts)
        return NameLinesReply(lines=pack_lines(found.lines), crowded=tuple(sorted(found.crowded)))

    async def _texts_of(self, target: Target, points: Sequence[StoredPoint]) -> list[str]:
        texts = await self._texts.read(target.scope, points)
        return [
            text if text is not None else await self._newer_text(target, point)
            for point, text in zip(points, texts, strict=True)
        ]

    async def _newer_text(self, target: Target, point: StoredPoint) -> str:
        """Returns the text of a file that was replaced since it was listed; empty if it was removed."""
        try:
            return (await read_text(self._reader, target.scope, point)).text
        except PrismError as error:
            if error.code is ErrorCode.FILE_NOT_FOUND:
                return ""
            raise


class _FoundLines:
    """The lines so far, at most `LINES_PER_NAME_MAX` per name."""

    def __init__(self) -> None:
        self.lines: dict[str, list[int]] = defaultdict(list)
        self.crowded: set[str] = set()
        self._counts: Counter[str] = Counter()

    def add(self, sought: SoughtNames, points: Iterable[StoredPoint], texts: Iterable[str]) -> None:
        for point, text in zip(points, texts, strict=True):
            path = point.text("path")
            is_prose = bool(point.payload.get("prose")) and not path.endswith(CODE_IN_PROSE)
            for one in sought.lines(text, point.text("language"), is_prose=is_prose):
                self._keep(one, path)

    def _keep(self, one: NameLine, path: str) -> None:
        self._counts[one.name] += 1
        if self._counts[one.name] > LINES_PER_NAME_MAX:
            self.crowded.add(one.name)
        else:
            self.lines[f"{one.name}\t{one.place.value}\t{path}"].append(one.line)
