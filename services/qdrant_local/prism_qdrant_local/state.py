"""The server's own small files: its collections, vectors, indexes and aliases.

The engine keeps points and indexes. A collection exists if `state.json` lists it. Each collection's folder
holds a card with the same facts, so that the loss of `state.json` loses nothing: it is rebuilt from the
cards.
"""

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

# 1: collections with vectors, indexes and metadata; aliases.
_FORMAT_VERSION = 1
_CARD_FILE = "collection.json"


@dataclass(slots=True)
class CollectionState:
    """Facts that the engine does not report: the JSON with which vectors and indexes were created."""

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
    """Read the file, or start empty without one. Raises ValueError if it is unreadable, RuntimeError if it is
    newer.
    """
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


def save_card(folder: Path, name: str, state: CollectionState, aliases: list[str]) -> None:
    """Write the recovery facts of a collection into its folder, unless they are there already."""
    body = {
        "version": _FORMAT_VERSION,
        "name": name,
        "folder": folder.name,
        "aliases": aliases,
        "state": state,
    }
    content = orjson.dumps(body, option=orjson.OPT_INDENT_2)
    path = folder / _CARD_FILE
    if not path.exists() or path.read_bytes() != content:
        replace_file(path, content)


def recover_state(folders: Path) -> State:
    """Rebuild the state from the cards of the collections' folders.

    A copy of a folder that was never adopted holds the card of another folder, and does not count.
    """
    state = State()
    for path in sorted(folders.glob(f"*/{_CARD_FILE}")):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            body = orjson.loads(path.read_bytes())
            if body["folder"] != path.parent.name:
                continue
            found = CollectionState(**body["state"])
            known = state.collections.get(body["name"])
            if known is None or known.compacted_points < found.compacted_points:
                state.collections[body["name"]] = found
                state.collections[body["name"]].folder = path.parent.name
            state.aliases |= dict.fromkeys(body["aliases"], body["name"])
    return state


def replace_file(path: Path, content: bytes) -> None:
    """Replace the file at `path` with `content`, durably and atomically."""
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
