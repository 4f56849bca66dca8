"""The dead letters that a caller may see: how many there are, and the newest. Ingest retries and drops them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Final

from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError
from pydantic import BaseModel

from prism_contracts import names
from prism_contracts.errors import PrismError
from prism_contracts.rpc.imports import JOBS, JobsRequest
from prism_gateway.backend import Backend
from prism_runtime.letters import fields_of

SHOWN_DEFAULT: Final = 20
SHOWN_MAX: Final = 100
READ_MAX: Final = 200
READ_AT_ONCE: Final = 20
REASON_CHARS_MAX: Final = 300


class DeadLetterShown(BaseModel):
    """A message that was given up, without its contents."""

    letter: int  # its number, by which it is retried and dropped
    subject: str
    consumer: str
    code: str
    reason: str
    repo: str  # the name of its repository; empty if it has none, or the repository was removed
    path: str
    job: str = ""  # the import that the message was part of
    at: datetime | None


class DeadLetters(BaseModel):
    """How many dead letters there are, and the newest."""

    messages: int
    newest: list[DeadLetterShown]


async def dead_letters(js: JetStreamContext, backend: Backend, limit: int = SHOWN_DEFAULT) -> DeadLetters:
    """Returns the dead letters of the caller's tenant.

    A tenant with more than `READ_MAX` sees those among the newest letters of all tenants. For a caller with a list
    of repositories, only the letters that are read are counted.
    """
    subjects = names.dead_letter_subject(backend.caller.tenant, "*", "*")
    state = (await js.stream_info(names.DEAD_LETTERS, subjects_filter=subjects)).state
    messages = sum((state.subjects or {}).values())
    if not messages:
        return DeadLetters(messages=0, newest=[])
    repositories = await _repositories(backend)
    if messages <= READ_MAX:
        read = [letter async for letter in _oldest_first(js, subjects)][::-1]
    else:
        read = [letter async for letter in _newest_first(js, state.first_seq, state.last_seq)]
    is_limited = backend.visible is not None
    seen = [
        shown
        for letter in read
        if (shown := _shown(letter, backend.caller.tenant, repositories, is_limited=is_limited))
    ]
    return DeadLetters(messages=len(seen) if is_limited else messages, newest=seen[:limit])


async def _repositories(backend: Backend) -> dict[str, str]:
    """Returns the names of the repositories that the caller may see, by id."""
    try:
        known = await backend.ask(JOBS, JobsRequest(tenant=backend.caller.tenant, limit=1))
    except PrismError:
        if backend.visible is not None:
            raise
        return {}  # ingest is down: letters may say why
    return {repository.repo: repository.name for repository in known.repositories}


async def _oldest_first(js: JetStreamContext, subjects: str) -> AsyncIterator[RawStreamMsg]:
    number = 1
    for _ in range(READ_MAX):
        try:
            letter = await js.get_msg(names.DEAD_LETTERS, number, subjects, next=True)
        except NotFoundError:
            return
        yield letter
        number = (letter.seq or number) + 1


async def _newest_first(js: JetStreamContext, first: int, last: int) -> AsyncIterator[RawStreamMsg]:
    first = max(first, last - READ_MAX + 1)
    for end in range(last, first - 1, -READ_AT_ONCE):
        batch = range(end, max(first - 1, end - READ_AT_ONCE), -1)
        for letter in await asyncio.gather(*(_letter(js, number) for number in batch)):
            if letter is not None:
                yield letter


async def _letter(js: JetStreamContext, number: int) -> RawStreamMsg | None:
    try:
        return await js.get_msg(names.DEAD_LETTERS, number)
    except NotFoundError:  # deleted
        return None


def _shown(
    letter: RawStreamMsg, tenant: str, repositories: Mapping[str, str], *, is_limited: bool
) -> DeadLetterShown | None:
    """Returns a letter as a caller of the tenant sees it, or None if it may not see it."""
    event = fields_of(letter.data)
    if event.get("tenant") != tenant or (is_limited and event.get("repo") not in repositories):
        return None
    headers = letter.headers or {}
    return DeadLetterShown(
        letter=letter.seq or 0,
        subject=headers.get("Prism-Subject", ""),
        consumer=headers.get("Prism-Consumer", ""),
        code=headers.get("Prism-Code", ""),
        reason=headers.get("Prism-Reason", "")[:REASON_CHARS_MAX],
        repo=repositories.get(str(event.get("repo", "")), ""),
        path=str(event.get("path", "")),
        job=str(event.get("job", "")),
        at=letter.time,
    )
