"""How messages travel: a `Topic` per event type, an `Rpc` per request type.

Each is declared once, beside its models.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from prism_contracts.base import Event, Lane, Message

AnEvent = TypeVar("AnEvent", bound=Event)
Request = TypeVar("Request", bound=Message)
Answer = TypeVar("Answer", bound=Message)


class Stream(NamedTuple):
    """A JetStream stream."""

    name: str
    work_queue: bool  # True: each subject has one consumer, and a message is deleted when it is acked
    max_bytes: (
        int  # a full work queue refuses messages, so its producers wait; another stream drops the oldest
    )
    max_age_s: int


@dataclass(frozen=True)
class Topic(Generic[AnEvent]):
    """An event type, its stream and its subjects, `prism.<lane>.<fact>`.

    Metrics are labelled by subject: it has no ids.
    """

    fact: str  # in the past tense, such as `file.changed`
    event: type[AnEvent]
    stream: Stream
    lane: Lane | None = None  # for events without a field `lane`; None: the publisher chooses

    def subject(self, lane: Lane) -> str:
        """The subject on a lane, such as `prism.live.file.changed`."""
        return f"prism.{lane.value}.{self.fact}"

    def durable(self, service: str, lane: Lane) -> str:
        """The name of a service's consumer of this topic on a lane, such as `chunker-live-file-changed`."""
        return f"{service}-{lane.value}-{self.fact.replace('.', '-')}"

    def lane_of(self, event: Event) -> Lane:
        """The lane of an event: its own field, else the topic's. Raises TypeError if neither has one."""
        lane = getattr(event, "lane", None) or self.lane
        if lane is None:
            raise TypeError(f"{type(event).__name__} has no lane: pass one to publish()")
        return Lane(lane)


class Timeout(StrEnum):
    """How long the gateway waits for a reply; its settings have the seconds."""

    QUESTION = "question"
    IMPORT = "import"  # contacts a git server, or takes or commits many files
    SCIP = "scip"
    MODEL = "model"  # asks a language model


@dataclass(frozen=True)
class Rpc(Generic[Request, Answer]):
    """A request over NATS and its reply.

    The copies of a service share its requests: its name is the queue group.
    """

    name: str  # `<service>.<method>`
    request: type[Request]
    reply: type[Answer]
    deadline_s: float = 14.0  # how long the service works on it; a service may override this by a setting
    timeout: Timeout = Timeout.QUESTION
    writes: bool = False  # refused while the disk is full
    reads: bool = False  # changes nothing, so that it may be asked again if the connection was lost

    @property
    def subject(self) -> str:
        """The subject, such as `prism.rpc.search.grep`."""
        return f"prism.rpc.{self.name}"

    @property
    def service(self) -> str:
        """The service that answers."""
        return self.name.partition(".")[0]


AnyTopic = Topic[Any]
AnyRpc = Rpc[Any, Any]
