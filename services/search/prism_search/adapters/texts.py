"""Joins the texts of files from their chunks. All chunks of a text are of one version."""

import sys
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.base import chunk_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_runtime.weighted_cache import WeightedCache
from prism_store.reader import Reader, StoredPoint
from prism_store.scope import Scope
from prism_store.texts import read_texts

TRIES_MAX = 4
FILE_FIELDS = (
    "path", "version", "generation", "status", "reason", "detail", "language", "lines", "starts", "blob", "parse", "size",
    "flags",
)  # fmt: skip


class FileText(NamedTuple):
    """A file point and the text of the file."""

    point: StoredPoint
    text: str


async def find_file(reader: Reader, scope: Scope, path: str, *fields: str) -> StoredPoint | None:
    """Returns the file point of a path in a scope of one repository, or None."""
    file = scope.file(path)
    return (await reader.points(scope, [file], [*FILE_FIELDS, *fields])).get(file)


async def read_text(reader: Reader, scope: Scope, point: StoredPoint) -> FileText:
    """Returns the text of an indexed file; of its newer version if it was replaced meanwhile."""
    for _ in range(TRIES_MAX):
        text = (await read_texts(reader, scope, [point]))[0]
        if text is not None:
            return FileText(point, text)
        fresh = (await reader.points(scope, [point.id], FILE_FIELDS)).get(point.id)
        if fresh is None or not fresh.text("generation"):
            raise PrismError(
                ErrorCode.FILE_NOT_FOUND, "The file was deleted while it was read.", "List the files again."
            )
        point = fresh
    raise PrismError(ErrorCode.UNAVAILABLE, "The file keeps changing while it is read.", "Retry in a second.")


class Excerpt(NamedTuple):
    """Lines of a version of a file, 1-based and inclusive. `starts` is that field of the file point."""

    file: str
    generation: str
    starts: str
    first: int
    last: int


async def read_excerpts(reader: Reader, scope: Scope, excerpts: Sequence[Excerpt]) -> list[str | None]:
    """Returns the lines of each excerpt, without the last line end; None if the file was replaced."""
    starts = [[int(line) for line in excerpt.starts.split()] for excerpt in excerpts]
    wanted = [
        {
            ordinal: chunk_id(excerpt.file, excerpt.generation, ordinal)
            for ordinal in _ordinals(lines, excerpt.first, excerpt.last)
        }
        for excerpt, lines in zip(excerpts, starts, strict=True)
    ]
    found = await reader.points(scope, list({id_ for ids in wanted for id_ in ids.values()}), ["text"])
    return [
        _cut([found[id_].text("text") for id_ in ids.values()], excerpt, lines[min(ids)] if ids else 1)
        if all(id_ in found for id_ in ids.values())
        else None
        for excerpt, lines, ids in zip(excerpts, starts, wanted, strict=True)
    ]


def _ordinals(starts: Sequence[int], first: int, last: int) -> range:
    """Returns the ordinals of the chunks that hold these lines: chunks are whole lines."""
    return range(max(0, bisect_right(starts, first) - 1), bisect_right(starts, last))


def _cut(texts: Sequence[str], excerpt: Excerpt, first_line: int) -> str:
    lines = "".join(texts).split("\n")
    return "\n".join(lines[excerpt.first - first_line : excerpt.last - first_line + 1])


class Texts:
    """Reads as `read_texts` does, and caches the newest text of each file up to a number of bytes.

    A generation is a content address, so a text of it never changes.
    """

    def __init__(self, reader: Reader, bytes_max: int) -> None:
        self._reader = reader
        self._cache: WeightedCache[str, tuple[str, str]] = WeightedCache(bytes_max)

    async def read(self, scope: Scope, points: Sequence[StoredPoint]) -> list[str | None]:
        """Returns the texts of indexed files; None for a file that was replaced."""
        known = {point.id: self._known(point) for point in points}
        missing = [point for point in points if known[point.id] is None]
        for point, text in zip(missing, await read_texts(self._reader, scope, missing), strict=True):
            known[point.id] = text
            if text is not None:
                self._cache.put(point.id, (point.text("generation"), text), sys.getsizeof(text))
        return [known[point.id] for point in points]

    def _known(self, point: StoredPoint) -> str | None:
        generation, text = self._cache.get(point.id) or ("", None)
        return text if generation == point.text("generation") else None
