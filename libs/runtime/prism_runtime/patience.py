"""JetStream while a service starts, which may be before the cluster has elected its leaders.

Two copies of a service that start on an empty cluster find streams and buckets without a leader: requests are
refused or time out for some seconds. The requests of JetStream are repeated then, within a limit.
"""

import asyncio
import itertools
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from nats.aio.client import Client
from nats.errors import NoRespondersError
from nats.js import JetStreamContext
from nats.js.api import PubAck, RawStreamMsg, StreamConfig, StreamInfo
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError, ServiceUnavailableError

from prism_contracts.errors import reason_of
from prism_runtime.settings import InvalidSettingsError, Problem

# An election takes a few seconds; one of a cluster that is starting up, more.
PATIENCE_S = 30.0
PAUSE_S = 0.25
WAITS_PER_LOG = 20
# JetStream's error codes: no server for another replica, which may be starting, and no cluster at all.
NO_SUITABLE_PEERS = 10005
REPLICAS_NOT_SUPPORTED = 10074
WITHOUT_LEADER = (NoStreamResponseError, NoRespondersError, ServiceUnavailableError, TimeoutError)

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class StartError(Exception):
    """A service cannot start, for a reason outside it: a message for the operator, and the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class StartPatience:
    """How long requests are repeated: `PATIENCE_S` from the connection on, and no longer than the start."""

    def __init__(self) -> None:
        self._until = 0.0
        self._is_over = True

    def begin(self) -> None:
        """Be patient from now on."""
        self._until = asyncio.get_running_loop().time() + PATIENCE_S
        self._is_over = False

    def end(self) -> None:
        """Be patient no longer, because the service has started: callers get the errors of an outage."""
        self._is_over = True

    async def outlast(self, what: str, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Returns the answer of a call, which is repeated while JetStream has no leader for it.

        Raises StartError if there is still none when the patience ends; what the call raises if it ended
        before.
        """
        now = asyncio.get_running_loop().time
        is_starting = now() < self._until
        repeats = 0
        while True:
            try:
                return await call()
            except (*WITHOUT_LEADER, APIError) as error:
                if getattr(error, "err_code", 0) == REPLICAS_NOT_SUPPORTED:
                    raise _single_server() from error
                if self._is_over or not is_starting or not _may_pass(error):
                    raise
                if now() >= self._until:
                    raise StartError(_no_leader(what, error), os.EX_UNAVAILABLE) from error
                if not repeats:
                    log.warning("waiting for JetStream, which does not answer %s: %s", what, reason_of(error))
            repeats += 1
            await asyncio.sleep(PAUSE_S)


class PatientJetStream(JetStreamContext):
    """A JetStream context that repeats requests, and stores, while streams have no leader.

    Without `creates`, it waits until another service has created a stream, and changes none.
    """

    def __init__(self, connection: Client, patience: StartPatience, *, creates: bool = True) -> None:
        super().__init__(connection)
        self._patience = patience
        self._creates = creates

    async def add_stream(self, config: StreamConfig | None = None, **params: Any) -> StreamInfo:
        """Create a stream, or wait for it."""
        if self._creates:
            return await super().add_stream(config, **params)
        assert config
        return await self._wait_for(config.name or "")

    async def update_stream(self, config: StreamConfig | None = None, **params: Any) -> StreamInfo:
        """Change a stream, or leave that to another service."""
        if self._creates:
            return await super().update_stream(config, **params)
        assert config
        return await self._wait_for(config.name or "")

    async def _wait_for(self, stream: str) -> StreamInfo:
        for attempt in itertools.count():
            with suppress(NotFoundError):
                return await self.stream_info(stream)
            if attempt % WAITS_PER_LOG == 0:
                log.info("waiting for %s, which ingest or the gateway creates", stream)
            await asyncio.sleep(PAUSE_S)
        raise AssertionError

    async def publish(self, subject: str, *args: Any, **options: Any) -> PubAck:
        """Store a message."""
        store = super().publish
        return await self._patience.outlast(subject, lambda: store(subject, *args, **options))

    async def get_msg(self, stream_name: str, *args: Any, **options: Any) -> RawStreamMsg:
        """Read a message."""
        read = super().get_msg
        return await self._patience.outlast(stream_name, lambda: read(stream_name, *args, **options))

    async def _api_request(self, req_subject: str, *args: Any, **options: Any) -> dict[str, Any]:
        request = super()._api_request
        return await self._patience.outlast(req_subject, lambda: request(req_subject, *args, **options))


async def set_replicas(js: JetStreamContext, stream: str, replicas: int) -> None:
    """Change the number of replicas of a stream, and nothing else."""
    config: StreamConfig = (await js.stream_info(stream)).config
    if config.num_replicas != replicas:
        log.warning("%s gets %d replicas instead of %s", stream, replicas, config.num_replicas)
        await js.update_stream(config.evolve(num_replicas=replicas))


def _may_pass(error: Exception) -> bool:
    return isinstance(error, WITHOUT_LEADER) or getattr(error, "err_code", 0) == NO_SUITABLE_PEERS


def _no_leader(what: str, error: Exception) -> str:
    return (
        f"JetStream did not answer {what} for {PATIENCE_S:g} s: {reason_of(error)}. Check that a majority of the "
        "NATS servers runs, and that there are as many servers as PRISM_NATS_REPLICAS says."
    )


def _single_server() -> InvalidSettingsError:
    message = "NATS is a single server, which keeps one replica. Set 1, or run NATS as a cluster."
    return InvalidSettingsError((Problem("PRISM_NATS_REPLICAS", "environment", message),))
