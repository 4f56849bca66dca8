"""Conversion of a changed file to a chunked one."""

import time

from prism_chunker.core import CHUNKER_VERSION, Budget, chunk_file
from prism_chunker.core.file import DEFAULT_BUDGET
from prism_contracts.base import text_version
from prism_contracts.events import FileChanged, FileChunked
from prism_runtime.packing import pack_bindings, pack_references

# No grammar parses a text within this budget: it is cut by lines.
BY_LINES = Budget(size_chars_max=0)


def chunk_event(event: FileChanged, parse: str = "") -> FileChunked:
    """Returns the event with its file in chunks. A reason in `parse` forbids all grammars."""
    budget = BY_LINES if parse else DEFAULT_BUDGET
    began = time.perf_counter()
    parsed = chunk_file(event.path, event.text, event.language, budget=budget)
    return FileChunked(
        **event.address,
        blob=event.blob,
        size_bytes=event.size_bytes,
        line_count=parsed.line_count,
        language=parsed.language,
        flags=event.flags,
        chunker=text_version(CHUNKER_VERSION, event.redaction),
        parse=parse or parsed.parse,
        chunks=parsed.chunks,
        symbols=parsed.symbols,
        references=pack_references(parsed.references),
        bindings=pack_bindings(parsed.bindings) if parsed.bindings else "",
        redactions=event.redactions,
        decode_errors=event.decode_errors,
        chunk_ms=round((time.perf_counter() - began) * 1000, 2),
    )
