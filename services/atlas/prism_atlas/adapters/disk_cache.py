"""Files that hold the state of repositories while no process works on them."""

import hashlib
import pickle
from pathlib import Path
from typing import Generic, TypeVar

from prism_store.scope import Scope

Value = TypeVar("Value")


class DiskCache(Generic[Value]):
    """Pickled values by scope. Past `bytes_max` bytes, the oldest values are evicted.

    The folder does not outlive the service, so the code that reads a value is the code that wrote it.
    """

    def __init__(self, folder: Path, bytes_max: int) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._bytes_max = bytes_max

    def put(self, scope: Scope, value: Value) -> None:
        """Store a value."""
        path = self._path(scope)
        unfinished = path.with_suffix(".new")
        with unfinished.open("wb") as file:
            pickle.dump(value, file, pickle.HIGHEST_PROTOCOL)
        unfinished.replace(path)
        self._evict()

    def pop(self, scope: Scope) -> Value | None:
        """Remove and return a value, or return None if there is none."""
        path = self._path(scope)
        if not path.exists():
            return None
        with path.open("rb") as file:
            path.unlink()
            value: Value = pickle.load(file)  # noqa: S301 - written by this service, in its own folder
            return value

    def _evict(self) -> None:
        files = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        excess = sum(path.stat().st_size for path in files) - self._bytes_max
        for path in files:
            if excess <= 0:
                return
            excess -= path.stat().st_size
            path.unlink()

    def _path(self, scope: Scope) -> Path:
        return self._folder / hashlib.sha256(repr(scope).encode()).hexdigest()
