"""A scripted transport that answers without a server."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx

from prism_cli.client import Prism
from prism_cli.target import ServerTarget
from prism_contracts.base import Lane
from prism_contracts.records import Job, JobCounts, JobState

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Server:
    """Plays answers in order, repeats the last one, and records the requests."""

    def __init__(self) -> None:
        self.answers: list[httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]] = []
        self.requests: list[httpx.Request] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)

    def prism(self) -> Prism:
        return Prism(ServerTarget("http://prism.test", "secret"), httpx.MockTransport(self.handle))


def make_job(state: JobState = JobState.INDEXING, expected: int = 0, **counts: int) -> Job:
    return Job(
        job="j1",
        tenant="default",
        repo="r1",
        repo_name="owner/name",
        lane=Lane.BULK,
        state=state,
        expected=expected,
        counts=JobCounts(**counts),
        created_at=NOW,
        updated_at=NOW,
    )


def job_json(job: Job) -> dict[str, Any]:
    return {"job": job.model_dump(mode="json", exclude={"settled"})}
