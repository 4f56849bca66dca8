"""A tenant from its creation to its removal, with the command line, on a whole stack."""

import pytest
from nats.js import JetStreamContext
from nats.js.errors import NoKeysError
from running_stack import Json, RunningStack, until
from source_repos import GitRepo

from prism_contracts.names import KV_LAYERS, KV_REPOSITORIES, KV_SECRETS

NAME = "acme/parcels"
FILES = {"parcels.py": "def weigh_parcel(parcel):\n    return parcel.grams\n", "README.md": "# Parcels\n"}


async def test_a_tenant_is_created_used_and_removed(shared_stack: RunningStack, make_repo) -> None:
    repo: GitRepo = make_repo(files=FILES)
    ours = await shared_stack.of_tenant("staying")
    created = shared_stack.prism_json(
        "tenants", "create", "leaving", "--plan", "team", "--limit", "overlays=7"
    )
    assert created["tenant"]["limits_in_effect"]["overlays"] == 7
    theirs = RunningStack(shared_stack.data, **shared_stack._settings, PRISM_TOKEN=created["secret"])
    theirs.url, theirs.token = shared_stack.url, created["secret"]
    for stack in (ours, theirs):
        stack.index(repo.folder, "--name", NAME)
    before = lines(ours)
    assert lines(theirs) == before
    removed = shared_stack.prism_json("tenants", "remove", "leaving", "--yes")["removal"]["removed"]
    assert removed["repositories"] == 1
    assert removed["tokens"] == 1
    assert removed["points"] >= len(FILES)
    assert not theirs.is_known()
    assert lines(ours) == before
    listed = shared_stack.prism_json("tenants", "list")["tenants"]
    assert next(one for one in listed if one["id"] == "leaving")["removal"]
    with shared_stack.qdrant() as http:
        known = [one["name"] for one in http.get("/collections").json()["result"]["collections"]]
    assert not [name for name in known if name.startswith("prism_leaving")]
    async with shared_stack.jetstream() as js:
        for bucket in (KV_REPOSITORIES, KV_LAYERS, KV_SECRETS):
            assert not [key for key in await keys(js, bucket) if key.startswith("leaving.")]


@pytest.mark.parametrize("killed", ["ingest", "indexer"])
async def test_a_removal_is_finished_after_a_kill(breakable_stack: RunningStack, killed: str) -> None:
    stack, tenant = breakable_stack, f"killed-{killed}"
    theirs = await stack.of_tenant(tenant)
    theirs.send(NAME, {f"src/{number}.py": f"weight_{number} = 1\n".encode() for number in range(200)})
    restarts = stack.state()["services"][killed]["restarts"]
    with stack.http() as http:
        with stack.stopped("indexer"):
            assert http.delete(f"/api/v1/tenants/{tenant}").status_code == 202
            if killed == "ingest":
                stack.kill("ingest")
        if killed == "indexer":
            stack.kill("indexer")
    stack.wait_restarted(killed, restarts + 1)
    await until(lambda: removal_of(stack, tenant)["deleted_at"], what="its data is deleted")
    assert removal_of(stack, tenant)["removed"]["points"] >= 200
    with stack.qdrant() as http:
        known = [one["name"] for one in http.get("/collections").json()["result"]["collections"]]
    assert not [name for name in known if name.startswith(f"prism_{tenant}_")]


def removal_of(stack: RunningStack, tenant: str) -> Json:
    return stack.get(f"/api/v1/tenants/{tenant}")["removal"]


async def keys(js: JetStreamContext, bucket: str) -> list[str]:
    try:
        return await (await js.key_value(bucket)).keys()
    except NoKeysError:
        return []


def lines(stack: RunningStack) -> list[tuple[str, int]]:
    with stack.http() as http:
        found = http.post("/api/v1/grep", json={"pattern": "parcel", "repo": NAME}).json()
    assert found["matches"]
    return [(match["file_path"], match["line"]) for match in found["matches"]]
