"""A full disk: writes are refused, reads work, and free space restores everything without a restart."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from figures import Figures
from running_stack import RunningStack, wait_until
from source_repos import GitRepo

DISK = "400m"
FLOOR_BYTES = 64 * 1024 * 1024
FILES_MANY = 1_000
FILE_LINES = 400
Make = Callable[..., RunningStack]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory; only root can mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.fail(f"this attack needs the right to mount a tmpfs: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_survived(
    small_disk: Path, own_stack: Make, victim_repo: GitRepo, tmp_path: Path, figures: Figures
) -> None:
    stack = own_stack(small_disk, PRISM_DISK_FREE_BYTES_MIN=str(FLOOR_BYTES))
    stack.up()
    stack.index(victim_repo.folder, "--name", "acme/ledger")
    big = tmp_path / "big"
    big.mkdir()
    for number in range(FILES_MANY):
        lines = (f"value_{number}_{line} = {os.urandom(8).hex()!r}\n" for line in range(FILE_LINES))
        (big / f"part_{number:04}.py").write_text("".join(lines))
    importing = stack.begin("index", str(big), "--name", "acme/big", "--wait", "--json")
    ballast = small_disk / "ballast"
    with ballast.open("wb") as file:  # the rest of the disk, except for a little
        free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
        file.write(b"\0" * (free - FLOOR_BYTES // 2))
    with stack.http() as http:
        wait_until(lambda: _edit(http) == "disk_full", what="a write is refused")
        answer = http.post("/api/v1/search", json={"query": "withdraw money", "repo": "acme/ledger"})
    restarts = sum(facts["restarts"] for facts in stack.state()["services"].values())
    ballast.unlink()
    with stack.http() as http:
        wait_until(lambda: _edit(http) == "", what="a write is taken again")
    importing.communicate(timeout=300)
    again = stack.index(big, "--name", "acme/big") if importing.returncode else {"state": "complete"}
    figures.add(
        "the disk is full during an import",
        f"writes disk_full, a search {answer.status_code}, {restarts} restarts; with room again the import ends {again['state']}",
        "reads go on, no process dies, no restart by hand",
    )
    assert answer.status_code == 200, answer.text
    assert restarts == 0
    assert again["state"] == "complete"


def test_documents_and_tasks_survive_a_full_disk(small_disk: Path, own_stack: Make, figures: Figures) -> None:
    stack = own_stack(small_disk, PRISM_DISK_FREE_BYTES_MIN=str(FLOOR_BYTES))
    stack.up()
    ballast = small_disk / "ballast"
    with stack.http() as http:
        before = [_write(http, kind, "before") for kind in WRITES]
        # The first document makes a repository, whose store takes its room at once.
        wait_until(lambda: _is_indexed(http), what="the document is indexed")
        assert before == ["", ""]
        with ballast.open("wb") as file:
            free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
            file.write(b"\0" * (free - FLOOR_BYTES // 2))
        wait_until(
            lambda: {_write(http, kind, "full") for kind in WRITES} == {"disk_full"},
            what="writes are refused",
        )
        commit = http.post("/api/v1/documents/commit", json={"message": "Write"})
        during = {kind: _titles(http, kind) for kind in WRITES}
        ballast.unlink()
        wait_until(
            lambda: {_write(http, kind, "after") for kind in WRITES} == {""}, what="writes are taken again"
        )
        after = {kind: _titles(http, kind) for kind in WRITES}
        committed = http.post("/api/v1/documents/commit", json={"message": "Write"})
    restarts = sum(facts["restarts"] for facts in stack.state()["services"].values())
    figures.add(
        "the disk is full while documents and tasks are written",
        f"writes and a commit answer {commit.json()['error']['code']}, {restarts} restarts; with room again all are taken",
        "lists go on, nothing that was accepted is lost",
    )
    for kind in WRITES:
        assert "before" in during[kind]
        assert {"before", "after"} <= set(after[kind])
    assert commit.json()["error"]["code"] == "disk_full"
    assert committed.is_success, committed.text
    assert restarts == 0


WRITES = {
    "documents": {"content": "A note.\n", "auto_process": False},
    "tasks": {},
}


def _write(http: object, kind: str, title: str) -> str:
    """Returns the error code of a new document or task; empty if it is accepted."""
    answer = http.post(f"/api/v1/{kind}", json={"title": title, **WRITES[kind]})  # type: ignore[attr-defined]
    return "" if answer.is_success else str(answer.json()["error"]["code"])


def _titles(http: object, kind: str) -> list[str]:
    return [one["title"] for one in http.get(f"/api/v1/{kind}").json()[kind]]  # type: ignore[attr-defined]


def _is_indexed(http: object) -> bool:
    found = http.post("/api/v1/documents/search", json={"query": "a note"}).json()  # type: ignore[attr-defined]
    return bool(found["results"])


def _edit(http: object) -> str:
    """Returns the error code of an edit; empty if it is accepted."""
    body = {"repo": "acme/ledger", "path": "edited.py", "content": f"VALUE = {os.urandom(4).hex()!r}\n"}
    answer = http.post("/api/v1/ingest/file", json=body)  # type: ignore[attr-defined]
    return "" if answer.is_success else str(answer.json()["error"]["code"])
