"""REST over HTTP: each route, and every kind of refusal."""

import asyncio
import gzip
import hashlib
import io
import json
from datetime import UTC, datetime
from typing import Any

import nats
import pytest

from prism_contracts import names, topics
from prism_contracts.base import Lane, next_repo_id, repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileChanged, FilesUploaded
from prism_contracts.records import RepositoryName, repository_key
from prism_contracts.rpc.layers import CloseOverlayRequest, CreateLayerRequest, DeleteLayerRequest
from prism_contracts.rpc.repositories import (
    ClearCacheRequest,
    RegisterRequest,
    ReindexRequest,
    RemoveRepositoryRequest,
    UpdateRepositoryRequest,
)
from prism_contracts.rpc.search import SearchReply
from prism_gateway import dead_letters
from prism_gateway.rest.ingest import PACK_OVERHEAD_BYTES
from prism_runtime.bus import Bus
from prism_runtime.codec import COMPRESSED_BYTES_MIN
from prism_runtime.letters import NO_TENANT
from prism_runtime.records import open_bucket

pytest_plugins = ["gateway_stack"]

SNAPSHOT = {
    "repo_name": "acme/app",
    "snapshot": "s1",
    "commit": "a" * 40,
    "files": [{"path": "a.py", "blob": "b" * 40, "size_bytes": 3}],
}


def error_of(response):
    assert set(response.json()) == {"error"}
    return response.json()["error"]


async def test_whoami_returns_tenant_and_scopes(stack) -> None:
    async with stack.rest() as http:
        answer = (await http.get("/api/v1/whoami")).json()
    assert answer == {
        "tenant": "default",
        "label": "bootstrap",
        "scopes": ["admin", "operator", "read", "write"],
    }


async def test_search_accepts_the_contract_without_the_tenant(stack) -> None:
    async with stack.rest() as http:
        response = await http.post("/api/v1/search", json={"query": "main", "limit": 5, "kind": "function"})
    assert SearchReply.model_validate(response.json()).results[0].file_path == "src/app.py"
    assert (stack.fake.last().tenant, stack.fake.last().limit) == ("default", 5)


@pytest.mark.parametrize(("body", "expected"), [({}, "acme/header"), ({"repo": "acme/body"}, "acme/body")])
async def test_the_repository_of_the_body_wins_over_the_header(stack, body, expected) -> None:
    async with stack.rest(**{"X-Prism-Repo": "acme/header"}) as http:
        await http.post("/api/v1/search", json={"query": "main", **body})
        assert stack.fake.last().repo == expected
        await http.post("/api/v1/grep", json={"pattern": "main", **body})
        assert stack.fake.last().repo == expected


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "x", "surprise": 1}, "surprise"),
        ({"query": "x", "tenant": "other"}, "tenant"),
        ({"query": "x", "limit": 151}, "limit"),
        ({"query": "x", "limit": "many"}, "limit"),
        ({}, "query"),
    ],
)
async def test_an_invalid_field_is_named(stack, body, field) -> None:
    async with stack.rest() as http:
        response = await http.post("/api/v1/search", json=body)
    assert response.status_code == 400
    error = error_of(response)
    assert error["code"] == "invalid_argument"
    assert error["details"]["fields"] == [field]
    assert field in error["message"]


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff"])
async def test_a_body_that_is_not_an_object_is_an_invalid_argument(stack, body) -> None:
    async with stack.rest() as http:
        response = await http.post(
            "/api/v1/search", content=body, headers={"Content-Type": "application/json"}
        )
    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_argument"


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/v1/nothing"), ("POST", "/nothing"), ("DELETE", "/api/v2/search")]
)
async def test_an_unknown_path_is_not_found(stack, method, path) -> None:
    async with stack.rest() as http:
        response = await http.request(method, path)
    assert (response.status_code, error_of(response)["code"]) == (404, "not_found")
    assert "/docs" in error_of(response)["next_action"]


async def test_an_error_of_a_service_has_its_status(stack) -> None:
    async with stack.rest() as http:
        empty = await http.post("/api/v1/search", json={"query": " "})
        unknown = await http.post("/api/v1/search", json={"query": "x", "repo": "no/such"})
    assert (empty.status_code, error_of(empty)["code"]) == (400, "empty_query")
    assert unknown.status_code == 404
    assert error_of(unknown)["details"] == {"known": ["acme/app"]}


