"""Turns an event about a file into the points that say it. Pure: the same event gives the same points."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from prism_contracts.base import chunk_id, file_id, generation
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Chunk, FileStatus, Symbol
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import (
    FileChunked,
    FileEmbedded,
    FileEvent,
    FileFailed,
    FileRemoved,
    FileSkipped,
    Vectors,
)
from prism_runtime.packing import pack_symbols
from prism_runtime.vectors import unpack
from prism_store.grams import write_signature
from prism_store.points import ChunkPoint, FilePoint
from prism_store.schema import scope_key

# The parser was stopped by the clock, or died.
GIVEN_UP = frozenset({"timeout", "crashed"})
DEFINITIONS_MAX = 1_000
NAMES_MAX = 2_000
PROSE_LANGUAGES = frozenset({"markdown", "mdx", "rst", "asciidoc", "text", "org", "textile", "pod", "man"})


def indexed_point(event: FileEmbedded) -> FilePoint:
    """The file point and chunk points of an embedded file. Raises MESSAGE_INVALID if the vectors don't fit."""
    file, point_id = event.file, _id(event)
    address = generation(file.blob, _chunker_of(file), event.vectors.model)
    prose = file.language in PROSE_LANGUAGES
    common = _common(event) | {"generation": address, "language": file.language, "prose": prose}
    return FilePoint(
        id=point_id,
        version=event.version,
        generation=address,
        payload=common | _file_payload(file),
        chunks=tuple(
            ChunkPoint(chunk_id(point_id, address, chunk.ordinal), common | _chunk_payload(chunk, point_id))
            for chunk in file.chunks
        ),
        vectors=_rows(event.vectors, len(file.chunks)),
    )


def removed_point(event: FileRemoved) -> FilePoint:
    """A tombstone: an older event that arrives late must lose against it."""
    return _bare_point(event, FileStatus.REMOVED, {})


def skipped_point(event: FileSkipped) -> FilePoint:
    """A file that is known and not searchable."""
    detail = {
        "reason": event.reason.value,
        "detail": event.detail,
        "blob": event.blob,
        "size": event.size_bytes,
    }
    return _bare_point(event, FileStatus.SKIPPED, detail)


def failed_point(event: FileFailed) -> FilePoint:
    """A file that a stage gave up."""
    return _bare_point(
        event, FileStatus.FAILED, {"reason": event.code, "detail": f"{event.stage}: {event.detail}"}
    )


def _chunker_of(file: FileChunked) -> str:
    """The chunker as part of the address. A file that its parser gave up has an address of its own, which no plan asks
    for: the next import tries again, and what it brings is told from what is there.
    """
    return f"{file.chunker}:{file.parse}" if file.parse in GIVEN_UP else file.chunker


def _bare_point(event: FileEvent, status: FileStatus, payload: Mapping[str, object]) -> FilePoint:
    return FilePoint(
        id=_id(event),
        version=event.version,
        generation="",
        payload={**_common(event), "generation": "", "status": status.value, **payload},
    )


def _id(event: FileEvent) -> str:
    return file_id(event.tenant, event.repo, event.layer, event.path)


def _common(event: FileEvent) -> dict[str, object]:
    return {"scope": scope_key(event.repo, event.layer), "path": event.path, "version": event.version}


def _file_payload(file: FileChunked) -> dict[str, object]:
    names = _names(file.symbols)
    return {
        "status": FileStatus.INDEXED.value,
        "blob": file.blob,
        "size": file.size_bytes,
        "lines": file.line_count,
        "starts": " ".join(str(chunk.start_line) for chunk in file.chunks),
        "chunk_symbols": "\n".join(map(_symbol_line, file.chunks)),
        "flags": file.flags.letters,
        "parse": file.parse,
        "redactions": sorted(set(file.redactions)),
        "decode_errors": file.decode_errors,
        "names": names,
        "grams": write_signature("".join(chunk.text for chunk in file.chunks)),
        "path_text": file.path,
        "symbol_text": " ".join(symbol.name for symbol in file.symbols[:NAMES_MAX]),
        "definitions": "\n".join(_definition_line(symbol) for symbol in file.symbols[:DEFINITIONS_MAX]),
        "symbols": pack_symbols(file.symbols),
        "references": file.references,
        "bindings": file.bindings,
    }


def _symbol_line(chunk: Chunk) -> str:
    """`<kind> <qualified name>`, by a tab: the symbol that a chunk is part of; the tab alone if it is of none."""
    return f"{chunk.kind.value if chunk.kind else ''}\t{_one_line(chunk.symbol)}"


def _chunk_payload(chunk: Chunk, file: str) -> dict[str, object]:
    payload: dict[str, object] = {"file": file, "text": chunk.text}
    # Left out where there is none: the local store takes longer over a field of a chunk than over its vector.
    return payload | {"kind": chunk.kind.value} if chunk.kind else payload


def _names(symbols: tuple[Symbol, ...]) -> list[str]:
    names = dict.fromkeys(name for symbol in symbols for name in (symbol.name, symbol.qualified_name))
    return list(names)[:NAMES_MAX]


def _definition_line(symbol: Symbol) -> str:
    """`<T|F|P|V> <kind> <first line> <last line> <qualified name>`, by tabs: what ranking reads of a symbol."""
    group = "T" if symbol.kind in TYPE_KINDS else "F" if symbol.kind in CALLABLE_KINDS else "V"
    group = "P" if symbol.bodiless else group
    name = _one_line(symbol.qualified_name)
    return f"{group}\t{symbol.kind.value}\t{symbol.start_line}\t{symbol.end_line}\t{name}"


def _one_line(name: str) -> str:
    return name.replace("\t", " ").replace("\n", " ")


def _rows(vectors: Vectors, chunks: int) -> NDArray[np.float32]:
    if vectors.count != chunks:
        raise PrismError(ErrorCode.MESSAGE_INVALID, f"{chunks} chunks have {vectors.count} vectors.")
    return unpack(vectors.data, vectors.count, vectors.dimension)
