"""The server's own small file: which collections, vectors, indexes and aliases there are.

The engine keeps points and indexes. This file is what makes a collection exist: a folder that it does not name
was never acknowledged and is removed at start.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

# 1: collections with vectors, indexes and metadata; aliases.
_FORMAT_VERSION = 1


@dataclass(slots=True)
class CollectionState:
    """What the engine does not report: the JSON that vectors and indexes were created with."""

    vectors: dict[str, dict[str, Any]]
    indexes: dict[str, dict[str, Any]] = field(default_factory=dict)
    metadata: dict[str, Any] | None = None
    folder: str = ""  # below `collections`; empty: the collection's name
    compacted_points: int = 0  # points at the last compaction


@dataclass(slots=True)
class State:
    """All collections by name, and all aliases to names."""

    collections: dict[str, CollectionState] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)


def load_state(path: Path) -> State:
    """Read the file, or start empty when there is none."""
    if not path.exists():
        return State()
    body = orjson.loads(path.read_bytes())
    if body["version"] != _FORMAT_VERSION:
        raise RuntimeError(f"{path} has format {body['version']}, this server reads {_FORMAT_VERSION}")
    collections = {name: CollectionState(**fields) for name, fields in body["collections"].items()}
    return State(collections, body["aliases"])


def save_state(path: Path, state: State) -> None:
    """Write the file so that a reader, or a start after a crash, sees the old or the new one."""
    body = {"version": _FORMAT_VERSION, "collections": state.collections, "aliases": state.aliases}
    replace_file(path, orjson.dumps(body, option=orjson.OPT_INDENT_2))


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` in place of the file at `path`, durably and at once."""
    draft = path.with_name(f"{path.name}.tmp")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