async def test_a_service_that_is_down_is_unavailable(make_stack) -> None:
    stack = await make_stack(services=("ingest",))
    async with stack.rest() as http:
        response = await http.post("/api/v1/search", json={"query": "main"})
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) > 0
    assert error_of(response)["code"] == "unavailable"


async def test_a_slow_service_exceeds_the_deadline(make_stack) -> None:
    stack = await make_stack(rpc_timeout_s=0.2)
    async with stack.rest() as http:
        response = await http.post("/api/v1/search", json={"query": "slow"})
    assert (response.status_code, error_of(response)["code"]) == (504, "deadline_exceeded")


async def test_repositories_jobs_and_coverage(stack) -> None:
    async with stack.rest() as http:
        assert (await http.get("/api/v1/repos")).json()["repositories"][0]["name"] == "acme/app"
        assert (await http.get("/api/v1/jobs/job-1")).json()["job"]["counts"]["indexed"] == 2
        (job,) = (await http.get("/api/v1/jobs?limit=3")).json()["jobs"]
        assert "settled" not in job
        assert stack.fake.last().limit == 3
        assert (await http.get("/api/v1/jobs/none")).status_code == 404
        assert (await http.get("/api/v1/jobs?limit=0")).status_code == 400
        coverage = (await http.get("/api/v1/repos/acme/app/coverage")).json()
        assert coverage["by_reason"] == {"binary": 1}
        assert stack.fake.last().repo == "acme/app"


async def test_receipt_and_files_list_the_served_hashes(stack) -> None:
    async with stack.rest() as http:
        receipt = (await http.get("/api/v1/repos/acme/app/receipt?ref=topic&wait_for_commit=abc")).json()
        assert receipt["indexed_commit"] == "a" * 40
        asked = stack.fake.last()
        assert (asked.repo, asked.ref, asked.wait_for_commit) == ("acme/app", "topic", "abc")
        files = (await http.get("/api/v1/repos/acme/app/files?ref=topic&limit=2&cursor=3")).json()
        assert [(file["file_path"], file["blob"]) for file in files["files"]] == [
            ("src/003.py", "b" * 40),
            ("src/004.py", "b" * 40),
        ]
        asked = stack.fake.last()
        assert (asked.ref, asked.limit, asked.include_skipped) == ("topic", 2, True)
        assert (await http.get("/api/v1/repos/acme/app/files?limit=0")).status_code == 400


async def test_a_git_url_becomes_a_job(stack) -> None:
    async with stack.rest() as http:
        accepted = await http.post(
            "/api/v1/repos", json={"url": "https://example.com/acme/app.git", "ref": "main"}
        )
        refused = await http.post("/api/v1/repos", json={"url": "file:///etc"})
    assert (accepted.status_code, accepted.json()["job"]["job"]) == (202, "job-1")
    assert (refused.status_code, error_of(refused)["code"]) == (400, "clone_refused")


@pytest.mark.parametrize(("name", "status"), [("acme/new", 201), ("acme/app", 200)])
async def test_a_repository_is_registered_without_an_import(stack, name, status) -> None:
    body = {
        "url": "https://example.com/acme/app.git",
        "name": name,
        "ref": "main",
        "is_active": False,
        "repo_root_prefix": "services/api",
        "include": ["*.py"],
        "exclude": ["**/gen/**"],
    }
    async with stack.rest() as http:
        made = await http.post("/api/v1/repos", json={**body, "index": False})
    assert (made.status_code, made.json()["job"]) == (status, None)
    assert made.json()["repository"]["name"] == "acme/app"
    del body["name"]
    assert stack.fake.last() == RegisterRequest(tenant="default", repo_name=name, index=False, **body)


async def test_a_registration_can_store_the_webhook_secret(stack) -> None:
    secret = "s" * 32
    body = {"url": "https://git.example/acme/app", "webhook_secret": secret}
    async with stack.rest() as http:
        made = await http.post("/api/v1/repos", json=body)
        empty = await http.post("/api/v1/repos", json=body | {"webhook_secret": ""})
        long = await http.post("/api/v1/repos", json=body | {"webhook_secret": "s" * 1_001})
        entries = (await http.get("/api/v1/audit")).text
    assert (made.status_code, secret in made.text, secret in entries) == (202, False, False)
    assert stack.fake.last() == RegisterRequest(tenant="default", url=body["url"])
    client = await nats.connect(stack.settings.nats_url)
    secrets = await open_bucket(client.jetstream(), names.KV_SECRETS)
    assert await secrets.keys() == [repository_key("default", made.json()["repository"]["repo"])]
    await client.close()
    assert (empty.status_code, long.status_code) == (400, 400)


