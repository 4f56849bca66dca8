"""The overrides of layers, in the object store: one immutable object per version of a layer."""

import zlib

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError, ObjectNotFoundError
from nats.js.object_store import ObjectStore

from prism_contracts import names
from prism_contracts.records import LayerFiles
from prism_runtime.objects import open_objects


class LayerFilesStore:
    """Lists of files, by the name in the record of a `Layer`."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    @classmethod
    async def open(cls, js: JetStreamContext, replicas: int) -> "LayerFilesStore":
        """Open the store, and create it if it does not exist."""
        return cls(await open_objects(js, names.OBJECTS_LAYERS, replicas=replicas))

    async def put(self, name: str, files: LayerFiles) -> None:
        """Store a list. An object of that name must be equal."""
        await self._store.put(name, zlib.compress(files.model_dump_json().encode(), 1))

    async def get(self, name: str) -> LayerFiles | None:
        """Returns a list, or None if the layer has a newer one or was deleted."""
        try:
            stored = await self._store.get(name)
        except ObjectNotFoundError:
            return None
        return LayerFiles.model_validate_json(zlib.decompress(stored.data or b""))

    async def drop(self, name: str) -> None:
        """Delete a list."""
        try:
            await self._store.delete(name)
        except ObjectNotFoundError:
            return

    async def names(self) -> list[str]:
        """Returns all names."""
        try:
            return [info.name for info in await self._store.list(ignore_deletes=True) if info.name]
        except NotFoundError:  # the store is empty
            return []
