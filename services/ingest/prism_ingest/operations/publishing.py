"""Publishes many file events, with at most `IN_FLIGHT_MAX` unconfirmed ones."""

import asyncio
from collections.abc import Container, Iterable
from itertools import takewhile

from prism_contracts.events import FileEvent
from prism_ingest.operations.import_gate import ImportGate
from prism_runtime.bus import Bus

IN_FLIGHT_MAX = 64


async def publish_file_events(
    bus: Bus,
    events: Iterable[FileEvent],
    cancelled: Container[str] = frozenset(),
    *,
    gate: ImportGate | None = None,
) -> None:
    """Publish each event on its lane. Returns when all are stored. Reads the iterable as it publishes.

    Stops at the first event of a job in `cancelled`, which may grow meanwhile. Files of imports pass a gate.
    """
    unconfirmed: set[asyncio.Task[None]] = set()
    for event in takewhile(lambda one: one.job not in cancelled, events):
        admitted = await gate.admit(event) if gate else event
        if len(unconfirmed) >= IN_FLIGHT_MAX:
            done, unconfirmed = await asyncio.wait(unconfirmed, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        unconfirmed.add(asyncio.create_task(bus.publish(admitted)))
    for task in unconfirmed:
        await task
