"""The answer of `GET /api/v1/status`: streams, dead letters, points, repositories, jobs.

Each part is fetched on its own. A part that fails is None, and `errors` has the reason.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError

from prism_contracts import names, topics
from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Indexed, Layer, Repository
from prism_contracts.rpc.files import POINT_COUNTS, LayerPoints, PointCountsReply, PointCountsRequest
from prism_contracts.rpc.imports import JOBS, JobsReply, JobsRequest
from prism_gateway.backend import Backend
from prism_gateway.scopes import TokenScope

JOBS_SHOWN_MAX = 20
DEAD_LETTERS_SHOWN_MAX = 20
DEAD_LETTERS_READ_MAX = 200  # the newest letters of all tenants that are read
REASON_CHARS_MAX = 300

Part = Callable[[], Awaitable[Any]]
Counts = Mapping[tuple[str, str], LayerPoints]  # by repository and layer


async def status_of(backend: Backend, js: JetStreamContext, timeout_s: float) -> dict[str, Any]:
    """Returns the status of what a caller may see, as JSON."""
    tenant = backend.caller.tenant
    errors: dict[str, str] = {}

    async def part(name: str, ask: Part) -> Any:
        try:
            async with asyncio.timeout(timeout_s):
                return await ask()
        except PrismError as error:
            errors[name] = error.code.value
        except TimeoutError:
            errors[name] = ErrorCode.DEADLINE_EXCEEDED.value
        except NatsError:
            errors[name] = ErrorCode.UNAVAILABLE.value
        return None

    streams, letters, points, known = await asyncio.gather(
        part("streams", lambda: _streams(js, backend)),
        part("dead_letters", lambda: _dead_letters(js, backend)),
        part("points", lambda: backend.ask(POINT_COUNTS, PointCountsRequest(tenant=tenant))),
        part("jobs", lambda: backend.ask(JOBS, JobsRequest(tenant=tenant, limit=JOBS_SHOWN_MAX))),
    )
    if known is None:
        errors["repositories"] = errors["jobs"]
    return {
        "streams": streams,
        "dead_letters": letters,
        "points": {"total": points.total} if points else None,
        "repositories": _repositories(known, points),
        "jobs": [job.model_dump(mode="json", exclude={"settled"}) for job in known.jobs] if known else None,
        "errors": errors,
    }


async def _streams(js: JetStreamContext, backend: Backend) -> list[dict[str, Any]]:
    """Returns the streams, which all tenants share, for an operator; none for others."""
    if TokenScope.OPERATOR not in backend.caller.scopes:
        return []
    return list(await asyncio.gather(*(_stream(js, stream.name) for stream in topics.STREAMS)))


async def _stream(js: JetStreamContext, name: str) -> dict[str, Any]:
    info, consumers = await asyncio.gather(js.stream_info(name), js.consumers_info(name))
    return {
        "name": name,
        "messages": info.state.messages,
        "bytes": info.state.bytes,
        "consumers": [
            {
                "name": consumer.name,
                "pending": consumer.num_pending,
                "ack_pending": consumer.num_ack_pending,
                "redelivered": consumer.num_redelivered,
            }
            for consumer in consumers
        ],
    }


async def _dead_letters(js: JetStreamContext, backend: Backend) -> dict[str, Any]:
    """Returns the number of dead letters that the caller may see, and the newest.

    For a caller with a list of repositories, only the newest letters are counted.
    """
    seen = await _repositories_seen(backend)
    subjects = names.dead_letter_subject(backend.caller.tenant, "*", "*")
    state = (await js.stream_info(names.DEAD_LETTERS, subjects_filter=subjects)).state
    messages = sum((state.subjects or {}).values())
    newest: list[dict[str, Any]] = []
    last = state.last_seq
    first = max(state.first_seq, last - DEAD_LETTERS_READ_MAX + 1)
    while last >= first and len(newest) < min(messages, DEAD_LETTERS_SHOWN_MAX):
        batch = range(last, max(first, last - DEAD_LETTERS_SHOWN_MAX + 1) - 1, -1)
        letters = await asyncio.gather(*(_letter(js, seq) for seq in batch))
        newest += [
            shown for letter in letters if letter and (shown := _shown(letter, backend.caller.tenant, seen))
        ]
        last = batch[-1] - 1
    if seen is not None:
        messages = len(newest)
    return {"messages": messages, "newest": newest[:DEAD_LETTERS_SHOWN_MAX]}


async def _repositories_seen(backend: Backend) -> frozenset[str] | None:
    """Returns the ids of the repositories that the caller may see; None for all of its tenant."""
    if backend.visible is None:
        return None
    known = await backend.ask(JOBS, JobsRequest(tenant=backend.caller.tenant, limit=1))
    return frozenset(repository.repo for repository in known.repositories)


async def _letter(js: JetStreamContext, seq: int) -> RawStreamMsg | None:
    try:
        return await js.get_msg(names.DEAD_LETTERS, seq)
    except NotFoundError:  # deleted
        return None


def _shown(letter: RawStreamMsg, tenant: str, seen: frozenset[str] | None) -> dict[str, Any] | None:
    """Returns a dead letter as a caller of the tenant sees it, or None if it may not see it."""
    event = _event(letter)
    if event.get("tenant") != tenant or (seen is not None and event.get("repo") not in seen):
        return None
    headers = letter.headers or {}
    return {
        "subject": headers.get("Prism-Subject", ""),
        "code": headers.get("Prism-Code", ""),
        "reason": headers.get("Prism-Reason", "")[:REASON_CHARS_MAX],
        "path": str(event.get("path", "")),
    }


def _event(letter: RawStreamMsg) -> dict[str, Any]:
    try:
        event = json.loads(letter.data or b"")
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _repositories(known: JobsReply | None, points: PointCountsReply | None) -> list[dict[str, Any]] | None:
    if known is None:
        return None
    counts = {(one.repo, one.layer): one for one in points.layers} if points else {}
    return [
        {
            "name": repository.name,
            "repo": repository.repo,
            "source": repository.source,
            "ref": repository.ref,
            "head_commit": repository.head_commit,
            "head_seen_at": repository.head_seen_at.isoformat() if repository.head_seen_at else None,
            "points": points.repositories.get(repository.repo, 0) if points else None,
            "layers": _layers(repository, known.layers, counts),
        }
        for repository in known.repositories
    ]


def _layers(repository: Repository, layers: Iterable[Layer], counts: Counts) -> list[dict[str, Any]]:
    """Returns the served base and the other layers.

    A layer that serves nothing yet has no commit and no points.
    """
    now = datetime.now(UTC)
    base = [_base(repository, counts, now)] if repository.served else []
    return [
        *base,
        *(_layer(layer, repository, counts, now) for layer in layers if layer.repo == repository.repo),
    ]


def _base(repository: Repository, counts: Counts, now: datetime) -> dict[str, Any]:
    return {
        **_state(repository, counts.get((repository.repo, BASE_LAYER))),
        "layer": BASE_LAYER,
        "kind": BASE_LAYER,
        "ref": repository.served.ref if repository.served else "",
        "lag_seconds": repository.lag_s(now),
        "expires_at": None,
    }


def _layer(layer: Layer, repository: Repository, counts: Counts, now: datetime) -> dict[str, Any]:
    return {
        **_state(layer, counts.get((layer.repo, layer.layer))),
        "layer": layer.layer,
        "kind": layer.kind.value,
        "ref": layer.ref,
        "lag_seconds": layer.behind_s(repository, now),
        "expires_at": layer.expires_at.isoformat() if layer.expires_at else None,
    }


def _state(indexed: Indexed, count: LayerPoints | None) -> dict[str, Any]:
    """Returns the served state with its points and files; None where the counts are unknown."""
    served = indexed.served
    return {
        "commit": served.commit if served else "",
        "head_commit": indexed.head_commit,
        "indexed_at": served.indexed_at.isoformat() if served else None,
        "points": count.points if count else None,
        "files": count.files if count else None,
        "files_lost": count.lost if count else None,
    }
