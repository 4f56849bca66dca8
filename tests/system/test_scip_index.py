"""A compiler's index goes in beside the repository, and references are answered by it for as long as the files are the same."""

import pytest
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


async def test_references_are_answered_by_a_compilers_index_until_a_file_changes(
    shared_stack, repo, tmp_path
) -> None:
    guessed = {("parcels/depot.py", "candidate", "name")}
    assert await callers(shared_stack) == guessed
    sent = (write_index(tmp_path), "--repo", REPO, "--commit", repo.head)
    told = shared_stack.prism_json("scip", *sent)
    assert (told["stored"], told["files"], told["uses"]) == (True, 3, 1)
    assert await callers(shared_stack) == {("parcels/depot.py", "resolved", "scip")}
    assert shared_stack.get(f"/api/v1/repos/{REPO}/coverage")["scip"] == 3
    repo.write({"parcels/depot.py": f"# weighed\n{DEPOT}"})
    repo.commit()
    shared_stack.index(repo.folder, "--name", REPO)
    assert await callers(shared_stack) == guessed
    assert shared_stack.get(f"/api/v1/repos/{REPO}/coverage")["scip"] == 2


def test_what_is_no_index_of_an_indexed_commit_is_told_what_to_do(shared_stack, repo, tmp_path) -> None:
    path = write_index(tmp_path)
    unknown = shared_stack.prism_json("scip", path, "--repo", REPO, "--commit", "f" * 40, exit_code=1)
    assert unknown["error"]["code"] == "ref_not_found"
    (tmp_path / "index.scip").write_bytes(b"{}")
    broken = shared_stack.prism_json("scip", path, "--repo", REPO, "--commit", repo.head, exit_code=1)
    assert broken["error"]["code"] == "scip_invalid"
