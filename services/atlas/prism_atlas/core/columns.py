"""Tables of arrays in one memory-mapped file: it opens at once, and only pages that are read take memory.

A *table* is a dataclass whose fields are one-dimensional arrays or tables. Arrays are named by their path,
such as `edges.line`.

    8 bytes   length of the header, little-endian
    header    JSON: `format`, and by name each array's dtype, length and position
    arrays    little-endian, each at a multiple of 64 bytes

The writer names the format; a reader of another format refuses the file.
"""

import json
import mmap
import os
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

ALIGNMENT_BYTES = 64
HEADER_BYTES_MAX = 1024 * 1024
_LENGTH = struct.Struct("<Q")

Columns = dict[str, NDArray[Any]]
TableT = TypeVar("TableT")


def columns_of(table: Any, prefix: str = "") -> Columns:
    """Returns every array of a table by its path."""
    columns: Columns = {}
    for field in fields(table):
        value = getattr(table, field.name)
        path = prefix + field.name
        columns |= columns_of(value, f"{path}.") if is_dataclass(value) else {path: value}
    return columns


def table_of(kind: type[TableT], columns: Columns, prefix: str = "") -> TableT:
    """Returns a table of this kind with these arrays: the inverse of `columns_of`."""
    values: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        path = prefix + field.name
        nested = is_dataclass(field.type)
        values[field.name] = table_of(field.type, columns, f"{path}.") if nested else columns[path]  # type: ignore[arg-type]
    return kind(**values)


def paths_of(kind: Any, prefix: str = "") -> list[str]:
    """Returns the paths of all arrays of a kind of table."""
    return [
        path
        for field in fields(kind)
        for path in (
            paths_of(field.type, f"{prefix}{field.name}.")
            if is_dataclass(field.type)
            else [prefix + field.name]
        )
    ]


def write_columns(path: Path, version: str, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write one-dimensional arrays. Replaces the file atomically."""
    header: dict[str, Any] = {"format": version, "columns": {}}
    position = 0
    for name, column in columns.items():
        header["columns"][name] = [column.dtype.str, len(column), position]
        position = _aligned(position + column.nbytes)
    head = json.dumps(header).encode()
    head = head.ljust(_aligned(_LENGTH.size + len(head)) - _LENGTH.size)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with unfinished.open("wb") as file:
        file.write(_LENGTH.pack(len(head)) + head)
        for column in columns.values():
            file.write(np.ascontiguousarray(column).data)
            file.write(b"\0" * (_aligned(column.nbytes) - column.nbytes))
    unfinished.replace(path)


def read_columns(path: Path, version: str) -> Columns:
    """Map the arrays read-only. Raises ValueError if the file is truncated or of another format."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header, start = _header(mapped)
    if header["format"] != version:
        raise ValueError(f"the file is of format {header['format']}, not {version}")
    return {
        name: np.frombuffer(mapped, np.dtype(dtype), length, start + position)
        for name, (dtype, length, position) in header["columns"].items()
    }


def _header(mapped: mmap.mmap) -> tuple[dict[str, Any], int]:
    """Returns the header, and the position of the first array."""
    if len(mapped) < _LENGTH.size:
        raise ValueError("the file has no header")
    (length,) = _LENGTH.unpack(mapped[: _LENGTH.size])
    end = _LENGTH.size + length
    if length > HEADER_BYTES_MAX or end > len(mapped):
        raise ValueError("the header is cut short")
    return json.loads(mapped[_LENGTH.size : end]), end


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
