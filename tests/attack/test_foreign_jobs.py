"""One tenant cannot affect the imports of another."""

import hashlib
import uuid

import pytest
from figures import Figures
from running_stack import RunningStack

JUNK = b"no pack at all"


@pytest.mark.parametrize("is_known", [True, False], ids=["another tenant's job", "a made-up job"])
async def test_a_pack_for_a_foreign_job_is_refused(
    stack: RunningStack, figures: Figures, is_known: bool
) -> None:
    other = await stack.of_tenant(f"stranger-{uuid.uuid4().hex[:8]}")
    name = f"acme/imported-{uuid.uuid4().hex[:8]}"
    job, needed = stack.open_snapshot(name, {"a.py": b"VALUE = 1\n"})
    target = job["job"] if is_known else str(uuid.uuid4())
    with other.http() as http:
        answer = http.post(
            f"/api/v1/ingest/snapshots/{target}/packs",
            content=JUNK,
            headers={"X-Prism-Pack": hashlib.sha256(JUNK).hexdigest()},
        )
    stack.send_pack(job["job"], dict.fromkeys(needed, b"VALUE = 1\n"))
    ended = stack.ended_job(job["job"])
    figures.add(
        f"a pack of another tenant for {'a running' if is_known else 'an unknown'} job",
        f"{answer.status_code}, the victim's job ends {ended['state']}",
        "404, complete",
    )
    assert answer.status_code == 404, answer.text
    assert answer.json()["error"]["code"] == "job_not_found"
    assert ended["state"] == "complete", ended


async def test_a_status_counts_only_its_tenant(stack: RunningStack, figures: Figures) -> None:
    before = (await stack.of_tenant("counting")).get("/api/v1/status")["dead_letters"]
    job, needed = stack.open_snapshot(f"acme/poison-{uuid.uuid4().hex[:8]}", {"a.py": b"VALUE = 2\n"})
    assert needed
    # The right tenant, but wrong content: the pack becomes a dead letter, and the job of this tenant fails.
    stack.send_pack(job["job"], {7: b"of no file"})
    assert stack.ended_job(job["job"])["state"] == "failed"
    after = (await stack.of_tenant("counting")).get("/api/v1/status")["dead_letters"]
    figures.add("dead letters that another tenant's status shows", f"{before} before, {after} after", "equal")
    assert after == before
