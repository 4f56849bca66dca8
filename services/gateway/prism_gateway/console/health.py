"""The page of health: whether the parts answer, the queues, and what was given up on, to retry or to drop."""

import asyncio
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.records import Job
from prism_contracts.rpc.dead_letters import DROP_LETTER, RETRY_LETTER
from prism_contracts.rpc.imports import JOBS
from prism_gateway.console.formats import stage
from prism_gateway.console.page import PageView, Visit, redirect
from prism_gateway.status import status_of
from prism_runtime.health import Check

SEARCH: Final = "search"
PAGE: Final = "/health"
LETTERS: Final = f"{PAGE}#letters"
JOBS_READ: Final = 200
OUTAGES: Final = frozenset({ErrorCode.UNAVAILABLE, ErrorCode.DEADLINE_EXCEEDED})


REPO_CHARS_MAX: Final = 300


class CheckedPart(NamedTuple):
    """A part of Prism, and why it does not answer; empty if it does."""

    name: str
    what: str
    problem: str


async def health(visit: Visit) -> Response:
    """What answers and what waits. A part that fails shows its own reason."""
    return await _show(visit)


async def retry_letter(visit: Visit) -> Response:
    """Retry a dead letter. Why it cannot be retried is shown above the list."""
    try:
        done = await visit.ask(RETRY_LETTER, letter=visit.part("letter"))
    except PrismError as error:
        return await _show(visit, status=422, error=visit.noted(error))
    return redirect(f"{PAGE}?{urlencode({'retried': done.letter, 'repo': done.repo if done.job else ''})}")


async def drop_letter(visit: Visit) -> Response:
    """Drop a dead letter."""
    try:
        await visit.ask(DROP_LETTER, letter=visit.part("letter"))
    except PrismError as error:
        return await _show(visit, status=422, error=visit.noted(error))
    return redirect(LETTERS)


async def _show(visit: Visit, *, status: int = 200, error: ErrorBody | None = None) -> Response:
    timeout_s = visit.settings.status_timeout_s

    async def part(name: str, what: str, check: Check) -> CheckedPart:
        try:
            async with asyncio.timeout(timeout_s):
                await check()
        except Exception as problem:  # noqa: BLE001 - shown as the reason
            return CheckedPart(name, what, str(problem) or type(problem).__name__)
        return CheckedPart(name, what, "")

    *parts, report = await asyncio.gather(
        part("NATS", "the bus and the records", visit.bus.check),
        part("Tokens", "their bucket can be read", visit.parts.tokens.check),
        part("Search", "answers questions", lambda: visit.bus.ping(SEARCH)),
        status_of(visit.backend, visit.bus.js, timeout_s),
    )
    letters = report["dead_letters"]
    return visit.show(
        "health.html",
        status=status,
        parts=parts,
        report=report,
        error=error,
        letters=letters["messages"] if letters else 0,
        jobs=await _jobs(visit) if letters and letters["newest"] else {},
        advice=retry_advice,
        retried=visit.number("retried"),
        read_again=visit.query.get("repo", "")[:REPO_CHARS_MAX],
    )


async def _jobs(visit: Visit) -> dict[str, Job]:
    """Returns the last imports by their ids; none while ingest is down."""
    try:
        known = await visit.ask(JOBS, limit=JOBS_READ)
    except PrismError:
        return {}
    return {job.job: job for job in known.jobs}


def retry_advice(letter: Mapping[str, str]) -> str:
    """Returns whether a retry can help, by why the message was given up."""
    stage_name = stage(letter["consumer"]) or "the stage"
    if letter["path"] and not letter["repo"]:
        return "Retry cannot help while its repository is not known: it may have been removed."
    if letter["code"] in OUTAGES:
        return f"Retry helps once {stage_name} answers again."
    if letter["path"]:
        return "Retry reads the file again. It helps if the file or Prism has changed since."
    if letter["code"] == ErrorCode.MESSAGE_INVALID:
        return "Retry cannot help: it sends the same message, which cannot be read."
    return "Retry helps once the cause is mended."


VIEWS: Final = (
    PageView(PAGE, "GET /status", health),
    PageView(
        "/health/letters/{letter}/retry", "POST /dead-letters/{letter}/retry", retry_letter, method="POST"
    ),
    PageView("/health/letters/{letter}/drop", "DELETE /dead-letters/{letter}", drop_letter, method="POST"),
)
