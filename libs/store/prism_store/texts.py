"""Reassembles the texts of files from their chunks."""

from collections.abc import Sequence

from prism_contracts.base import chunk_id
from prism_store.reader import Reader, StoredPoint
from prism_store.scope import Scope

CHUNKS_PER_READ = 400


async def read_texts(reader: Reader, scope: Scope, points: Sequence[StoredPoint]) -> list[str | None]:
    """Returns the texts of indexed files; None for a file that was replaced meanwhile and lacks a chunk."""
    wanted = {
        point.id: [
            chunk_id(point.id, point.text("generation"), ordinal)
            for ordinal in range(len(point.text("starts").split()))
        ]
        for point in points
    }
    ids = [chunk for chunks in wanted.values() for chunk in chunks]
    found: dict[str, StoredPoint] = {}
    for start in range(0, len(ids), CHUNKS_PER_READ):
        found |= await reader.points(scope, ids[start : start + CHUNKS_PER_READ], ["text"])
    return [
        "".join(found[chunk].text("text") for chunk in chunks)
        if all(chunk in found for chunk in chunks)
        else None
        for chunks in wanted.values()
    ]