async def test_settings_of_a_repository_are_changed(stack) -> None:
    async with stack.rest() as http:
        changed = await http.patch("/api/v1/repos/acme/app", json={"ref": "topic", "is_active": False})
        empty = await http.patch("/api/v1/repos/acme/app", json={})
        null = await http.patch("/api/v1/repos/acme/app", json={"ref": None})
    assert (changed.status_code, changed.json()["repository"]["name"]) == (200, "acme/app")
    assert stack.fake.last() == UpdateRepositoryRequest(
        tenant="default", repo="acme/app", ref="topic", is_active=False
    )
    assert (empty.status_code, null.status_code) == (400, 400)


async def test_a_rename_needs_the_scope_admin(stack) -> None:
    await stack.change_token("prism_writer", scopes=("read", "write"))
    async with stack.rest() as http:
        renamed = await http.patch("/api/v1/repos/acme/app", json={"name": "acme/shop"})
        asked = stack.fake.last()
        bad = await http.patch("/api/v1/repos/acme/app", json={"name": "../shop"})
    async with stack.rest(Authorization="Bearer prism_writer") as http:
        refused = await http.patch("/api/v1/repos/acme/app", json={"name": "acme/shop"})
    assert renamed.status_code == 200
    assert asked == UpdateRepositoryRequest(tenant="default", repo="acme/app", name="acme/shop")
    assert (bad.status_code, error_of(bad)["details"]["fields"]) == (400, ["name"])
    assert (refused.status_code, error_of(refused)["code"]) == (403, "forbidden")


async def test_the_cache_of_a_repository_is_cleared(stack) -> None:
    async with stack.rest() as http:
        cleared = await http.post("/api/v1/repos/acme/app/cache/clear")
    assert (cleared.status_code, cleared.json()["repository"]["name"]) == (200, "acme/app")
    assert stack.fake.last() == ClearCacheRequest(tenant="default", repo="acme/app")


async def test_the_status_of_a_repository_has_its_import_and_its_files(stack) -> None:
    async with stack.rest() as http:
        status = (await http.get("/api/v1/repos/acme/app/status")).json()
        unknown = await http.get("/api/v1/repos/no/such/status")
    assert (status["state"], status["served_commit"], status["lag_seconds"]) == ("indexing", "a" * 40, 2.5)
    assert status["files"] == {"indexed": 3, "skipped": 1, "failed": 0}
    assert status["active_job"]["job"] == "job-1"
    assert "settled" not in status["active_job"]
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "repo_not_found")


async def test_a_status_needs_no_search(make_stack) -> None:
    stack = await make_stack(services=("ingest",))
    async with stack.rest() as http:
        status = await http.get("/api/v1/repos/acme/app/status")
    assert (status.status_code, status.json()["files"]) == (200, None)


@pytest.mark.parametrize("body", [None, {}, {"full": True}, {"force": True}])
async def test_an_import_is_requested(stack, body) -> None:
    async with stack.rest() as http:
        accepted = await http.post("/api/v1/repos/acme/app/index", json=body)
    assert (accepted.status_code, accepted.json()["job"]["job"]) == (202, "job-1")
    assert stack.fake.last() == ReindexRequest(tenant="default", repo="acme/app", **(body or {}))


async def test_an_unknown_field_of_an_import_is_refused(stack) -> None:
    async with stack.rest() as http:
        refused = await http.post("/api/v1/repos/acme/app/index", json={"forced": True})
    assert (refused.status_code, error_of(refused)["details"]["fields"]) == (400, ["forced"])


async def test_a_repository_is_removed(stack) -> None:
    async with stack.rest() as http:
        removed = await http.delete("/api/v1/repos/acme/app")
        unknown = await http.delete("/api/v1/repos/acme/none")
    assert (removed.status_code, removed.json()) == (200, {"repo": "acme/app", "jobs_cancelled": 1})
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "repo_not_found")
    assert stack.fake.last() == RemoveRepositoryRequest(tenant="default", repo="acme/none")


async def test_secrets_belong_to_the_repository_that_a_name_means_now(stack) -> None:
    """A removed repository does not pass its secrets on to the next one with its name."""
    removed = repo_id("acme/app")
    client = await nats.connect(stack.settings.nats_url)
    kv = await open_bucket(client.jetstream(), names.KV_REPOSITORY_NAMES)
    following = RepositoryName(tenant="default", name="acme/app", repo=next_repo_id(removed))
    await kv.put(following.key, following.model_dump_json().encode())
    async with stack.rest() as http:
        kept = await http.put("/api/v1/repos/acme/app/secrets", json={"webhook_secret": "s" * 32})
    assert kept.status_code == 200, kept.text
    secrets = await open_bucket(client.jetstream(), names.KV_SECRETS)
    assert await secrets.keys() == [repository_key("default", following.repo)]
    await client.close()


