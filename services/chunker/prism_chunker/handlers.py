"""A changed file becomes chunks, symbols and references."""

import asyncio

from prism_chunker.core import CHUNKER_VERSION, Parsed, chunk_file
from prism_chunker.settings import ChunkerSettings
from prism_contracts import names
from prism_contracts.events import FileChanged, FileChunked, FileEvent
from prism_runtime.bus import Bus
from prism_runtime.packing import pack_references


class ChunkerHandlers:
    """Reads `FileChanged`, says `FileChunked`."""

    def __init__(self, bus: Bus, settings: ChunkerSettings) -> None:
        self._bus = bus
        self._settings = settings

    def register(self) -> None:
        """Subscribe."""
        workers = self._settings.chunker_workers
        self._bus.consume(names.FILE_CHANGED, FileChanged, self.on_changed, workers=workers)

    async def on_changed(self, event: FileChanged) -> None:
        """Parse on the loop: it holds the interpreter's lock anyway, and a file takes milliseconds."""
        parsed = chunk_file(event.path, event.text, event.language)
        chunked = _chunked(event, parsed)
        await self._bus.publish(names.FILE_CHUNKED, event.lane, chunked, chunked.message_id)
        # Let the other lane's messages in between two files.
        await asyncio.sleep(0)


def _chunked(event: FileChanged, parsed: Parsed) -> FileChunked:
    return FileChunked(
        **{name: getattr(event, name) for name in FileEvent.model_fields},
        blob=event.blob,
        size_bytes=event.size_bytes,
        line_count=parsed.line_count,
        language=parsed.language,
        flags=event.flags,
        chunker=CHUNKER_VERSION,
        parse=parsed.parse,
        chunks=parsed.chunks,
        symbols=parsed.symbols,
        references=pack_references(parsed.references),
        redactions=event.redactions,
        decode_errors=event.decode_errors,
    )
