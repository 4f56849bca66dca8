"""Upkeep of what a service has in JetStream: notices that a stream, consumer or bucket was deleted, or deleted and made again.

Somebody may delete one by hand, or start NATS on an empty folder. Streams, consumers and caches hold nothing that the service
has a copy of, so they are declared again. A bucket is different: the service has read records from it and written its own into it
when it started, so it has to start again (see `EXIT_BUCKET_LOST`).
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, NamedTuple

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import StreamConfig, StreamInfo

from prism_contracts.errors import reason_of

# The supervisor, or Kubernetes, starts the service again.
EXIT_BUCKET_LOST = 75
# A look costs one request, answered in about a millisecond.
LOOK_EVERY_S = 10.0
LOOK_PAUSE_S = 1.0
# NATS still removes the folder of a deleted stream after it is gone from the list: one made at once loses its new files with it,
# and stores nothing until NATS is restarted.
DECLARE_PAUSE_S = 2.0
LIST_TIMEOUT_S = 5.0
# A bucket is a stream with a name that begins so.
BUCKET_PREFIXES = ("KV_", "OBJ_")
LIST_SUBJECT = "$JS.API.STREAM.LIST"

log = logging.getLogger(__name__)


class Found(NamedTuple):
    """What a look found, by names of streams."""

    lost_buckets: tuple[str, ...]
    lost_streams: tuple[str, ...]


class NotingJetStream(JetStreamContext):
    """A JetStream context that notes which buckets are opened or made through it."""

    def __init__(self, connection: Client, buckets: set[str]) -> None:
        super().__init__(connection)
        self._buckets = buckets

    async def stream_info(self, name: str, subjects_filter: str | None = None) -> StreamInfo:
        """How the client finds a bucket that exists."""
        found = await super().stream_info(name, subjects_filter)
        self._note(name)
        return found

    async def add_stream(self, config: StreamConfig | None = None, **params: Any) -> StreamInfo:
        """How the client makes a bucket."""
        made = await super().add_stream(config, **params)
        self._note(made.config.name or "")
        return made

    def _note(self, stream: str) -> None:
        if stream.startswith(BUCKET_PREFIXES):
            self._buckets.add(stream)


class Upkeep:
    """Looks regularly, and soon after `look_soon`; calls `declare` or `give_up` when something is gone."""

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
        """The connection is new."""
        self._is_due.set()

    def refused(self) -> None:
        """A pull or a publish was refused: a consumer or a stream may be gone."""
        self._is_refused = True
        self._is_due.set()

    async def run(self) -> None:
        """Look until cancelled. Trouble of NATS ends no round: the next one looks again."""
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
        # Named before they are listed: one that is made meanwhile may be missing in the list.
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

    def _compare(self, wanted: Collection[str], created: Mapping[str, str]) -> Found:
        """What is not there, or was made again since the last look. What is seen for the first time is learned."""
        lost = {
            name
            for name in wanted
            if self._known.setdefault(name, created.get(name, "")) != created.get(name) or name not in created
        }
        buckets = tuple(sorted(lost.intersection(self._buckets)))
        return Found(buckets, tuple(sorted(lost.difference(self._buckets))))


async def list_streams(connection: Client) -> dict[str, str]:
    """When each stream was created, by name."""
    created: dict[str, str] = {}
    while True:
        request = json.dumps({"offset": len(created)}).encode()
        answer = json.loads((await connection.request(LIST_SUBJECT, request, timeout=LIST_TIMEOUT_S)).data)
        if "error" in answer:
            raise NatsError(answer["error"].get("description", "the streams cannot be listed"))
        page = answer.get("streams") or []
        created |= {info["config"]["name"]: info["created"] for info in page}
        if answer.get("missing"):  # a cluster that is still electing leaders
            raise NatsError(f"streams without an answer: {answer['missing']}")
        if not page or len(created) >= answer["total"]:
            return created