async def test_a_layer_is_created_and_deleted(stack) -> None:
    async with stack.rest() as http:
        made = await http.post("/api/v1/layers", json={"repo": "acme/app", "ref": "topic"})
        assert (made.status_code, made.json()["layer"]["ref"]) == (202, "topic")
        assert "settled" not in made.json()["job"]
        assert stack.fake.last() == CreateLayerRequest(tenant="default", repo="acme/app", ref="topic")
        gone = await http.delete("/api/v1/layers?ref=topic", headers={"X-Prism-Repo": "acme/app"})
        assert gone.status_code == 200
        assert stack.fake.last() == DeleteLayerRequest(tenant="default", repo="acme/app", ref="topic")


async def test_an_overlay_is_opened_and_closed(stack) -> None:
    files = [
        {"path": "a.py", "content": "A = 1\n"},
        {"path": "b.bin", "content_base64": "AAE="},
        {"path": "c.py", "content": None},
    ]
    async with stack.rest() as http:
        body = {"repo": "acme/app", "base_ref": "topic", "handle": "h", "files": files, "ttl_s": 60}
        opened = await http.post("/api/v1/overlays", json=body)
        assert opened.status_code == 202
        assert opened.json().keys() == {"handle", "expires_at", "files_changed", "job"}
        asked = stack.fake.last()
        assert (asked.base_ref, asked.handle, asked.ttl_s) == ("topic", "h", 60)
        assert [file.content for file in asked.files] == [b"A = 1\n", b"\0\1", None]
        assert (await http.post("/api/v1/overlays", json=body | {"ttl_s": 1})).status_code == 400
        closed = await http.delete("/api/v1/overlays/overlay:1", params={"repo": "acme/app"})
        assert closed.status_code == 200
        asked = CloseOverlayRequest(tenant="default", repo="acme/app", handle="overlay:1")
        assert stack.fake.last() == asked


@pytest.mark.parametrize("packed", [False, True])
async def test_a_snapshot_is_opened_plain_or_gzipped(stack, packed) -> None:
    body = json.dumps(SNAPSHOT).encode()
    headers = {"Content-Type": "application/json"} | ({"Content-Encoding": "gzip"} if packed else {})
    async with stack.rest() as http:
        response = await http.post(
            "/api/v1/ingest/snapshots", content=gzip.compress(body) if packed else body, headers=headers
        )
    assert response.status_code == 200
    assert response.json()["needed"] == [0]
    assert stack.fake.last().tenant == "default"
    assert stack.fake.last().files[0].path == "a.py"


async def test_a_snapshot_above_the_bus_limit_is_sent_as_a_claim(stack) -> None:
    files = [
        {"path": f"{index:06}/" + "x" * 200, "blob": "b" * 40, "size_bytes": 1} for index in range(6_000)
    ]
    async with stack.rest() as http:
        response = await http.post("/api/v1/ingest/snapshots", json={**SNAPSHOT, "files": files})
    assert len(response.json()["needed"]) == 6_000


@pytest.mark.parametrize(
    ("body", "encoding", "status", "code"),
    [
        (gzip.compress(b" " * 2_000, mtime=0), "gzip", 413, "payload_too_large"),
        (bytes(2_000), "identity", 413, "payload_too_large"),
        (b"not gzip", "gzip", 400, "invalid_argument"),
        (gzip.compress(b"{}", mtime=0)[:-4], "gzip", 400, "invalid_argument"),
        (b"{}", "br", 400, "invalid_argument"),
        (b'{"files": "none"}', "identity", 400, "invalid_argument"),
        (json.dumps({**SNAPSHOT, "surprise": 1}).encode(), "identity", 400, "invalid_argument"),
    ],
)
async def test_a_bad_snapshot_is_refused(make_stack, body, encoding, status, code) -> None:
    stack = await make_stack(snapshot_bytes_max=1_000, snapshot_unpacked_bytes_max=1_500)
    async with stack.rest() as http:
        response = await http.post(
            "/api/v1/ingest/snapshots",
            content=body,
            headers={"Content-Encoding": encoding, "Content-Type": "application/json"},
        )
    assert (response.status_code, error_of(response)["code"]) == (status, code)


