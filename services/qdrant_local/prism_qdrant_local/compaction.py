"""Compaction: the points of an idle collection become one immutable segment, with indexes on disk.

The engine writes to a mutable segment, whose indexes are on the heap: some 5 KB per point. Conversion to an
immutable one blocks the interpreter for seconds, so a child process does it, `python -m
prism_qdrant_local.compaction FOLDER`, on a copy of the folder. Writes that arrive meanwhile are applied to
the copy as well, before it replaces the folder.
"""

from __future__ import annotations  # some of the engine's types exist in its stub only

import asyncio
import shutil
import sys
from pathlib import Path

import orjson
import qdrant_edge as edge

from prism_qdrant_local.limits import SLICE_POINTS, UNCOMPACTED_POINTS_MIN, UNCOMPACTED_SHARE_MIN
from prism_qdrant_local.state import CollectionState
from prism_qdrant_local.store import Collection, Store
from prism_qdrant_local.system import release_pages
from prism_qdrant_local.wire.schema import read_index, vector_params
from prism_runtime.child import end_with_parent, step_back
from prism_runtime.garbage import release_heap

# A folder of a segment that is left out of the copy: indexes are rebuilt, and loading the old ones takes more
# memory than all the rest.
_INDEXES = "payload_index"
# No graph: up to some hundred thousand points a scan of all vectors is fast, and exact.
_NO_GRAPH = edge.HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=1_000_000_000)
# In KB: every segment with vectors becomes immutable, and all are merged.
_OPTIMIZERS = edge.EdgeOptimizersConfig(indexing_threshold=1, default_segment_number=1)


def is_worthwhile(collection: Collection) -> bool:
    """Whether enough points were written since the last compaction for another to pay."""
    points = collection.uncompacted_points
    return points >= max(UNCOMPACTED_POINTS_MIN, UNCOMPACTED_SHARE_MIN * collection.shard.info().points_count)


async def compact(store: Store, collection: Collection) -> bool:
    """Compact a collection under concurrent reads and writes. False if it changed too much meanwhile, or was
    deleted.
    """
    folder = store.new_folder()
    uncompacted = collection.uncompacted_points
    try:
        async with store.turn():
            collection.begin_copy()
            await asyncio.to_thread(_copy_points, collection.folder, folder)
        # Room for the child: pages that were only written are not read again soon.
        release_pages(collection.folder)
        await _rebuild(folder, collection.state)
        is_adopted = await _adopt(store, collection, folder)
        if not is_adopted:  # the next idle time is another chance
            collection.uncompacted_points += uncompacted
    finally:
        collection.late = None
        if collection.folder != folder:
            shutil.rmtree(folder, ignore_errors=True)
    release_heap()
    release_pages(folder)
    return is_adopted


def _copy_points(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(_INDEXES))


async def _rebuild(folder: Path, state: CollectionState) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "prism_qdrant_local.compaction", str(folder)),
        stdin=asyncio.subprocess.PIPE,
    )
    try:
        await process.communicate(orjson.dumps(state))
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise RuntimeError(f"the child process ended with {process.returncode}")


async def _adopt(store: Store, collection: Collection, folder: Path) -> bool:
    shard = edge.EdgeShard.load(str(folder))
    try:
        while collection.late is not None and not collection.is_closed:
            async with store.turn():
                collection.apply_late(shard, SLICE_POINTS)
                if not collection.late:
                    store.adopt(collection, folder, shard)
                    return True
        return False
    finally:
        if collection.shard is not shard:
            shard.close()


def main() -> None:
    """Make one immutable segment of the shard in the folder; stdin has its `CollectionState`."""
    end_with_parent()
    step_back()
    state = CollectionState(**orjson.loads(sys.stdin.buffer.read()))
    vectors = {name: vector_params(params) for name, params in state.vectors.items()}
    config = edge.EdgeConfig(vectors=vectors, hnsw_config=_NO_GRAPH, optimizers=_OPTIMIZERS)
    folder = Path(sys.argv[1])
    shard = edge.EdgeShard.load(str(folder), config)
    shard.optimize()
    for field, schema in state.indexes.items():
        # After the segment, one by one: the heap never holds more than one of them, nor the input of the
        # previous one.
        release_heap()
        release_pages(folder)
        shard.update(read_index({"field_name": field, "field_schema": {**schema, "on_disk": True}})[2])
    shard.flush()
    shard.close()


if __name__ == "__main__":
    main()
