"""Webhooks of the remote of the documents: signed, once each, and fetched at once."""

import asyncio
import hashlib
import hmac
import json
from datetime import UTC, datetime

import pytest

from prism_contracts import names
from prism_contracts.records import DocumentRemote, document_remote_key
from prism_runtime.records import Records, open_bucket

pytest_plugins = ["gateway_stack"]

WEBHOOK = "/api/v1/ingest/webhook"
SECRET, COMMIT = "w" * 40, "4f5e" * 10
URL = "https://git.example/acme/handbook"
RECOVERY_S = 120
LATER = datetime(2040, 1, 1, tzinfo=UTC)
KEY = document_remote_key("default")


async def remotes_of(stack) -> Records[DocumentRemote]:
    return Records(await open_bucket(stack.bus.js, names.KV_DOCUMENT_REMOTES), DocumentRemote)


async def set_remote(stack, tenant: str = "default", url: str = URL) -> DocumentRemote:
    remote = DocumentRemote(tenant=tenant, url=url, branch="main", set_at=LATER, next_at=LATER)
    await (await remotes_of(stack)).put(remote.key, remote)
    return remote


async def deliver(stack, delivery: str, *, ref: str = "refs/heads/main", secret: str = SECRET):
    """Sends a push of the forge."""
    body = json.dumps(
        {
            "ref": ref,
            "after": COMMIT,
            "repository": {
                "full_name": "acme/handbook",
                "clone_url": f"{URL}.git",
                "default_branch": "main",
            },
        }
    ).encode()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}",
    }
    async with stack.rest(**headers) as http:
        return await http.post(WEBHOOK, content=body)


@pytest.fixture
async def followed(stack):
    """The documents have a remote, and its webhook a secret; the first delivery was taken."""
    await set_remote(stack)
    async with stack.rest() as http:
        kept = await http.put("/api/v1/repos/prism/documents/secrets", json={"webhook_secret": SECRET})
    assert kept.status_code == 200, kept.text
    async with asyncio.timeout(RECOVERY_S):
        while (first := await deliver(stack, "d-1")).status_code != 202:
            await asyncio.sleep(0.05)  # until the gateway knows the remote
    assert first.json()["outcome"] == "queued"
    return stack


async def test_a_signed_push_makes_the_remote_due_once(followed) -> None:
    remotes = await remotes_of(followed)
    found = await remotes.get(KEY)
    assert (found.announced, found.next_at < LATER) == (1, True)
    assert (await deliver(followed, "d-1")).json()["outcome"] == "duplicate"
    assert (await remotes.get(found.key)).announced == 1
    assert (await deliver(followed, "d-2")).json()["outcome"] == "queued"
    assert (await remotes.get(found.key)).announced == 2
    async with followed.rest() as http:
        entries = (await http.get("/api/v1/audit")).json()["entries"]
    accepted = [one["subject"] for one in entries if one["action"] == "webhook_accepted"]
    assert accepted == ["prism/documents"] * 2


async def test_a_wrong_signature_and_other_branches_announce_nothing(followed) -> None:
    refused = await deliver(followed, "d-3", secret="x" * 40)
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "unauthenticated")
    for ref in ("refs/heads/topic", "refs/tags/v1"):
        answer = await deliver(followed, f"d-{ref}", ref=ref)
        assert (answer.status_code, answer.json()["outcome"]) == (202, "ignored")
    assert (await (await remotes_of(followed)).get(KEY)).announced == 1


async def test_a_secret_announces_no_push_to_the_documents_of_another_tenant(followed) -> None:
    other = await set_remote(followed, tenant="acme")
    async with asyncio.timeout(RECOVERY_S):
        while (await deliver(followed, "d-4")).json()["outcome"] != "queued":
            await asyncio.sleep(0.05)
    assert (await (await remotes_of(followed)).get(other.key)).announced == 0
