"""The NATS subjects that a service needs for what it does (`prism_contracts.access`).

A call of JetStream is a request on a subject below `$JS.API` that has the name of its stream, so permissions can
tell streams apart. See https://docs.nats.io/reference/reference-protocols/nats_api_reference.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from prism_contracts import names
from prism_contracts.access import KEEP_OBJECTS, SERVICES, Access, Do
from prism_contracts.all_rpcs import ALL_RPCS
from prism_contracts.base import Lane
from prism_contracts.registry import AnyTopic
from prism_contracts.topics import STREAMS

API = "$JS.API"
ANY, REST = "*", ">"


@dataclass(frozen=True)
class Permissions:
    """The subjects that a login may publish to and subscribe to; both may have wildcards."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    # Whether it may answer each request that it received, once.
    answers: bool = True


def permissions_of(service: str) -> Permissions:
    """Returns what a service may do. Raises KeyError for a service that is not known."""
    access = SERVICES[service]
    publish = _without_covered(set(_published(service, access)))
    subscribe = [f"{names.inbox_prefix(service)}.>", names.ping_subject(service)]
    subscribe += [rpc.subject for rpc in ALL_RPCS if rpc.service == service]
    return Permissions(tuple(sorted(publish)), tuple(sorted(subscribe)))


def _without_covered(subjects: set[str]) -> set[str]:
    """Returns the subjects without those that a wildcard for all streams has."""
    infos = f"{API}.STREAM.INFO."
    if f"{infos}*" not in subjects:
        return subjects
    return {one for one in subjects if not one.startswith(infos) or one == f"{infos}*"}


def _published(service: str, access: Access) -> Iterator[str]:
    yield from _of_account(access)
    yield from (rpc.subject for rpc in access.asks)
    yield from map(names.ping_subject, access.pings)
    for topic in access.publishes:
        yield from (topic.subject(lane) for lane in Lane)
    for topic in access.consumes:
        yield from _consumed(service, topic)
    if access.reads_dead_letters:
        yield from _pulled(names.DEAD_LETTERS, f"{service}-dead-letters", names.DEAD_LETTER_SUBJECTS)
    for bucket, do in access.records.items():
        yield from _of_records(bucket, do)
    for bucket, do in {names.OBJECTS_CLAIMS: KEEP_OBJECTS, **access.objects}.items():
        yield from _of_objects(bucket, do)
    for stream, do in access.streams.items():
        yield from _of_log(stream, do)


def _of_account(access: Access) -> Iterator[str]:
    """What concerns all streams: their names and configurations say nothing of their contents."""
    yield f"{API}.STREAM.NAMES"
    yield f"{API}.STREAM.LIST"
    if not access.consumes:
        yield f"{API}.INFO"  # the check of /readyz
    if access.measures:
        yield f"{API}.STREAM.INFO.*"
        yield f"{API}.CONSUMER.LIST.*"
    if access.ages_queues:
        yield from (f"{API}.STREAM.MSG.GET.{stream.name}" for stream in STREAMS)
    if access.declares:
        yield f"{API}.STREAM.CREATE.*"
        yield f"{API}.STREAM.UPDATE.*"
    else:  # waits for what others declare
        for stream in (*(one.name for one in STREAMS), names.DEAD_LETTERS):
            yield f"{API}.STREAM.INFO.{stream}"


def _consumed(service: str, topic: AnyTopic) -> Iterator[str]:
    for lane in Lane:
        stream, durable = topic.stream.name, topic.durable(service, lane)
        yield from _pulled(stream, durable, topic.subject(lane))
        yield names.dead_letter_subject(ANY, stream, durable)


def _pulled(stream: str, durable: str, subject: str) -> Iterator[str]:
    """A durable consumer of this subject, and no other."""
    yield f"{API}.CONSUMER.CREATE.{stream}.{durable}.{subject}"
    yield f"{API}.CONSUMER.INFO.{stream}.{durable}"
    yield f"{API}.CONSUMER.MSG.NEXT.{stream}.{durable}"
    yield f"$JS.ACK.{stream}.{durable}.>"


def _of_records(bucket: str, do: Do) -> Iterator[str]:
    stream = f"KV_{bucket}"
    yield f"{API}.STREAM.INFO.{stream}"
    if Do.READ in do:
        # Caches are read from any replica.
        is_cache = bucket in (names.KV_ANSWERS, names.KV_REQUESTS)
        yield f"{API}.DIRECT.GET.{stream}.>" if is_cache else f"{API}.STREAM.MSG.GET.{stream}"
    if Do.FOLLOW in do:
        yield from _watched(stream)
        yield f"{API}.CONSUMER.INFO.{stream}.*"
    if Do.WRITE in do:
        yield f"$KV.{bucket}.>"
    if Do.PURGE in do:
        yield f"{API}.STREAM.PURGE.{stream}"


def _of_objects(bucket: str, do: Do) -> Iterator[str]:
    stream = f"OBJ_{bucket}"
    yield f"{API}.STREAM.INFO.{stream}"
    if Do.READ in do:
        yield f"{API}.STREAM.MSG.GET.{stream}"
    if Do.FOLLOW in do:
        yield from _watched(stream)
    if Do.WRITE in do:
        yield f"$O.{bucket}.>"
    if Do.PURGE in do:
        yield f"{API}.STREAM.PURGE.{stream}"


def _watched(stream: str) -> Iterator[str]:
    """A consumer that pushes to an inbox, without acknowledgements."""
    yield f"{API}.CONSUMER.CREATE.{stream}"
    yield f"$JS.FC.{stream}.>"  # flow control


def _of_log(stream: str, do: Do) -> Iterator[str]:
    """A stream that belongs to no topic."""
    yield f"{API}.STREAM.INFO.{stream}"
    if Do.READ in do:
        if stream == names.DEAD_LETTERS:
            yield f"{API}.STREAM.MSG.GET.{stream}"
        else:
            yield f"{API}.DIRECT.GET.{stream}"
            yield f"{API}.DIRECT.GET.{stream}.>"
    if Do.FOLLOW in do:
        for call in ("CREATE", "INFO", "MSG.NEXT"):
            yield f"{API}.CONSUMER.{call}.{stream}.>"
    if Do.WRITE in do:
        is_limit = stream in (names.LIMITS_MINUTE, names.LIMITS_DAY)
        yield names.limits_subject(stream, REST) if is_limit else names.accounting_subject(stream, REST)
    if Do.PURGE in do:
        yield f"{API}.STREAM.PURGE.{stream}"
        if stream == names.DEAD_LETTERS:
            yield f"{API}.STREAM.MSG.DELETE.{stream}"
