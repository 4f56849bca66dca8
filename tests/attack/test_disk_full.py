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


def _edit(http: object) -> str:
    """Returns the error code of an edit; empty if it is accepted."""
    body = {"repo": "acme/ledger", "path": "edited.py", "content": f"VALUE = {os.urandom(4).hex()!r}\n"}
    answer = http.post("/api/v1/ingest/file", json=body)  # type: ignore[attr-defined]
    return "" if answer.is_success else str(answer.json()["error"]["code"])