@pytest.mark.parametrize("lane", ["bulk", "live"])
async def test_a_pack_is_on_the_stream_when_it_is_answered(stack, lane) -> None:
    data = b"\x00\xffpack" * 10
    digest = hashlib.sha256(data).hexdigest()
    async with stack.rest() as http:
        for _ in range(2):
            response = await http.post(
                f"/api/v1/ingest/snapshots/job-1/packs?lane={lane}",
                content=data,
                headers={"X-Prism-Pack": digest},
            )
            assert (response.status_code, response.json()) == (202, {"stored": True})
    state = (await stack.bus.js.stream_info("PRISM_UPLOADS")).state
    assert state.messages == 1
    message = await stack.bus.js.get_msg("PRISM_UPLOADS", state.last_seq)
    assert message.subject == topics.FILES_UPLOADED.subject(Lane(lane))
    assert FilesUploaded.model_validate_json(message.data) == FilesUploaded(
        tenant="default", job="job-1", pack=digest, data=data
    )


@pytest.mark.parametrize(
    ("job", "size", "answer"),
    [
        ("job-3", 1, (404, "job_not_found")),
        ("job-1", 100 + PACK_OVERHEAD_BYTES + 1, (413, "payload_too_large")),
    ],
)
async def test_a_pack_for_an_unknown_job_is_not_stored(stack, job, size, answer) -> None:
    data = b"x" * size
    headers = {"X-Prism-Pack": hashlib.sha256(data).hexdigest()}
    async with stack.rest() as http:
        response = await http.post(f"/api/v1/ingest/snapshots/{job}/packs", content=data, headers=headers)
    assert (response.status_code, error_of(response)["code"]) == answer
    assert (await stack.bus.js.stream_info("PRISM_UPLOADS")).state.messages == 0


async def test_an_ended_job_accepts_no_pack(stack) -> None:
    headers = {"X-Prism-Pack": hashlib.sha256(b"x").hexdigest()}
    async with stack.rest() as http:
        response = await http.post("/api/v1/ingest/snapshots/job-2/packs", content=b"x", headers=headers)
    assert (response.status_code, response.json()) == (202, {"stored": False})
    assert (await stack.bus.js.stream_info("PRISM_UPLOADS")).state.messages == 0


async def test_a_pack_with_a_wrong_digest_is_refused(make_stack) -> None:
    stack = await make_stack(pack_bytes_max=100)
    url = "/api/v1/ingest/snapshots/job-1/packs"
    async with stack.rest() as http:
        wrong = await http.post(url, content=b"x", headers={"X-Prism-Pack": "0" * 64})
        missing = await http.post(url, content=b"x")
        large = await http.post(url, content=b"x" * 101, headers={"X-Prism-Pack": "0" * 64})
    assert (wrong.status_code, error_of(wrong)["code"]) == (400, "upload_mismatch")
    assert (missing.status_code, error_of(missing)["code"]) == (400, "invalid_argument")
    assert (large.status_code, error_of(large)["code"]) == (413, "payload_too_large")
    assert (await stack.bus.js.stream_info("PRISM_UPLOADS")).state.messages == 0


async def test_ordinary_bodies_are_limited(make_stack) -> None:
    stack = await make_stack(json_bytes_max=1_000)
    async with stack.rest() as http:
        response = await http.post("/api/v1/search", json={"query": "x" * 1_001})
    assert (response.status_code, error_of(response)["code"]) == (413, "payload_too_large")


async def test_unknown_routes_and_methods_are_json_too(stack) -> None:
    async with stack.rest() as http:
        missing, method = await http.get("/api/v1/nothing"), await http.delete("/api/v1/search")
        outside = await http.get("/nothing")
    assert missing.status_code == outside.status_code == 404
    assert method.status_code == 405
    for response in (missing, method, outside):
        assert error_of(response)["next_action"]


async def test_the_openapi_page_describes_the_api(stack) -> None:
    async with stack.rest(Authorization="") as http:
        assert (await http.get("/docs")).status_code == 200
        schema = (await http.get("/openapi.json")).json()
    body = schema["components"]["schemas"]["SearchBody"]
    assert "tenant" not in body["properties"]
    assert "query" in body["required"]
    assert "/api/v1/ingest/snapshots/{job}/packs" in schema["paths"]
    assert schema["components"]["schemas"]["SnapshotBody"]["properties"]["files"]


