"""Collections: engine shards by name, reached through aliases.

The engine blocks the interpreter during a call, so threads would gain nothing: every call runs on the event
loop, is short, and is atomic for all other requests. Long writes run as slices and let readers in between.
"""

from __future__ import annotations  # some of the engine's types exist in its stub only

import asyncio
import contextlib
import re
import shutil
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import qdrant_edge as edge
import structlog

from prism_qdrant_local.errors import bad_request, conflict, damaged, not_found
from prism_qdrant_local.limits import (
    FILTER_PAGE_POINTS,
    LATE_OPERATIONS_MAX,
    NAME_LENGTH_MAX,
    READER_TURNS,
    SEARCH_THREADS,
    SLICE_POINTS,
    UNFLUSHED_POINTS_MAX,
)
from prism_qdrant_local.state import CollectionState, State, load_state, recover_state, save_card, save_state
from prism_qdrant_local.wire.changes import AnyChange, Change, FilteredChange
from prism_qdrant_local.wire.ids import PointId
from prism_qdrant_local.wire.schema import VectorsJson, create_vector, vector_params

_STATE_FILE = "state.json"
_SET_ASIDE = "set-aside"
# The prefix of an unfinished copy of a folder; only these may be deleted at start.
_COPY_PREFIX = "copy-"
logger = structlog.stdlib.get_logger()

_FORBIDDEN_IN_NAMES = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


class Collection:
    """One engine shard, and the parameters of its creation."""

    def __init__(self, name: str, folder: Path, state: CollectionState, shard: edge.EdgeShard) -> None:
        """Wrap an open shard."""
        self.name = name
        self.folder = folder
        self.shard = shard
        self.state = state
        self.sizes = {vector: params["size"] for vector, params in state.vectors.items()}
        self.unflushed_points = 0
        self.uncompacted_points = max(0, shard.info().points_count - state.compacted_points)
        self.written_at_s = time.monotonic()
        # During a copy of the folder: the writes since the copy was made.
        self.late: deque[tuple[edge.UpdateOperation, int]] | None = None
        self.is_closed = False

    def update(self, operation: edge.UpdateOperation, points: int = 1) -> None:
        """Apply one operation. It is in the write-ahead log, safe from a kill, when this returns."""
        if self.is_closed:
            raise not_found(f"Collection `{self.name}` doesn't exist!")
        self.unflushed_points += points
        self.uncompacted_points += points
        self.written_at_s = time.monotonic()
        self._note_late(operation, points)
        self.shard.update(operation)
        if self.unflushed_points >= UNFLUSHED_POINTS_MAX:
            self.flush()

    def _note_late(self, operation: edge.UpdateOperation, points: int) -> None:
        if self.late is None:
            return
        self.late.append((operation, points))
        if len(self.late) > LATE_OPERATIONS_MAX:
            self.late = None

    def begin_copy(self) -> None:
        """Write everything to the folder, and record later writes for a copy of it."""
        self.flush()
        self.late = deque()
        self.uncompacted_points = 0

    def apply_late(self, shard: edge.EdgeShard, points_max: int) -> None:
        """Apply to a copy the writes since it was made, about `points_max` points of them."""
        spent = 0
        while self.late and spent < points_max:
            operation, points = self.late.popleft()
            # The copy refuses what the engine refused here, and keeps the same half of it.
            with contextlib.suppress(Exception):
                shard.update(operation)
            spent += points

    def require_points(self, ids: list[PointId]) -> None:
        """Refuse with 404 unless all points exist."""
        found = {record.id for record in self.shard.retrieve(ids, False, False)}  # noqa: FBT003 - the engine's own form
        for point_id in ids:
            if point_id not in found:
                raise not_found(f"No point with id {point_id} found")

    def matching_ids(self, matching: edge.Filter) -> Iterator[list[PointId]]:
        """Return the ids of all points that match, in pages and in the order of ids."""
        offset: PointId | None = None
        while True:
            request = edge.ScrollRequest(
                offset=offset,
                limit=FILTER_PAGE_POINTS,
                filter=matching,
                with_payload=False,
                with_vector=False,
            )
            records, following = self.shard.scroll(request)
            yield [record.id for record in records]
            if following is None:
                return
            offset = following

    def flush(self) -> None:
        """Write memory to the segments, and truncate the write-ahead log."""
        if self.unflushed_points and not self.is_closed:
            self.shard.flush()
            self.unflushed_points = 0

    def close(self) -> None:
        """Flush and release the shard."""
        self.flush()
        self.is_closed = True
        self.shard.close()


