"""The bus: FastStream on NATS JetStream. Every option whose default can lose data is set and explained here.

A service builds one `Bus`, registers handlers with `consume` and `serve`, and calls `publish` and `ask`. A
message is acked only after its handler returned, so a handler returns only when its effect is durable.
Delivery is at least once.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, PubAck, PullSub
from faststream.nats.prometheus import NatsPrometheusMiddleware
from faststream.nats.subscriber.usecases.core_subscriber import ConcurrentCoreSubscriber
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.js import JetStreamContext
from nats.js.api import (
    ConsumerConfig,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.client import KV_STREAM_TEMPLATE
from nats.js.errors import BadRequestError, NoStreamResponseError, ServiceUnavailableError
from nats.js.errors import Error as JetStreamError
from nats.js.kv import KeyValue
from nats.js.object_store import OBJ_STREAM_TEMPLATE, ObjectStore
from prometheus_client import CollectorRegistry

from prism_contracts import names
from prism_contracts.base import Event, Lane, Message
from prism_contracts.errors import ErrorCode, reason_of
from prism_contracts.registry import AnyTopic, Rpc, Stream, Topic
from prism_contracts.topics import STREAMS, topic_of, topics_of
from prism_runtime import tracing
from prism_runtime.codec import ClaimCodec
from prism_runtime.dead_connections import abort_dead_connections
from prism_runtime.delivery import DeliveryMiddleware, Failures, Heartbeats
from prism_runtime.health import Check, cached, run_checks
from prism_runtime.metrics import ConnectionMetrics, DiskMetrics, RpcMetrics
from prism_runtime.nats_login import ConnectionErrors, nats_security
from prism_runtime.objects import open_objects
from prism_runtime.ordered_pings import order_pings
from prism_runtime.pace import PublishGate
from prism_runtime.patience import PatientJetStream, StartPatience
from prism_runtime.pull import PullingJetStream
from prism_runtime.records import FollowedBucket, Projection, WatchedRecords, open_bucket
from prism_runtime.room import Room
from prism_runtime.rpc import call, serve
from prism_runtime.settings import ServiceSettings
from prism_runtime.stopping import CUT_SHORT_S, FINISH_S, Calls, finish_requests
from prism_runtime.tasks import cancelled, running
from prism_runtime.traced_messages import TracingMiddleware
from prism_runtime.upkeep import EXIT_BUCKET_LOST, RecordingJetStream, Upkeep, list_streams

PUBLISH_TIMEOUT_S = 5.0
# Shorter than a readiness check may take.
PING_TIMEOUT_S = 1.5
# The pinged service runs its own checks in less time, and caches the result for many gateways.
PING_CHECK_TIMEOUT_S = 1.0
PING_CHECKED_EVERY_S = 1.0
PUBLISH_PAUSE_S = 0.25
DISK_PAUSE_S = 1.0
# Events of an import are sent in groups at this interval; live events, and the first after a pause, at once.
BULK_DISTANCE_S = 0.05
FETCH_TIMEOUT_S = 5.0
ACK_PENDING_MAX = 512
DUPLICATE_WINDOW_S = 120
CLAIMS_MAX_AGE_S = names.WEEK_S
CONNECT_TIMEOUT_S = 5
# A server that vanished is noticed after 4 to 6 seconds.
PING_EVERY_S = 2
PINGS_UNANSWERED_MAX = 2
# How often a log line says that no server is reachable.
REPORTED_EVERY_S = 10.0
EXIT_BUS_CLOSED = 70
STREAM_NAME_IN_USE = 10058

DEAD_LETTER_WORKERS = 8
# The streams that every service declares.
STREAM_NAMES = (
    *(stream.name for stream in STREAMS),
    names.DEAD_LETTERS,
    OBJ_STREAM_TEMPLATE.format(bucket=names.OBJECTS_CLAIMS),
)

Request = TypeVar("Request", bound=Message)
Answer = TypeVar("Answer", bound=Message)
AnEvent = TypeVar("AnEvent", bound=Event)
Record = TypeVar("Record", bound=Message)
Projected = TypeVar("Projected", bound=Projection[Any])

log = logging.getLogger(__name__)


class DeadLetter(NamedTuple):
    """A message that was given up, with the reason."""

    body: bytes
    subject: str
    consumer: str
    code: str
    reason: str


class Bus:
    """A connection to NATS as one service."""

    def __init__(
        self,
        service: str,
        settings: ServiceSettings,
        *,
        bucket_lost: Callable[[Collection[str]], None] | None = None,
        metrics: CollectorRegistry | None = None,
    ) -> None:
        """`bucket_lost` is called when buckets that the service opened were deleted.

        By default the process exits. Without `metrics`, those of this bus are not exposed.
        """
        self.metrics = CollectorRegistry() if metrics is None else metrics
        self.service = service
        self.codec = ClaimCodec()
        self.room = Room(settings.disk_dir, settings.disk_free_bytes_min)
        self._settings = settings
        # The dependencies of this service besides NATS, checked when it is pinged.
        self.checks: Mapping[str, Check] = {}
        self._readiness = cached(self._check_readiness, PING_CHECKED_EVERY_S)
        self._stopping = False
        self._patience = StartPatience()
        self._connection_errors = ConnectionErrors()
        self._aborting: asyncio.Task[None] | None = None
        self._reconnected = asyncio.Event()
        self._pings: Subscription | None = None
        self._pulling: PullingJetStream | None = None
        self._requests: list[ConcurrentCoreSubscriber] = []
        self._answers, self._questions = Calls(service), Calls(service)
        self._bulk_gate = PublishGate(BULK_DISTANCE_S)
        self._heartbeats = Heartbeats(settings.ack_wait_s)
        self._followed: list[FollowedBucket[Any, Any]] = []
        self._durables: list[tuple[str, str, str]] = []
        self._kept: list[StreamConfig] = []
        self._kept_names = list(STREAM_NAMES)
        self._buckets: set[str] = set()
        self._upkeep = Upkeep(
            lambda: list_streams(self.broker.connection),
            streams=self._kept_names,
            buckets=self._buckets,
            declare=self._declare,
            give_up=bucket_lost or self._on_bucket_lost,
        )
        self._upkeeping: asyncio.Task[None] | None = None
        self._streams = {stream.name: JStream(stream.name, declare=False) for stream in STREAMS}
        self._rpc_metrics = RpcMetrics(self.metrics)
        self._connection_metrics = ConnectionMetrics(self.metrics)
        if self.room.is_known:
            DiskMetrics(self.metrics).show(self.room.free_bytes)
        self.broker = self._make_broker()

    def _make_broker(self) -> NatsBroker:
        return NatsBroker(
            self._settings.nats_url.split(","),
            name=f"prism-{self.service}",
            codec=self.codec,
            # Handlers take the decoded body. To inject arguments as well, FastStream would run a thread for each
            # message; to check them, build a pydantic model for each handler.
            apply_types=False,
            serializer=None,
            security=nats_security(self._settings),
            # Replies arrive on subjects that no other service may read.
            inbox_prefix=names.inbox_prefix(self.service),
            # The default policy deletes a message at the first unhandled error.
            ack_policy=AckPolicy.NACK_ON_ERROR,
            connect_timeout=CONNECT_TIMEOUT_S,
            # By default the client gives up after two minutes without a server.
            max_reconnect_attempts=-1,
            reconnect_time_wait=1,
            # By default the client notices after six minutes that a server vanished without closing the
            # connection.
            ping_interval=PING_EVERY_S,
            max_outstanding_pings=PINGS_UNANSWERED_MAX,
            error_cb=self._connection_errors.report,
            closed_cb=self._on_closed,
            reconnected_cb=self._on_reconnected,
            graceful_timeout=CUT_SHORT_S,  # `drain` waits before
            logger=log,
            log_level=logging.DEBUG,
            middlewares=[
                *([TracingMiddleware] if tracing.is_on() else []),
                NatsPrometheusMiddleware(registry=self.metrics, app_name=f"prism-{self.service}"),
                partial(
                    DeliveryMiddleware,
                    heartbeats=self._heartbeats,
                    failures=Failures(),
                    codec=self.codec,
                ),
            ],
        )

    @property
    def js(self) -> JetStreamContext:
        """The JetStream context of the connection, after `start`.

        Deleted buckets are noticed if they were opened through it.
        """
        creates = self._settings.nats_declare
        return RecordingJetStream(self.broker.connection, self._patience, self._buckets, creates=creates)

    @property
    def _patient_js(self) -> JetStreamContext:
        """The same, for what is declared again when it was deleted."""
        creates = self._settings.nats_declare
        return PatientJetStream(self.broker.connection, self._patience, creates=creates)

    async def connect(self) -> None:
        """Connect, and declare the streams of this version."""
        connection = await self._connected()
        order_pings(connection)
        self._connection_errors.connected()
        self._aborting = asyncio.create_task(abort_dead_connections(connection))
        self._patience.begin()
        # FastStream's subscribers pull through this context.
        self._pulling = PullingJetStream(
            connection, self._patience, self._heartbeats.begin, self._upkeep.refused
        )
        self.broker.config.broker_config.connection_state.connect(connection, self._pulling)
        await self._declare_streams()

    async def _connected(self) -> Client:
        """Connect, however long it takes."""
        async with running(self.broker.connect()) as connecting:
            while True:
                await asyncio.wait([connecting], timeout=REPORTED_EVERY_S)
                if connecting.done():
                    return connecting.result()
                log.warning("NATS is not reachable, trying again: %s", self._connection_errors.last)

    async def start(self) -> None:
        """Connect if necessary, and start consuming."""
        if self.codec.store is None:
            await self.connect()
        await self._declare_consumers()
        await self.broker.start()
        self._pings = await self.broker.connection.subscribe(
            names.ping_subject(self.service), queue=self.service, cb=self._answer_ping
        )
        # start() returns before the subscriptions have reached the server.
        await self.broker.connection.flush()
        self._upkeeping = asyncio.create_task(self._upkeep.run())

    async def follow(
        self, bucket: str, record_type: type[Record], *, ttl_s: float = 0, is_close: bool = False
    ) -> WatchedRecords[Record]:
        """Returns a copy of a bucket's records that follows its changes. It is complete when this returns.

        If the bucket does not exist, it is created, with entries that expire after `ttl_s`; 0: never. With
        `is_close`, the copy follows within a second even when the leader of the bucket dies.
        """
        kv = await open_bucket(self.js, bucket, ttl_s=ttl_s, replicas=self._settings.nats_replicas)
        watched = WatchedRecords(kv, record_type, self._reconnections, is_close=is_close)
        await self._keep_following(bucket, watched)
        return watched

    async def project(
        self, bucket: str, record_type: type[Record], projection: Callable[[], Projected]
    ) -> FollowedBucket[Record, Projected]:
        """As `follow`, with the records in a projection instead. `projection` returns an empty one."""
        kv = await open_bucket(self.js, bucket, replicas=self._settings.nats_replicas)
        followed = FollowedBucket(kv, record_type, projection, self._reconnections)
        await self._keep_following(bucket, followed)
        return followed

    async def _keep_following(self, bucket: str, followed: FollowedBucket[Any, Any]) -> None:
        self._followed.append(followed)
        self._connection_metrics.show_heard(bucket, lambda: followed.unheard_s)
        await followed.ready()

    def _reconnections(self) -> int:
        return int(self.broker.connection.stats["reconnects"])

    async def cache(self, bucket: str, *, ttl_s: float, bytes_max: int, replicas: int = 1) -> KeyValue:
        """Returns a bucket for a cache: entries expire after `ttl_s`, and the oldest are evicted beyond
        `bytes_max`.
        """
        await self.keep_stream(_cache_config(bucket, ttl_s, bytes_max, replicas))
        return await self._patient_js.key_value(bucket)

    async def keep_stream(self, config: StreamConfig) -> None:
        """Declare a stream of this service, now and after it was deleted."""
        assert config.name
        self._kept = [*(known for known in self._kept if known.name != config.name), config]
        await _upsert_stream(self._patient_js, config)
        if config.name not in self._kept_names:
            self._kept_names.append(config.name)

    async def objects(self, bucket: str) -> ObjectStore:
        """Returns a bucket for large objects, and creates it if it does not exist."""
        return await open_objects(self.js, bucket, replicas=self._settings.nats_replicas)

    def end_start(self) -> None:
        """The service has started: requests to JetStream are no longer repeated until it answers."""
        self._patience.end()

    async def leave(self) -> None:
        """Answer no more pings: they ask whether another copy is ready. Everything else goes on."""
        pings, self._pings = self._pings, None
        if pings is not None:
            with suppress(NatsError):
                await pings.drain()  # type: ignore[no-untyped-call]

    async def drain(self) -> None:
        """Take no more requests and messages, and finish those that have begun.

        Those that take longer than `FINISH_S` are cut short: a request gets an error, a message goes to
        another copy.
        """
        await self.leave()
        if self._pulling is None or not self.broker.connection.is_connected:
            return
        finishing = [asyncio.create_task(finish_requests(requests)) for requests in self._requests]
        finishing.append(asyncio.create_task(self._finish_messages(self._pulling)))
        _, late = await asyncio.wait(finishing, timeout=FINISH_S)
        if late:
            log.warning("%s cuts short what takes longer than %g s", self.service, FINISH_S)
            self._answers.cut_short()
            await self._heartbeats.give_back()
            await asyncio.wait(late, timeout=CUT_SHORT_S)
        await cancelled(*finishing)
        for task in finishing:
            if not task.cancelled() and (error := task.exception()):
                log.warning("%s could not finish its work: %s", self.service, error, exc_info=error)

    async def _finish_messages(self, pulling: PullingJetStream) -> None:
        self._heartbeats.refuse()
        await pulling.end_pulls()
        await self._heartbeats.all_ended()

    def cut_questions_short(self) -> None:
        """End the requests to other services that wait for their answers, and those that begin later."""
        self._questions.cut_short()

    async def stop(self) -> None:
        """Drain, and close."""
        self._stopping = True
        await self.drain()
        await cancelled(*(task for task in (self._upkeeping, self._aborting) if task is not None))
        for watched in self._followed:
            await watched.close()
        try:
            await self.broker.stop()
        except NatsError as error:  # NATS is down: unacked messages are redelivered
            log.warning("stopped without closing the NATS connection: %s", error)
        self._pulling = None
        self._heartbeats.stop()

    async def check_connection(self) -> None:
        """Raise unless NATS is connected. A server that vanished is noticed by its missing pongs."""
        if self._pulling is None or not self.broker.connection.is_connected:
            raise NatsError(f"not connected to NATS: {self._connection_errors.last}")

    async def check(self) -> None:
        """Raise unless the server answers and every consumer of this service exists."""
        await self.check_connection()
        if not self._durables:
            # Not `flush`: if it is cancelled, a late pong ends nats-py's read loop, and no message arrives
            # any more.
            await self.js.account_info()
        for stream, durable, _ in self._durables:
            await self.js.consumer_info(stream, durable)

    async def ping(self, service: str) -> None:
        """Raise unless a copy of a service is ready: its event loop runs, it serves requests, and its own
        checks pass.
        """
        try:
            reply = await self.broker.connection.request(names.ping_subject(service), timeout=PING_TIMEOUT_S)
        except NoRespondersError as error:
            raise NatsError(f"{service} is not running") from error
        except TimeoutError as error:
            raise NatsError(f"{service} did not answer within {PING_TIMEOUT_S:g} s") from error
        if reply.data:
            raise NatsError(f"{service} is not ready; failing checks: {reply.data.decode()}")

    async def _answer_ping(self, ping: Msg) -> None:
        """Answer with the names of failing checks, or empty. The reasons stay private."""
        try:
            await self._readiness()
        except NatsError as error:
            await ping.respond(str(error).encode())
        else:
            await ping.respond(b"")

    async def _check_readiness(self) -> None:
        results = await run_checks(self.checks, PING_CHECK_TIMEOUT_S)
        if failed := [name for name, result in results.items() if result != "ok"]:
            raise NatsError(", ".join(failed))

    def consume(
        self,
        topic: Topic[AnEvent],
        handle: Callable[[AnEvent], Awaitable[None]],
        *,
        workers: int,
    ) -> None:
        """Call `handle` for every event of a topic, with `workers` handlers per lane."""

        async def on_body(_: Lane, body: bytes) -> None:
            event = topic.event.model_validate_json(body)
            tracing.note_message(event)
            await handle(event)

        self.consume_bytes(topic, on_body, workers=workers)

    def consume_bytes(
        self, topic: AnyTopic, handle: Callable[[Lane, bytes], Awaitable[None]], *, workers: int
    ) -> None:
        """The same without decoding: `handle` gets the lane and the JSON."""
        for lane in Lane:
            self._subscribe(lane, topic, handle, workers)

    def _subscribe(
        self, lane: Lane, topic: AnyTopic, handle: Callable[[Lane, bytes], Awaitable[None]], workers: int
    ) -> None:
        stream = topic.stream.name
        durable = topic.durable(self.service, lane)
        subject = topic.subject(lane)
        self._durables.append((stream, durable, subject))

        async def on_message(body: bytes) -> None:
            await handle(lane, body)

        self.broker.subscriber(
            subject,
            stream=self._streams[stream],
            durable=durable,
            # Messages that wait here cannot be taken by another copy of the service.
            pull_sub=PullSub(batch_size=workers, timeout=FETCH_TIMEOUT_S),
            max_workers=workers,
        )(on_message)

    def consume_dead_letters(self, handle: Callable[[DeadLetter], Awaitable[None]]) -> None:
        """Call `handle` for every dead letter."""
        durable = f"{self.service}-dead-letters"
        self._durables.append((names.DEAD_LETTERS, durable, names.DEAD_LETTER_SUBJECTS))

        async def on_message(body: bytes) -> None:
            headers = self.broker.context.get_local("message").headers
            await handle(
                DeadLetter(
                    body=body,
                    subject=headers.get("Prism-Subject", ""),
                    consumer=headers.get("Prism-Consumer", ""),
                    code=headers.get("Prism-Code", ErrorCode.INTERNAL.value),
                    reason=headers.get("Prism-Reason", ""),
                )
            )

        self.broker.subscriber(
            names.DEAD_LETTER_SUBJECTS,
            stream=JStream(names.DEAD_LETTERS, declare=False),
            durable=durable,
            pull_sub=PullSub(batch_size=DEAD_LETTER_WORKERS, timeout=FETCH_TIMEOUT_S),
            max_workers=DEAD_LETTER_WORKERS,
        )(on_message)

    def serve(
        self,
        rpc: Rpc[Request, Answer],
        handle: Callable[[Request], Awaitable[Answer]],
        *,
        deadline_s: float | None = None,
    ) -> None:
        """Answer requests with `handle`, each within `deadline_s` (default: that of the declaration)."""
        requests = serve(
            self.broker,
            self.service,
            rpc,
            handle,
            deadline_s=deadline_s or rpc.deadline_s,
            metrics=self._rpc_metrics,
            calls=self._answers,
        )
        self._requests.append(requests)

    async def ask(self, rpc: Rpc[Request, Answer], request: Request, *, timeout_s: float) -> Answer:
        """Send a request and return the reply. Raises the PrismError that came instead."""
        async with self._questions.within(None):
            return await call(
                self.broker,
                self.codec,
                rpc,
                request,
                timeout_s=timeout_s,
                reconnected=self._reconnected,
            )

    async def publish(self, event: Event, *, lane: Lane | None = None, message_id: str = "") -> None:
        """Publish an event and return when it is stored; see `publish_bytes`.

        The type of the event determines the subject. Lane and message id come from the event unless the
        caller passes them.
        """
        topic = topic_of(type(event))
        id_ = message_id or event.message_id
        await self.publish_bytes(topic, lane or topic.lane_of(event), event.model_dump_json().encode(), id_)

    async def publish_bytes(self, topic: AnyTopic, lane: Lane, body: bytes, message_id: str) -> None:
        """Publish the JSON of an event and return when it is stored.

        Waits while the stream is full or the server is down: that is the backpressure. A repeated message id
        within the duplicate window is stored once.
        """
        fact = topic.fact
        if lane is Lane.BULK:
            await self._bulk_gate.wait()
        while self.room.is_critical():
            log.warning("publishing %s waits: the disk is full", fact)
            await asyncio.sleep(DISK_PAUSE_S)
        while True:
            try:
                ack = await self.broker.publish(
                    body,
                    topic.subject(lane),
                    # Without `stream`, a publish is fire and forget.
                    stream=topic.stream.name,
                    headers={"Nats-Msg-Id": message_id},
                    timeout=PUBLISH_TIMEOUT_S,
                )
            except (ServiceUnavailableError, NoRespondersError, TimeoutError, JetStreamError) as error:
                # After a timeout the event may be stored: the message id makes a repetition harmless.
                log.warning("publishing %s waits: %s", fact, reason_of(error))
                if isinstance(error, NoStreamResponseError):
                    self._upkeep.refused()
                await asyncio.sleep(PUBLISH_PAUSE_S)
                continue
            assert isinstance(ack, PubAck)
            return

    async def _declare(self) -> None:
        """Declare deleted streams and consumers again."""
        await self._declare_streams()
        for config in self._kept:
            await _upsert_stream(self._patient_js, config)
        await self._declare_consumers()

    async def _declare_streams(self) -> None:
        js = self._patient_js
        scale = self._settings.nats_storage_scale
        for stream in STREAMS:
            await _upsert_stream(js, _stream_config(stream, scale, self._settings.nats_replicas))
        await _upsert_stream(js, _dead_letter_config(scale, self._settings.nats_replicas))
        self.codec.store = await open_objects(
            js, names.OBJECTS_CLAIMS, ttl_s=CLAIMS_MAX_AGE_S, replicas=self._settings.nats_replicas
        )

    async def _declare_consumers(self) -> None:
        # Subscribing does not change an existing consumer; adding it again does.
        for stream, durable, subject in self._durables:
            await self.js.add_consumer(
                stream,
                ConsumerConfig(
                    # With a name the request's subject has the filter too, so that permissions can limit it.
                    name=durable,
                    durable_name=durable,
                    filter_subject=subject,
                    ack_wait=self._settings.ack_wait_s,
                    # DeliveryMiddleware counts attempts, because it distinguishes outages from poison
                    # messages.
                    max_deliver=-1,
                    max_ack_pending=ACK_PENDING_MAX,
                ),
            )

    async def _on_reconnected(self) -> None:
        reconnected, self._reconnected = self._reconnected, asyncio.Event()
        reconnected.set()
        self._connection_metrics.count_reconnect()
        self._upkeep.look_soon()

    def _on_bucket_lost(self, streams: Collection[str]) -> None:
        if not self._stopping:
            log.critical("buckets were deleted; restarting this process: %s", ", ".join(streams))
            os._exit(EXIT_BUCKET_LOST)

    async def _on_closed(self) -> None:
        # On a closed client, a pull subscriber spins without yielding. Only a restart helps.
        if not self._stopping:
            log.critical("the connection to NATS closed for good")
            os._exit(EXIT_BUS_CLOSED)


async def _upsert_stream(js: JetStreamContext, config: StreamConfig) -> None:
    try:
        await js.add_stream(config)
    except BadRequestError as error:
        if error.err_code != STREAM_NAME_IN_USE:
            raise
        await js.update_stream(config)


def _stream_config(stream: Stream, scale: float, replicas: int) -> StreamConfig:
    return StreamConfig(
        name=stream.name,
        subjects=[topic.subject(lane) for lane in Lane for topic in topics_of(stream)],
        retention=RetentionPolicy.WORK_QUEUE if stream.work_queue else RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        max_bytes=int(stream.max_bytes * scale),
        max_age=stream.max_age_s,
        # Refuse new messages when full, instead of dropping the oldest work.
        discard=DiscardPolicy.NEW if stream.work_queue else DiscardPolicy.OLD,
        duplicate_window=DUPLICATE_WINDOW_S,
        num_replicas=replicas,
    )


def _cache_config(bucket: str, ttl_s: float, bytes_max: int, replicas: int) -> StreamConfig:
    """Returns the stream of a cache bucket.

    The client's own configuration would refuse new entries when full.
    """
    return StreamConfig(
        name=KV_STREAM_TEMPLATE.format(bucket=bucket),
        subjects=[f"$KV.{bucket}.>"],
        storage=StorageType.FILE,
        max_msgs_per_subject=1,
        max_bytes=bytes_max,
        max_age=ttl_s,
        discard=DiscardPolicy.OLD,
        duplicate_window=min(ttl_s, DUPLICATE_WINDOW_S),
        allow_direct=True,
        num_replicas=replicas,
    )


def _dead_letter_config(scale: float, replicas: int) -> StreamConfig:
    return StreamConfig(
        name=names.DEAD_LETTERS,
        subjects=[names.DEAD_LETTER_SUBJECTS],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        max_bytes=int(names.DEAD_LETTERS_MAX_BYTES * scale),
        max_age=names.DEAD_LETTERS_MAX_AGE_S,
        duplicate_window=DUPLICATE_WINDOW_S,
        num_replicas=replicas,
    )