@pytest.mark.parametrize("path", ["/api/v1/layers?ref=topic", "/api/v1/overlays/overlay:0123"])
async def test_a_missing_repository_is_an_invalid_argument(stack, path) -> None:
    async with stack.rest() as http:
        response = await http.delete(path)
    assert (response.status_code, error_of(response)["code"]) == (400, "invalid_argument")
    assert "repo" in error_of(response)["message"]


async def test_health_needs_no_token(stack) -> None:
    async with stack.rest(Authorization="") as http:
        for path in ("/livez", "/readyz", "/metrics"):
            assert (await http.get(path)).status_code == 200, path
        ready = (await http.get("/readyz")).json()
    assert ready == {
        "status": "ok",
        "checks": {"nats": "ok"},
        "optional": {"jetstream": "ok", "tokens": "ok", "search": "ok"},
    }


async def test_status_reports_every_part(stack) -> None:
    await stack.bus.js.publish(
        names.dead_letter_subject("default", "S", "c"),
        json.dumps({"tenant": "default", "path": "src/bad.py"}).encode(),
        headers={
            "Prism-Subject": "prism.bulk.file.changed",
            "Prism-Consumer": "chunker-bulk-file-changed",
            "Prism-Code": "internal",
            "Prism-Reason": "boom",
        },
    )
    others = names.dead_letter_subject("other", "S", "c")
    await stack.bus.js.publish(others, b'{"tenant": "other", "path": "secret.py"}')
    unknown = names.dead_letter_subject(NO_TENANT, "S", "c")
    await stack.bus.js.publish(unknown, b"garbage", headers={"Prism-Reason": "secret"})
    async with stack.rest() as http:
        status = (await http.get("/api/v1/status")).json()
    assert status["errors"] == {}
    assert {stream["name"] for stream in status["streams"]} == {stream.name for stream in topics.STREAMS}
    assert status["points"] == {"total": 9}
    base, layer = status["repositories"][0]["layers"]
    assert base == {
        "layer": "base",
        "kind": "base",
        "ref": "main",
        "commit": "a" * 40,
        "head_commit": "",
        "points": 9,
        "files_lost": 0,
        "files": 3,
        "indexed_at": "2026-01-02T03:04:05+00:00",
        "lag_seconds": 0.0,
        "expires_at": None,
    }
    assert layer == {
        "layer": "l1",
        "kind": "branch",
        "ref": "topic",
        "commit": "b" * 40,
        "head_commit": "",
        "points": 4,
        "files_lost": 0,
        "files": 2,
        "indexed_at": "2026-01-02T03:04:05+00:00",
        "lag_seconds": layer["lag_seconds"],
        "expires_at": "2026-01-02T03:04:05+00:00",
    }
    assert layer["lag_seconds"] > 0  # the base has moved since
    assert status["repositories"][0]["points"] == 9
    assert status["jobs"][0]["job"] == "job-1"
    letters = status["dead_letters"]
    assert datetime.fromisoformat(letters["newest"][0].pop("at")) <= datetime.now(UTC)
    assert letters == {
        "messages": 1,
        "newest": [
            {
                "letter": 1,
                "subject": "prism.bulk.file.changed",
                "consumer": "chunker-bulk-file-changed",
                "code": "internal",
                "reason": "boom",
                "repo": "",
                "path": "src/bad.py",
                "job": "",
            }
        ],
    }
    assert "secret" not in json.dumps(status)


async def test_status_shows_dead_letters_of_compressed_events(stack) -> None:
    async def refuse(_: FileChanged) -> None:
        raise PrismError(ErrorCode.MESSAGE_INVALID, "vectors are missing")

    sent = asyncio.Queue()
    client = await nats.connect(stack.settings.nats_url)
    await client.subscribe(topics.FILE_CHANGED.subject(Lane.LIVE), cb=sent.put)
    await client.flush()
    chunker = Bus("chunker", stack.settings)
    chunker.consume(topics.FILE_CHANGED, refuse, workers=1)
    await chunker.start()
    try:
        for number, tenant in enumerate(("default", "other")):
            await stack.bus.publish(large_file(tenant, number))
        async with asyncio.timeout(120):
            while (await stack.bus.js.stream_info(names.DEAD_LETTERS)).state.messages < 2:
                await asyncio.sleep(0.01)
    finally:
        await chunker.stop()
        await client.close()
    assert "zstd" in (await sent.get()).headers["content-type"]
    async with stack.rest() as http:
        letters = (await http.get("/api/v1/status")).json()["dead_letters"]
    assert letters["messages"] == 1
    [letter] = letters["newest"]
    assert letter["path"] == "src/default.py"
    assert letter["code"] == "message_invalid"
    assert "vectors are missing" in letter["reason"]


