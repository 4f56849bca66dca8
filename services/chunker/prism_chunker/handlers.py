"""Changed files become chunks, symbols and references; messages pass through as bytes."""

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_chunker.adapters.parser import Parser
from prism_contracts import topics
from prism_contracts.base import Lane
from prism_contracts.events import FileChunked, FileEvent
from prism_runtime import tracing
from prism_runtime.bus import Bus
from prism_runtime.tracing import Attribute


class ChunkerHandlers:
    """Consumes `FileChanged`, publishes `FileChunked`."""

    def __init__(self, bus: Bus, parser: Parser, cancelled: CancelledJobs) -> None:
        self._bus = bus
        self._parser = parser
        self._cancelled = cancelled

    async def on_changed(self, lane: Lane, body: bytes) -> None:
        """Send the file to the parser, and publish its answer, unless its job was cancelled."""
        event = FileEvent.model_validate_json(body)
        tracing.note_message(event)
        if event.job in self._cancelled:
            return
        with tracing.span("parse", {Attribute.BYTES: len(body)}):
            chunked = await self._parser.chunk(lane, body)
        await self._bus.publish_bytes(topics.FILE_CHUNKED, lane, chunked, event.message_id_of(FileChunked))
