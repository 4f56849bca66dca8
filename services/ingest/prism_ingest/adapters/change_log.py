"""Changes of the index by file, in a stream with one subject for each repository.

NATS drops the oldest ones: by age, and by their number in each repository.
"""

import logging
from collections.abc import Sequence
from contextlib import aclosing

from nats.js.api import StorageType, StreamConfig
from pydantic import ValidationError

from prism_contracts import names
from prism_contracts.rpc.changes import ChangesRequest, FileChange, IndexChange
from prism_ingest.core.changes import by_file
from prism_runtime.bus import Bus
from prism_runtime.streams import read_stream_back

STREAM_BYTES_MAX = 256 * names.MIB
# The end of an import is repeated within seconds, or at the next start of ingest.
REPEATED_WITHIN_S = names.HOUR_S
# A page ends after so many entries, also those without a file that is wanted.
SCANNED_MAX = 2_000

log = logging.getLogger(__name__)


class ChangeLog:
    """The changes of all repositories."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    @classmethod
    async def open(cls, bus: Bus, *, replicas: int) -> "ChangeLog":
        """Declare the stream."""
        await bus.keep_stream(
            StreamConfig(
                name=names.CHANGES,
                subjects=[names.accounting_subject(names.CHANGES, "*", "*")],
                storage=StorageType.FILE,
                max_age=names.CHANGES_MAX_AGE_S,
                max_bytes=STREAM_BYTES_MAX,
                max_msgs_per_subject=names.CHANGES_ENTRIES_MAX,
                duplicate_window=REPEATED_WITHIN_S,
                num_replicas=replicas,
            )
        )
        return cls(bus)

    async def append(self, tenant: str, repo: str, entries: Sequence[IndexChange]) -> None:
        """Store what an import changed. Twice is the same as once for as long as NATS compares message ids."""
        subject = names.accounting_subject(names.CHANGES, tenant, repo)
        for part, entry in enumerate(entries):
            message_id = f"IndexChange:{entry.job}:{part}"
            await self._bus.js.publish(
                subject,
                entry.model_dump_json(exclude_defaults=True).encode(),
                stream=names.CHANGES,
                headers={"Nats-Msg-Id": message_id},
            )

    async def page(
        self, request: ChangesRequest, repo: str, position: tuple[int, int]
    ) -> tuple[list[FileChange], tuple[int, int] | None]:
        """Returns the newest changes that are wanted, and where older ones begin; None if there are none.

        A position is an entry of the stream, and how many of its wanted files come before. (0, 0) is the end of
        the stream. Raises UNAVAILABLE.
        """
        subject = names.accounting_subject(names.CHANGES, request.tenant, repo)
        found: list[FileChange] = []
        first, skip = position
        scanned = 0
        before = first + 1 if first else 0
        async with aclosing(
            read_stream_back(self._bus.js, names.CHANGES, subject, before=before)
        ) as messages:
            async for message in messages:
                number = message.metadata.sequence.stream
                passed = skip if number == first else 0
                if scanned >= SCANNED_MAX:
                    return found, (number, passed)
                scanned += 1
                wanted = self._wanted(message.data, request)[passed:]
                room = request.limit - len(found)
                found += wanted[:room]
                if len(wanted) > room:
                    return found, (number, passed + room)
        return found, None

    def _wanted(self, body: bytes, request: ChangesRequest) -> list[FileChange]:
        try:
            entry = IndexChange.model_validate_json(body)
        except ValidationError as error:
            log.error("a change of the index cannot be read: %s", error)  # noqa: TRY400 - the text is enough
            return []
        return by_file(entry, request.path, request.since)
