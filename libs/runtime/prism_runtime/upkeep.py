"""Detects streams, consumers and buckets of a service that were deleted, or deleted and created again.

An operator may delete one, or start NATS on an empty folder. Streams, consumers and caches are declared
again, because the service holds no copy of their contents. A bucket is different: the service read and wrote
records in it at its start, so it must restart (see `EXIT_BUCKET_LOST`).
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, NamedTuple

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.api import StreamConfig, StreamInfo

from prism_contracts.errors import reason_of
from prism_runtime.patience import PatientJetStream, StartPatience

# The supervisor, or Kubernetes, restarts the service.
EXIT_BUCKET_LOST = 75
# A check costs one request of about a millisecond.
LOOK_EVERY_S = 10.0
LOOK_PAUSE_S = 1.0
# NATS removes the folder of a deleted stream after it left the list. A stream created at once would lose its
# new files, and store nothing until NATS restarts.
DECLARE_PAUSE_S = 2.0
LIST_TIMEOUT_S = 5.0
# The prefix of the streams of buckets.
BUCKET_PREFIXES = ("KV_", "OBJ_")
LIST_SUBJECT = "$JS.API.STREAM.LIST"

log = logging.getLogger(__name__)


class StreamCheck(NamedTuple):
    """The result of a check, by names of streams."""

    lost_buckets: tuple[str, ...]
    lost_streams: tuple[str, ...]


class RecordingJetStream(PatientJetStream):
    """A JetStream context that records the buckets that are opened or created through it."""

    def __init__(
        self, connection: Client, patience: StartPatience, buckets: set[str], *, creates: bool = True
    ) -> None:
        super().__init__(connection, patience, creates=creates)
        self._buckets = buckets

    async def stream_info(self, name: str, subjects_filter: str | None = None) -> StreamInfo:
        """Open an existing bucket."""
        found = await super().stream_info(name, subjects_filter)
        self._note(name)
        return found

    async def add_stream(self, config: StreamConfig | None = None, **params: Any) -> StreamInfo:
        """Create a bucket."""
        made = await super().add_stream(config, **params)
        self._note(made.config.name or "")
        return made

    def _note(self, stream: str) -> None:
        if stream.startswith(BUCKET_PREFIXES):
            self._buckets.add(stream)


class Upkeep:
    """Checks regularly, and soon after `look_soon`.

    Calls `declare` or `give_up` when something was deleted.
    """

    def __init__(
        self,
        list_streams: Callable[[], Awaitable[Mapping[str, str]]],
        *,
        streams: Collection[str],
        buckets: Collection[str],
        declare: Callable[[], Awaitable[None]],
        give_up: Callable[[Collection[str]], None],
    ) -> None:
        self._list_streams = list_streams
        self._streams = streams
        self._buckets = buckets
        self._declare = declare
        self._give_up = give_up
        self._known: dict[str, str] = {}
        self._is_refused = False
        self._is_due = asyncio.Event()

    def look_soon(self) -> None:
        """Check soon, after a reconnect."""
        self._is_due.set()

    def refused(self) -> None:
        """Check soon, after a refused pull or publish: a consumer or stream may be deleted."""
        self._is_refused = True
        self._is_due.set()

    async def run(self) -> None:
        """Check until cancelled. Errors of NATS are retried by the next round."""
        while True:
            try:
                await self._look()
            except (NatsError, OSError, TimeoutError, ValueError) as error:
                log.warning("cannot list the streams of JetStream: %s", reason_of(error))
            await asyncio.sleep(LOOK_PAUSE_S)
            try:
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._is_due.wait()
            except TimeoutError:
                continue

    async def _look(self) -> None:
        self._is_due.clear()
        is_refused, self._is_refused = self._is_refused, False
        # Copied before listing: a bucket that is created meanwhile may be missing in the list.
        wanted = (*self._streams, *self._buckets)
        found = self._compare(wanted, await self._list_streams())
        if found.lost_buckets:
            self._give_up(found.lost_buckets)
        elif found.lost_streams or is_refused:
            log.warning(
                "declaring streams and consumers again; missing: %s", found.lost_streams or "a consumer"
            )
            await asyncio.sleep(DECLARE_PAUSE_S)
            await self._declare()
            self._known |= await self._list_streams()

    def _compare(self, wanted: Collection[str], created: Mapping[str, str]) -> StreamCheck:
        """Returns what is missing, or was created again since it was first seen or last declared."""
        lost = {
            name
            for name in wanted
            if self._known.setdefault(name, created.get(name, "")) != created.get(name) or name not in created
        }
        buckets = tuple(sorted(lost.intersection(self._buckets)))
        return StreamCheck(buckets, tuple(sorted(lost.difference(self._buckets))))


class StreamList(NamedTuple):
    """Every stream of JetStream, as it describes itself."""

    streams: list[dict[str, Any]]
    missing: list[str]  # without an answer: streams of a cluster that have no leader


async def list_streams(connection: Client) -> dict[str, str]:
    """Returns the creation time of each stream, by name. Raises NatsError if one does not answer."""
    found = await read_streams(connection)
    if found.missing:  # a cluster that is still electing leaders
        raise NatsError(f"streams without an answer: {found.missing}")
    return {info["config"]["name"]: info["created"] for info in found.streams}


async def read_streams(connection: Client) -> StreamList:
    """Returns the descriptions of all streams. Raises NatsError and TimeoutError."""
    found, offset = StreamList([], []), 0
    while True:
        request = json.dumps({"offset": offset}).encode()
        answer = json.loads((await connection.request(LIST_SUBJECT, request, timeout=LIST_TIMEOUT_S)).data)
        if "error" in answer:
            raise NatsError(answer["error"].get("description", "the streams cannot be listed"))
        page, missing = answer.get("streams") or [], answer.get("missing") or []
        found.streams.extend(page)
        found.missing.extend(missing)
        offset += len(page) + len(missing)
        if not page or offset >= answer["total"]:
            return found
