"""Pages of a stream of entries, the newest first."""

import logging
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from nats.js import JetStreamContext
from pydantic import ValidationError

from prism_contracts.accounting import AuditEntry, FeedbackEntry, HistoryEntry
from prism_runtime.streams import read_stream_back

# A page ends after this many entries, also those that a filter leaves out.
SCANNED_MAX = 20_000
EVERY_TENANT = "*"

Entry = TypeVar("Entry", AuditEntry, HistoryEntry, FeedbackEntry)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wanted:
    """Which entries a page has."""

    tenant: str  # empty for all tenants
    since: datetime
    until: datetime
    actor: str = ""  # id of a caller, with or without `token:`, or its label
    limit: int = 100
    position: int = 0  # the `next_position` of the page before; 0 for the first
    with_changes_of: bool = False  # whether an audit includes changes to the token that `actor` names

    @property
    def tenants(self) -> str:
        """The part of a subject that selects the tenants."""
        return self.tenant or EVERY_TENANT

    def takes(self, entry: AuditEntry | HistoryEntry | FeedbackEntry) -> bool:
        """Whether an entry belongs to the page."""
        names = [entry.caller, entry.caller.partition(":")[2], entry.label]
        if self.with_changes_of and isinstance(entry, AuditEntry):
            names += [entry.subject, entry.details.get("label", "")]
        return self.since <= entry.at < self.until and (not self.actor or self.actor in names)


class EntryPage(NamedTuple, Generic[Entry]):
    """Entries, the newest first."""

    entries: tuple[Entry, ...]
    next_position: int = 0  # where older ones begin; 0 if there are none


async def read_page(
    js: JetStreamContext | None, stream: str, subject: str, entry_type: type[Entry], wanted: Wanted
) -> EntryPage[Entry]:
    """Returns the newest entries that are wanted. Raises PrismError: UNAVAILABLE."""
    found: list[Entry] = []
    if js is None:
        return EntryPage(())
    scanned = last = 0
    async with aclosing(read_stream_back(js, stream, subject, before=wanted.position)) as messages:
        async for message in messages:
            # An entry is never newer than its message, which may have waited for NATS.
            if message.metadata.timestamp < wanted.since:
                break
            if len(found) >= wanted.limit or scanned >= SCANNED_MAX:
                return EntryPage(tuple(found), last)
            scanned, last = scanned + 1, message.metadata.sequence.stream
            try:
                entry = entry_type.model_validate_json(message.data)
            except ValidationError as error:
                log.error("an entry of %s cannot be read: %s", message.subject, error)  # noqa: TRY400
                continue
            if wanted.takes(entry):
                found.append(entry)
    return EntryPage(tuple(found))