def large_file(tenant: str, ordinal: int) -> FileChanged:
    text = "x = 1\n" * COMPRESSED_BYTES_MIN
    return FileChanged(
        tenant=tenant, repo="r", path=f"src/{tenant}.py", version=1, job="j", ordinal=ordinal, lane=Lane.LIVE,
        blob="b" * 40, size_bytes=len(text), text=text,
    )  # fmt: skip


async def bury(stack, tenant: str = "default", **body: object) -> int:
    """Stores a dead letter. Returns its number."""
    subject = names.dead_letter_subject(tenant, "S", "c")
    ack = await stack.bus.js.publish(subject, json.dumps({"tenant": tenant, **body}).encode())
    return ack.seq


async def listed_letters(stack, token: str = "", **params: object) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with stack.rest(**headers) as http:
        return (await http.get("/api/v1/dead-letters", params=params)).json()


async def test_dead_letters_are_listed_the_newest_first(stack) -> None:
    numbers = [await bury(stack, repo="r1", path=f"{number}.py") for number in range(3)]
    await bury(stack, tenant="other", path="secret.py")
    found = await listed_letters(stack, limit=2)
    assert found["messages"] == 3
    assert [one["letter"] for one in found["newest"]] == [numbers[2], numbers[1]]
    assert {one["repo"] for one in found["newest"]} == {"acme/app"}


async def test_a_limited_token_sees_letters_of_its_repositories_only(stack) -> None:
    await bury(stack, repo="r1", path="seen.py")
    await bury(stack, repo="r9", path="hidden.py")
    await bury(stack, path="of-none.py")
    secret = "prism_" + "l" * 40
    await stack.change_token(secret, tenant="default", scopes=("read",), repos=("acme/app",))
    found = await listed_letters(stack, secret)
    assert (found["messages"], [one["path"] for one in found["newest"]]) == (1, ["seen.py"])


async def test_many_letters_are_read_from_the_end(stack, monkeypatch) -> None:
    monkeypatch.setattr(dead_letters, "READ_MAX", 2)
    monkeypatch.setattr(dead_letters, "READ_AT_ONCE", 2)
    numbers = [await bury(stack, path=f"{number}.py") for number in range(4)]
    found = await listed_letters(stack)
    assert (found["messages"], [one["letter"] for one in found["newest"]]) == (4, numbers[:1:-1])


async def test_letters_are_listed_while_ingest_is_down(make_stack) -> None:
    stack = await make_stack(services=("search",))
    await bury(stack, repo="r1", path="a.py")
    [letter] = (await listed_letters(stack))["newest"]
    assert (letter["repo"], letter["path"]) == ("", "a.py")
    async with stack.rest() as http:
        refused = await http.post(f"/api/v1/dead-letters/{letter['letter']}/retry")
    assert refused.status_code == 503
    assert refused.json()["error"]["next_action"]
    assert (await listed_letters(stack))["messages"] == 1


async def test_a_letter_is_retried_and_dropped_by_its_number(stack) -> None:
    stack.fake.letters = {7}
    async with stack.rest() as http:
        retried = await http.post("/api/v1/dead-letters/7/retry")
        dropped = await http.delete("/api/v1/dead-letters/7")
        gone = await http.delete("/api/v1/dead-letters/8")
        none = await http.delete("/api/v1/dead-letters/0")
    assert (retried.status_code, retried.json()["job"]["job"]) == (202, "job-1")
    assert "settled" not in retried.json()["job"]
    assert (dropped.status_code, dropped.json()["file_path"]) == (200, "src/bad.py")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "letter_not_found")
    assert none.status_code == 400


@pytest.mark.parametrize("scopes", [("read",), ("write",), ("read", "write")])
async def test_only_an_admin_retries_and_drops_letters(stack, scopes) -> None:
    secret = "prism_" + "n" * 40
    await stack.change_token(secret, tenant="default", scopes=scopes)
    stack.fake.letters = {7}
    async with stack.rest(Authorization=f"Bearer {secret}") as http:
        for answer in (
            await http.post("/api/v1/dead-letters/7/retry"),
            await http.delete("/api/v1/dead-letters/7"),
        ):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert not stack.fake.asked


