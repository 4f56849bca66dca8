"""A compiler's index overrides references and graph edges while its files are unchanged."""

import asyncio

import pytest
from running_stack import WAIT_SECONDS_MAX
from scip_files import DEPOT, FILES, index, parcels

REPO = "acme/parcels"


@pytest.fixture
def repo(shared_stack, make_repo):
    made = make_repo("parcels", dict(FILES))
    shared_stack.index(made.folder, "--name", REPO)
    return made


def write_index(folder, *documents) -> str:
    path = folder / "index.scip"
    path.write_bytes(index(*(documents or parcels())))
    return str(path)


async def callers(stack) -> set[tuple[str, str, str]]:
    async with stack.agent(REPO) as agent:
        answer = await agent.ask("find_references", symbols=["Zone.rate"])
    (answer,) = answer["answers"]
    return {
        (one["file_path"], one["status"], one["strategy"])
        for group in answer["groups"].values()
        for one in group
    }


async def walked(stack, expected: set[tuple[str, str, str]], commit: str) -> None:
    """Waits until these are the callers in the graph of a commit."""
    async with asyncio.timeout(WAIT_SECONDS_MAX), stack.agent(REPO) as agent:
        while True:
            found, code = await agent.outcome("get_call_hierarchy", symbol="Zone.rate")
            assert code in {"", "graph_not_built"}, code
            if found and found["receipt"]["graph_commit"] == commit:
                branches = [(one["node"]["file_path"], one["via"]) for one in found["branches"]]
                if {(path, via["status"], via["strategy"]) for path, via in branches} == expected:
                    return
            await asyncio.sleep(0.05)


async def test_scip_index_is_used_until_a_file_changes(shared_stack, repo, tmp_path) -> None:
    guessed = {("parcels/depot.py", "candidate", "name")}
    assert await callers(shared_stack) == guessed
    await walked(shared_stack, guessed, repo.head)
    sent = (write_index(tmp_path), "--repo", REPO, "--commit", repo.head)
    stored = shared_stack.prism_json("scip", *sent)
    assert (stored["stored"], stored["files"], stored["uses"]) == (True, 3, 1)
    known = {("parcels/depot.py", "resolved", "scip")}
    assert await callers(shared_stack) == known
    await walked(shared_stack, known, repo.head)
    assert shared_stack.get(f"/api/v1/repos/{REPO}/coverage")["scip"] == 3
    repo.write({"parcels/depot.py": f"# weighed\n{DEPOT}"})
    repo.commit()
    shared_stack.index(repo.folder, "--name", REPO)
    assert await callers(shared_stack) == guessed
    await walked(shared_stack, guessed, repo.head)
    assert shared_stack.get(f"/api/v1/repos/{REPO}/coverage")["scip"] == 2


def test_invalid_scip_uploads_are_refused(shared_stack, repo, tmp_path) -> None:
    path = write_index(tmp_path)
    unknown = shared_stack.prism_json("scip", path, "--repo", REPO, "--commit", "f" * 40, exit_code=1)
    assert unknown["error"]["code"] == "ref_not_found"
    (tmp_path / "index.scip").write_bytes(b"{}")
    broken = shared_stack.prism_json("scip", path, "--repo", REPO, "--commit", repo.head, exit_code=1)
    assert broken["error"]["code"] == "scip_invalid"