class Store:
    """All collections of one data folder."""

    def __init__(self, data_dir: Path) -> None:
        """Open the folder: load each collection in the state file, set all other folders aside."""
        self._folder = data_dir / "collections"
        self._set_aside = data_dir / _SET_ASIDE
        self._state_path = data_dir / _STATE_FILE
        self._folder.mkdir(parents=True, exist_ok=True)
        self._state = self._read_state()
        self._collections: dict[str, Collection] = {}
        self._damages: dict[str, str] = {}  # by collection: why it cannot be read
        for name, state in list(self._state.collections.items()):
            self._load(name, state)
        self._writers = asyncio.Lock()
        self._tidy()
        self._save()

    def _read_state(self) -> State:
        try:
            state = load_state(self._state_path)
        except ValueError as error:
            logger.error("the state file cannot be read and is set aside", error=str(error))  # noqa: TRY400
            self.set_path_aside(self._state_path)
            state = State()
        if state.collections:
            return state
        recovered = recover_state(self._folder)
        if recovered.collections:
            logger.warning(
                "collections were recovered from their folders", names=sorted(recovered.collections)
            )
        return recovered

    def _load(self, name: str, state: CollectionState) -> None:
        folder = self._folder / (state.folder or name)
        if not folder.is_dir():
            logger.error("a collection is lost: its folder is gone", collection=name, folder=str(folder))
            self._forget(name)
            return
        try:
            collection = Collection(name, folder, state, edge.EdgeShard.load(str(folder)))
        except Exception as error:  # noqa: BLE001 - the engine raises bare exceptions
            self.note_damage(name, error)
            return
        indexed = collection.shard.info().payload_schema
        state.indexes = {field: schema for field, schema in state.indexes.items() if field in indexed}
        self._collections[name] = collection

    def _tidy(self) -> None:
        """Delete unfinished copies, and set aside every folder that does not belong to a collection."""
        named = {self._folder / (state.folder or name) for name, state in self._state.collections.items()}
        for folder in self._folder.iterdir():
            if folder in named:
                continue
            if folder.name.startswith(_COPY_PREFIX):
                shutil.rmtree(folder)
            else:
                self.set_path_aside(folder)

    def set_path_aside(self, path: Path) -> Path:
        """Move a file or folder aside for inspection. Returns its new path."""
        self._set_aside.mkdir(exist_ok=True)
        target = self._set_aside / f"{path.name}-{time.strftime('%Y%m%dT%H%M%S')}-{uuid.uuid4().hex[:8]}"
        path.rename(target)
        logger.warning("set aside", path=str(path), target=str(target))
        return target

    def note_damage(self, name: str, error: BaseException) -> str:
        """Record that files of a collection cannot be read. Returns the message."""
        name = self._state.aliases.get(name, name)
        state = self._state.collections.get(name)
        folder = self._folder / ((state.folder if state else "") or name)
        sentence = f"collection `{name}` in {folder} cannot be read: {error}"
        if name not in self._damages:
            logger.error("a collection is damaged", collection=name, folder=str(folder), error=str(error))
        self._damages[name] = sentence
        return sentence

    def set_collection_aside(self, name: str) -> Path | None:
        """Give a collection up without deleting it. Returns the new path of its folder, None for an unknown
        collection.
        """
        state = self._state.collections.get(name)
        if state is None:
            return None
        folder = self._folder / (state.folder or name)
        collection = self._collections.pop(name, None)
        if collection is not None:
            collection.is_closed = True
            with contextlib.suppress(Exception):  # a damaged one may refuse even that
                collection.shard.close()
        self._damages.pop(name, None)
        self._forget(name)
        self._save()
        return self.set_path_aside(folder)

    def _forget(self, name: str) -> None:
        del self._state.collections[name]
        self._state.aliases = {
            alias: target for alias, target in self._state.aliases.items() if target != name
        }

    @property
    def damages(self) -> dict[str, str]:
        """Returns why collections cannot be read, by name."""
        return self._damages

    @property
    def folder(self) -> Path:
        """The parent of the collections' folders."""
        return self._folder

    @property
    def collections(self) -> list[Collection]:
        """Returns all collections, without aliases."""
        return list(self._collections.values())

    @property
    def aliases(self) -> dict[str, str]:
        """Returns all aliases, to names of collections."""
        return self._state.aliases

    def find(self, name: str) -> Collection | None:
        """Return the collection with this name or alias. Refuses with 500 if it is damaged."""
        target = self._state.aliases.get(name, name)
        collection = self._collections.get(target)
        if collection is None and target in self._damages:
            raise damaged(self._damages[target])
        return collection

    def get(self, name: str) -> Collection:
        """Return the collection with this name or alias, or refuse with 404."""
        collection = self.find(name)
        if collection is None:
            raise not_found(f"Collection `{name}` doesn't exist!")
        return collection

    def create(self, name: str, vectors: VectorsJson, metadata: dict[str, Any] | None) -> None:
        """Create a collection; it exists once the state file names it."""
        _check_name(name)
        if name in self._state.collections:
            raise conflict(f"Collection `{name}` already exists!")
        if name in self._state.aliases:
            raise bad_request(
                f"Wrong input: Can't create collection with name {name}. Alias with the same name already exists"
            )
        folder = self._folder / name
        if folder.exists():
            self.set_path_aside(folder)
        folder.mkdir()
        config = edge.EdgeConfig(
            vectors={vector: vector_params(params) for vector, params in vectors.items()},
            wal_enabled=True,
            max_search_threads=SEARCH_THREADS,
        )
        shard = edge.EdgeShard.create(str(folder), config)
        state = CollectionState(vectors, metadata=metadata)
        self._state.collections[name] = state
        self._collections[name] = Collection(name, folder, state, shard)
        self._save()

    def drop(self, name: str) -> bool:
        """Delete a collection and its aliases; False if no collection has this exact name."""
        collection = self._collections.pop(name, None)
        if collection is None:
            return False
        self._forget(name)
        self._save()
        collection.is_closed = True
        collection.shard.close()
        shutil.rmtree(collection.folder)
        return True

    def new_folder(self) -> Path:
        """Returns an unused path for the copy of a collection. An unfinished copy is deleted at the next
        start.
        """
        return self._folder / f"{_COPY_PREFIX}{uuid.uuid4().hex}"

    def adopt(self, collection: Collection, folder: Path, shard: edge.EdgeShard) -> None:
        """Replace a collection's shard and folder with a compacted copy."""
        old_shard, old_folder = collection.shard, collection.folder
        shard.flush()
        collection.shard, collection.folder, collection.unflushed_points = shard, folder, 0
        collection.state.folder = folder.name
        collection.state.compacted_points = shard.info().points_count
        self._save()
        old_shard.close()
        shutil.rmtree(old_folder)

    def create_index(
        self, collection: Collection, field: str, schema: dict[str, Any], operation: edge.UpdateOperation
    ) -> None:
        """Create a payload index over present and future points."""
        if collection.state.indexes.get(field) == schema:
            return
        collection.update(operation)
        collection.state.indexes[field] = schema
        self._save()

    def drop_index(self, collection: Collection, field: str) -> None:
        """Delete a payload index; a missing one is not an error."""
        collection.update(edge.UpdateOperation.delete_field_index(field))
        collection.state.indexes.pop(field, None)
        self._save()

    def create_vector(self, collection: Collection, name: str, vector: dict[str, Any]) -> None:
        """Add a named vector, which no point has yet."""
        known = collection.state.vectors.get(name)
        if known == vector:
            return
        if known is not None:
            raise bad_request(f"Wrong input: vector '{name}' already exists with different parameters")
        # A leftover of a kill between the two steps of a deletion would hold old values.
        collection.update(edge.UpdateOperation.delete_vector_name(name))
        collection.update(create_vector(name, vector))
        self._set_vectors(collection, {**collection.state.vectors, name: vector})

    def drop_vector(self, collection: Collection, name: str) -> None:
        """Delete a named vector from the collection and all its points."""
        if name not in collection.state.vectors:
            raise bad_request(f"Wrong input: Not existing vector name error: {name}")
        self._set_vectors(
            collection, {known: params for known, params in collection.state.vectors.items() if known != name}
        )
        collection.update(edge.UpdateOperation.delete_vector_name(name))

    def _set_vectors(self, collection: Collection, vectors: VectorsJson) -> None:
        collection.state.vectors = vectors
        collection.sizes = {name: params["size"] for name, params in vectors.items()}
        self._save()

    def change_aliases(self, actions: Iterable[tuple[str, dict[str, str]]]) -> None:
        """Apply all actions or none; readers see the table before or after."""
        aliases = dict(self._state.aliases)
        for kind, names in actions:
            self._change_alias(aliases, kind, names)
        self._state.aliases = aliases
        self._save()

    def _change_alias(self, aliases: dict[str, str], kind: str, names: dict[str, str]) -> None:
        match kind:
            case "create_alias":
                alias, target = names["alias_name"], names["collection_name"]
                _check_name(alias)
                if target not in self._collections:
                    raise not_found(f"Collection `{target}` doesn't exist!")
                if alias in self._collections:
                    raise conflict(f"Collection `{alias}` already exists!")
                aliases[alias] = target
            case "delete_alias":
                aliases.pop(names["alias_name"], None)
            case _:
                old, new = names["old_alias_name"], names["new_alias_name"]
                _check_name(new)
                if old not in aliases:
                    raise not_found(f"Alias {old} does not exists!")
                if new in self._collections:
                    raise conflict(f"Collection `{new}` already exists!")
                aliases[new] = aliases.pop(old)

    def _save(self) -> None:
        save_state(self._state_path, self._state)
        for collection in self.collections:
            aliases = [alias for alias, target in self._state.aliases.items() if target == collection.name]
            save_card(collection.folder, collection.name, collection.state, sorted(aliases))

    async def apply(self, collection: Collection, changes: list[AnyChange]) -> None:
        """Apply changes in order. Up to `SLICE_POINTS` points in total are one step for readers."""
        calls = _calls(collection, changes)
        is_done = False
        while not is_done:
            async with self.turn():
                is_done = _run_slice(collection, calls)

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold one slice of work, in order of arrival, and let waiting readers in before the next one.

        Every change of a collection while requests are served happens in a turn: folders are copied in one.
        """
        async with self._writers:
            try:
                yield
            finally:
                await _let_readers_in()

    async def flush(self) -> bool:
        """Flush each collection with new writes. Returns whether there was one."""
        was_written = False
        for collection in self.collections:
            async with self.turn():
                was_written |= collection.unflushed_points > 0
                collection.flush()
        return was_written

    def close(self) -> None:
        """Flush and close all collections."""
        for collection in self.collections:
            collection.close()


async def _let_readers_in() -> None:
    """Yield the event loop often enough to answer the requests that have arrived."""
    for _ in range(READER_TURNS):
        await asyncio.sleep(0)


def _calls(collection: Collection, changes: list[AnyChange]) -> Iterator[tuple[edge.UpdateOperation, int]]:
    for change in changes:
        if isinstance(change, Change):
            yield from _listed_calls(collection, change)
        else:
            yield from _filtered_calls(collection, change)


def _listed_calls(collection: Collection, change: Change) -> Iterator[tuple[edge.UpdateOperation, int]]:
    for ids in change.ids:
        collection.require_points(ids)
    for part in change.slices:
        yield change.operation(part), len(part)


def _filtered_calls(
    collection: Collection, change: FilteredChange
) -> Iterator[tuple[edge.UpdateOperation, int]]:
    for page in collection.matching_ids(change.filter):
        for start in range(0, len(page), SLICE_POINTS):
            ids = page[start : start + SLICE_POINTS]
            # The filter is applied again: a point may have changed since its id was looked up.
            still_matching = edge.Filter(must=[change.filter, edge.HasIdCondition(set(ids))])
            yield change.operation(still_matching), len(ids)


def _run_slice(collection: Collection, calls: Iterator[tuple[edge.UpdateOperation, int]]) -> bool:
    """Make engine calls until a slice is full; True when none is left."""
    spent = 0
    for operation, points in calls:
        collection.update(operation, points)
        spent += points
        if spent >= SLICE_POINTS:
            return False
    return True


def _check_name(name: str) -> None:
    if not 0 < len(name.encode()) <= NAME_LENGTH_MAX:
        raise bad_request(f"Wrong input: a name must have 1 to {NAME_LENGTH_MAX} bytes")
    if name in {".", ".."} or _FORBIDDEN_IN_NAMES.search(name):
        raise bad_request(f"Wrong input: name {name!r} contains forbidden characters")
