"""The dead letters of a tenant, as NATS stores them."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final, NamedTuple

from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError

from prism_contracts import names
from prism_ingest.core.dead_letters import fact_of
from prism_runtime.letters import fields_of

# Letters of a tenant that one retry looks at.
READ_MAX: Final = 1_000


class StoredLetter(NamedTuple):
    """A dead letter: its number, what the message said, and the kept fields."""

    number: int
    fact: str
    body: Mapping[str, Any]


class LetterBox:
    """Reads and deletes dead letters."""

    def __init__(self, js: JetStreamContext) -> None:
        self._js = js

    async def get(self, tenant: str, number: int) -> StoredLetter | None:
        """Returns a letter of a tenant; None if it is gone, or another tenant's."""
        try:
            message = await self._js.get_msg(names.DEAD_LETTERS, number)
        except NotFoundError:
            return None
        return _letter(message, tenant)

    async def all(self, tenant: str) -> AsyncIterator[StoredLetter]:
        """Yields the letters of a tenant, the oldest first, `READ_MAX` at most."""
        subject, number = names.dead_letter_subject(tenant, "*", "*"), 1
        for _ in range(READ_MAX):
            try:
                message = await self._js.get_msg(names.DEAD_LETTERS, number, subject, next=True)
            except NotFoundError:
                return
            if letter := _letter(message, tenant):
                yield letter
            number = (message.seq or number) + 1

    async def delete(self, number: int) -> bool:
        """Delete a letter. Returns False if it is gone already."""
        try:
            return await self._js.delete_msg(names.DEAD_LETTERS, number)
        except NotFoundError:
            return False


def _letter(message: RawStreamMsg, tenant: str) -> StoredLetter | None:
    body = fields_of(message.data)
    if body.get("tenant") != tenant:
        return None
    subject = (message.headers or {}).get("Prism-Subject", "")
    return StoredLetter(message.seq or 0, fact_of(subject), body)
