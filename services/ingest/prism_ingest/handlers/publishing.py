"""Says many facts about files, so many at a time as the bus takes."""

import asyncio
from collections.abc import Iterable

from prism_contracts import names
from prism_contracts.events import FileChanged, FileEvent, FileFailed, FileRemoved, FileSkipped
from prism_runtime.bus import Bus

IN_FLIGHT_MAX = 64

FACTS: dict[type[FileEvent], str] = {
    FileChanged: names.FILE_CHANGED,
    FileRemoved: names.FILE_REMOVED,
    FileSkipped: names.FILE_SKIPPED,
    FileFailed: names.FILE_FAILED,
}


async def publish_file_events(bus: Bus, events: Iterable[FileEvent]) -> None:
    """Publish each on its lane; return when all are stored. Events are made as they are sent, not before."""
    window: set[asyncio.Task[None]] = set()
    for event in events:
        if len(window) >= IN_FLIGHT_MAX:
            done, window = await asyncio.wait(window, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        window.add(asyncio.create_task(_publish(bus, event)))
    for task in window:
        await task


async def _publish(bus: Bus, event: FileEvent) -> None:
    await bus.publish(FACTS[type(event)], event.lane, event, event.message_id)
