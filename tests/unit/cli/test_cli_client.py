"""Every answer of a server, and every silence, becomes a reply or an error with a code and a next action."""

import gzip
import hashlib
import json

import httpx
import pytest
from cli_server import Server, job_json, make_job

from prism_cli.exits import CommandError, Exit
from prism_contracts.records import JobState
from prism_contracts.rpc.imports import OpenSnapshotRequest, SnapshotFile

ERROR = {
    "error": {
        "code": "repo_not_found",
        "message": "There is no repository a/b.",
        "next_action": "Choose one of: c/d.",
        "details": {"known": ["c/d"]},
    }
}


async def failure(server: Server, call: str = "status", *arguments: object) -> CommandError:
    async with server.prism() as prism:
        with pytest.raises(CommandError) as caught:
            await getattr(prism, call)(*arguments)
    return caught.value


async def test_error_body_is_shown_unchanged(server: Server):
    server.answers = [httpx.Response(404, json=ERROR)]
    error = await failure(server)
    assert (error.code, error.message) == ("repo_not_found", "There is no repository a/b.")
    assert error.next_action == "Choose one of: c/d."
    assert error.details == {"known": ["c/d"]}
    assert error.exit_code is Exit.FAILED


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(502, text="<html>Bad gateway</html>"),
        httpx.Response(404, json={"detail": "Not Found"}),
        httpx.Response(404, json=["error"]),
        httpx.Response(302, headers={"Location": "http://elsewhere.test"}),
        httpx.Response(400, json={"error": {"code": "of_a_newer_version", "message": "?"}}),
    ],
)
async def test_an_answer_of_something_else_is_readable(server: Server, answer: httpx.Response):
    server.answers = [answer]
    error = await failure(server)
    assert error.code == f"http_{answer.status_code}"
    assert str(answer.status_code) in error.message
    assert "PRISM_URL" in error.next_action


async def test_unauthenticated_caller_is_pointed_to_the_token(server: Server):
    server.answers = [httpx.Response(401, json={"error": {"code": "unauthenticated", "message": "No."}})]
    assert "PRISM_TOKEN" in (await failure(server)).next_action


@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ReadTimeout("")])
async def test_no_answer_means_not_running(server: Server, error: Exception):
    server.answers = [error]
    error = await failure(server)
    assert error.exit_code is Exit.NOT_RUNNING
    assert "http://prism.test" in error.message


async def test_a_question_is_sent_once(server: Server):
    server.answers = [httpx.Response(503, json=ERROR)]
    await failure(server, "search", "q", "", 5)
    assert len(server.requests) == 1


async def test_a_step_of_a_task_outlasts_outages_and_busy_answers(server: Server):
    server.answers = [
        httpx.ConnectError("refused"),
        httpx.Response(503, json=ERROR),
        httpx.Response(429, json=ERROR, headers={"Retry-After": "2"}),
        httpx.Response(200, json=job_json(make_job(JobState.COMPLETE))),
    ]
    async with server.prism() as prism:
        assert (await prism.job("j1")).state is JobState.COMPLETE
    assert len(server.requests) == 4


async def test_permanent_errors_are_not_retried(server: Server):
    server.answers = [httpx.Response(409, json=ERROR)]
    await failure(server, "job", "j1")
    assert len(server.requests) == 1


async def test_a_retry_after_beyond_the_budget_ends_the_retries(server: Server):
    server.answers = [httpx.Response(429, json=ERROR, headers={"Retry-After": "3600"})]
    assert (await failure(server, "job", "j1")).code == "repo_not_found"
    assert len(server.requests) == 1


async def test_snapshot_is_sent_compressed_and_without_a_tenant(server: Server):
    server.answers = [httpx.Response(200, json={**job_json(make_job()), "needed": [0]})]
    file = SnapshotFile(path="a.py", blob="0" * 40, size_bytes=1)
    request = OpenSnapshotRequest(tenant="", repo_name="o/n", snapshot="s", commit="c", files=(file,))
    async with server.prism() as prism:
        reply = await prism.open_snapshot(request)
    assert reply.needed == (0,)
    sent = server.requests[0]
    assert sent.headers["Content-Encoding"] == "gzip"
    assert sent.headers["Authorization"] == "Bearer secret"
    body = json.loads(gzip.decompress(sent.content))
    assert "tenant" not in body
    assert body["files"][0]["path"] == "a.py"


async def test_pack_is_sent_with_its_digest(server: Server):
    server.answers = [httpx.Response(202, json={"stored": True})]
    async with server.prism() as prism:
        await prism.send_pack("j1", b"pack")
    sent = server.requests[0]
    assert sent.url.path == "/api/v1/ingest/snapshots/j1/packs"
    assert sent.headers["X-Prism-Pack"] == hashlib.sha256(b"pack").hexdigest()