async def test_status_lists_unreachable_parts(make_stack) -> None:
    stack = await make_stack(services=("search",))
    async with stack.rest() as http:
        response = await http.get("/api/v1/status")
    assert response.status_code == 200
    status = response.json()
    assert status["errors"] == {"jobs": "unavailable", "repositories": "unavailable"}
    assert status["jobs"] is None
    assert status["repositories"] is None
    assert status["points"] == {"total": 9}


async def test_status_works_without_nats(make_stack, nats_server) -> None:
    stack = await make_stack(status_timeout_s=0.5)
    async with stack.rest() as http:
        assert (await http.get("/api/v1/whoami")).status_code == 200
        nats_server.kill()
        try:
            async with asyncio.timeout(120):
                status = (await http.get("/api/v1/status")).json()
            assert set(status["errors"]) == {"streams", "dead_letters", "points", "jobs", "repositories"}
        finally:
            nats_server.start()
            await stack.reconnected()


SCIP = "/api/v1/ingest/scip"


@pytest.mark.parametrize("size", [0, 10, 5 * 1024 * 1024], ids=["empty", "small", "on disk"])
async def test_a_scip_index_reaches_ingest_unchanged(stack, size) -> None:
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    query = {"repo": "acme/app", "commit": "c" * 40, "root": "packages/app"}
    async with stack.rest() as http:
        response = await http.post(SCIP, params=query, content=data)
    assert (response.status_code, response.json()["uses"]) == (200, 3)
    asked = stack.fake.last()
    assert (asked.tenant, asked.repo, asked.commit, asked.root) == ("default", *query.values())
    file = io.BytesIO()
    await stack.bus.codec.read_file(asked.object, file)
    assert file.getvalue() == data


async def test_a_scip_index_needs_a_commit_and_a_write_token(stack) -> None:
    async with stack.rest() as http:
        assert (await http.post(SCIP, params={"repo": "acme/app"}, content=b"x")).status_code == 400
    async with stack.rest(Authorization="Bearer prism_wrong") as http:
        assert (await http.post(SCIP, params={"commit": "c"}, content=b"x")).status_code == 401


async def test_scip_indexes_are_listed_and_removed(stack) -> None:
    async with stack.rest() as http:
        listed = await http.get(SCIP, params={"repo": "acme/app"})
        assert (listed.status_code, [one["indexer"] for one in listed.json()["indexes"]]) == (
            200,
            ["scip-python"],
        )
        query = {"repo": "acme/app", "indexer": "scip-python", "root": "packages/app"}
        removed = await http.delete(SCIP, params=query)
        assert (removed.status_code, removed.json()["removed"]["files"]) == (200, 3)
        asked = stack.fake.last()
        assert (asked.repo, asked.indexer, asked.root) == tuple(query.values())
        unknown = await http.delete(SCIP, params=query | {"indexer": "scip-go"})
        assert (unknown.status_code, error_of(unknown)["code"]) == (404, "scip_not_found")
        assert (await http.delete(SCIP, params={"repo": "acme/app"})).status_code == 400


async def test_a_full_disk_refuses_writes_and_answers_reads(make_stack, tmp_path) -> None:
    stack = await make_stack(disk_dir=str(tmp_path), disk_free_bytes_min=2**62)
    writes = [
        ("POST", "/api/v1/repos", {"url": "https://example.com/a/b.git"}),
        ("POST", "/api/v1/ingest/snapshots", {"repo_name": "a/b", "snapshot": "s", "commit": "c" * 40, "files": []}),
        ("POST", "/api/v1/ingest/file", {"repo": "acme/parcels", "path": "a.py", "content": "A = 1\n"}),
        ("POST", "/api/v1/overlays", {"repo": "acme/parcels", "files": [{"path": "a.py", "content": "A = 1\n"}]}),
    ]  # fmt: skip
    async with stack.rest() as http:
        for method, path, body in writes:
            refused = await http.request(method, path, json=body)
            assert (refused.status_code, error_of(refused)["code"]) == (507, "disk_full"), path
        assert (await http.post("/api/v1/search", json={"query": "parcel"})).status_code == 200


async def test_running_work_waits_for_disk_space(make_stack, tmp_path) -> None:
    stack = await make_stack(disk_dir=str(tmp_path), disk_free_bytes_min=2**62)
    pack = FilesUploaded(tenant="default", job="job-1", pack="0" * 64, data=b"x")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await stack.bus.publish(pack, lane=Lane.BULK)
    assert (await stack.bus.js.stream_info("PRISM_UPLOADS")).state.messages == 0
