"""A store that lost data, is damaged, or has another version reports it, and can be rebuilt."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from figures import Figures
from running_stack import RunningStack
from source_repos import GitRepo

from prism_cli.exits import Exit

NOISE_BYTES = 64 * 1024
Make = Callable[..., RunningStack]


def indexed(stack: RunningStack, repo: GitRepo) -> RunningStack:
    stack.up()
    stack.index(repo.folder, "--name", "acme/ledger")
    return stack


def grep(stack: RunningStack) -> tuple[int, str, int]:
    """Returns status, error code and matches of a search for a word of the repository."""
    with stack.http() as http:
        answer = http.post("/api/v1/grep", json={"pattern": "withdraw", "repo": "acme/ledger"})
    body = answer.json()
    return answer.status_code, body.get("error", {}).get("code", ""), len(body.get("matches", ()))


@pytest.mark.parametrize("lost", ["state.json", "the collection", "everything"])
def test_a_lost_store_is_no_empty_answer(
    own_stack: Make, victim_repo: GitRepo, figures: Figures, lost: str
) -> None:
    stack = indexed(own_stack(), victim_repo)
    _, _, matches = grep(stack)
    assert matches
    stack.down()
    store = stack.data / "qdrant"
    if lost == "state.json":
        (store / "state.json").unlink()
    else:
        for folder in (
            [path for path in store.iterdir() if path.is_dir()] if lost == "the collection" else [store]
        ):
            shutil.rmtree(folder)
    stack.up()
    status, code, after = grep(stack)
    healthy = stack.prism("doctor").returncode
    stack.index(victim_repo.folder, "--name", "acme/ledger")
    _, _, repaired = grep(stack)
    figures.add(
        f"the store lost {lost}",
        f"grep {status} {code or f'{after} matches'}, doctor exits {healthy}; {repaired} of {matches} matches after `prism index`",
        "the same matches, or index_lost and red; all after `prism index`",
    )
    assert (code == "index_lost" and healthy != 0) or after == matches
    assert repaired == matches


def test_a_damaged_page_is_named_and_repaired(
    own_stack: Make, victim_repo: GitRepo, figures: Figures
) -> None:
    stack = indexed(own_stack(), victim_repo)
    _, _, matches = grep(stack)
    stack.down()
    for page in (stack.data / "qdrant").rglob("payload_storage/page_0.dat"):
        _overwrite(page)
    stack.up()
    status, code, _ = grep(stack)
    healthy = stack.prism("doctor").returncode
    repair = stack.prism("repair")
    stack.index(victim_repo.folder, "--name", "acme/ledger")
    _, _, repaired = grep(stack)
    figures.add(
        "64 KiB of noise in a payload page",
        f"grep {status} {code}, doctor exits {healthy}, repair exits {repair.returncode}; {repaired} of {matches} matches after `prism index`",
        "named, red, all matches after the repair",
    )
    assert code == "store_damaged", (status, code)
    assert healthy != 0
    assert repair.returncode == Exit.INCOMPLETE, "the folder of an upload is on the client"
    assert "prism index PATH --name acme/ledger" in repair.stdout
    assert repaired == matches


def test_a_folder_of_another_format_is_refused(own_stack: Make, figures: Figures) -> None:
    stack = own_stack()
    stack.up()
    stack.down()
    marker = stack.data / "format.json"
    marker.write_text('{"format": 999}\n')
    refused = stack.prism("up", "--detach", "--port", "0")
    figures.add(
        "a data folder of a newer format",
        f"`prism up` exits {refused.returncode}: {refused.stderr.strip()[:100]}",
        "refused",
    )
    assert refused.returncode != 0
    assert "Traceback" not in refused.stderr


def _overwrite(page: Path) -> None:
    with page.open("r+b") as file:
        file.write(os.urandom(min(NOISE_BYTES, page.stat().st_size)))
