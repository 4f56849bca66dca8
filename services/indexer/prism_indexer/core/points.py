"""Turns an event about a file into points. Pure: the same event yields the same points."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from prism_contracts.base import chunk_id, file_id, generation, scope_key
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

# The parser ran out of time, or died.
GIVEN_UP = frozenset({"timeout", "crashed"})
DEFINITIONS_MAX = 1_000
# As many as a parser finds in one file, with their qualified names: a symbol without them is not found.
NAMES_MAX = 20_000
# Names among which words are searched.
TEXT_NAMES_MAX = 2_000
PROSE_LANGUAGES = frozenset({"markdown", "mdx", "rst", "asciidoc", "text", "org", "textile", "pod", "man"})


def indexed_point(event: FileEmbedded) -> FilePoint:
    """Returns the file point and chunk points of an embedded file. Raises MESSAGE_INVALID if the vectors
    don't fit.
    """
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
    """Returns a tombstone: an older event that arrives late must lose against it."""
    return _bare_point(event, FileStatus.REMOVED, {})


def skipped_point(event: FileSkipped) -> FilePoint:
    """Returns the point of a known file that is not searchable."""
    detail = {
        "reason": event.reason.value,
        "detail": event.detail,
        "blob": event.blob,
        "size": event.size_bytes,
    }
    return _bare_point(event, FileStatus.SKIPPED, detail)


def failed_point(event: FileFailed) -> FilePoint:
    """Returns the point of a file on which a stage failed."""
    return _bare_point(
        event, FileStatus.FAILED, {"reason": event.code, "detail": f"{event.stage}: {event.detail}"}
    )


def _chunker_of(file: FileChunked) -> str:
    """Returns the chunker as part of the address. A file on which the parser failed has its own address,
    which no plan requests: the next import retries it, and its result differs from the current one.
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
        "symbol_text": " ".join(symbol.name for symbol in file.symbols[:TEXT_NAMES_MAX]),
        "definitions": "\n".join(_definition_line(symbol) for symbol in file.symbols[:DEFINITIONS_MAX]),
        "symbols": pack_symbols(file.symbols),
        "references": file.references,
        "bindings": file.bindings,
    }


def _symbol_line(chunk: Chunk) -> str:
    """Returns `<kind> <qualified name>`, separated by a tab: the symbol that contains a chunk; only the tab
    if none does.
    """
    return f"{chunk.kind.value if chunk.kind else ''}\t{_one_line(chunk.symbol)}"


def _chunk_payload(chunk: Chunk, file: str) -> dict[str, object]:
    payload: dict[str, object] = {"file": file, "text": chunk.text}
    # Omitted if absent: a field of a chunk costs the local store more time than its vector.
    return payload | {"kind": chunk.kind.value} if chunk.kind else payload


def _names(symbols: tuple[Symbol, ...]) -> list[str]:
    names = dict.fromkeys(name for symbol in symbols for name in (symbol.name, symbol.qualified_name))
    return list(names)[:NAMES_MAX]


def _definition_line(symbol: Symbol) -> str:
    """Returns `<T|F|P|V> <kind> <first line> <last line> <qualified name>`, by tabs: a symbol's fields for
    ranking.
    """
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
