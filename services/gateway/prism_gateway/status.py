"""The answer of `GET /api/v1/status`: streams, dead letters, points, repositories, jobs.

Each part is fetched on its own. A part that fails is None, and `errors` has the reason.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from prism_contracts import topics
from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Indexed, Layer, Repository
from prism_contracts.rpc.files import POINT_COUNTS, LayerPoints, PointCountsReply, PointCountsRequest
from prism_contracts.rpc.imports import JOBS, JobsReply, JobsRequest
from prism_gateway.backend import Backend
from prism_gateway.dead_letters import dead_letters
from prism_gateway.scopes import TokenScope

JOBS_SHOWN_MAX = 20

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
        part("dead_letters", lambda: dead_letters(js, backend)),
        part("points", lambda: backend.ask(POINT_COUNTS, PointCountsRequest(tenant=tenant))),
        part("jobs", lambda: backend.ask(JOBS, JobsRequest(tenant=tenant, limit=JOBS_SHOWN_MAX))),
    )
    if known is None:
        errors["repositories"] = errors["jobs"]
    return {
        "streams": streams,
        "dead_letters": letters.model_dump(mode="json") if letters else None,
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
