"""Git servers that answer without end, or not at all."""

import hashlib
import time
import uuid
from contextlib import ExitStack
from pathlib import Path

import psutil
from evil_servers import endless_refs, silent_server
from figures import Figures
from git_server import git_server
from running_stack import RunningStack, wait_until
from source_repos import FILES, GitRepo

MIB = 1024 * 1024
FLOOD_SECONDS = 90
CHILDREN_BYTES_MAX = 1_536 * MIB
SLOW_SERVERS = 6
GOOD_CLONE_SECONDS_MAX = 60
COPIES = 3_000
COPY_BYTES = 1_000_000


def clone(stack: RunningStack, url: str) -> str:
    """Requests a clone; returns its job."""
    with stack.http() as http:
        answer = http.post("/api/v1/repos", json={"url": url})
    assert answer.status_code == 202, answer.text
    return answer.json()["job"]["job"]


def served(folder: Path, name: str, files: dict[str, str | bytes]) -> None:
    """A bare repository served by the git server of the folder."""
    repo = GitRepo(folder / "work" / name, files)
    repo.git("clone", "--quiet", "--bare", str(repo.folder), str(folder / "served" / f"{name}.git"))


def test_endless_references_take_bounded_memory(stack: RunningStack, figures: Figures) -> None:
    ingest = psutil.Process(stack.pid("ingest"))
    peak, started = 0, time.monotonic()
    with endless_refs() as url:
        job = clone(stack, url)
        while time.monotonic() < started + FLOOD_SECONDS and stack.job(job)["state"] == "cloning":
            peak = max(peak, _bytes_of_children(ingest))
            time.sleep(0.2)
        ended = stack.job(job)
    figures.add(
        "a git server that announces references without end",
        f"{peak / MIB:.0f} MiB in git's processes, {ended['state']} after {time.monotonic() - started:.0f} s",
        f"{CHILDREN_BYTES_MAX / MIB:.0f} MiB, failed within {FLOOD_SECONDS} s",
    )
    assert peak < CHILDREN_BYTES_MAX
    assert ended["state"] == "failed", ended


async def test_silent_servers_do_not_block_other_clones(
    stack: RunningStack, figures: Figures, tmp_path: Path
) -> None:
    served(tmp_path, "good", FILES)
    other = await stack.of_tenant("patient")
    with ExitStack() as servers:
        for _ in range(SLOW_SERVERS):
            clone(stack, f"{servers.enter_context(silent_server())}/{uuid.uuid4().hex[:8]}.git")
        good = servers.enter_context(git_server(tmp_path / "served"))
        started = time.monotonic()
        job = clone(other, f"{good}/good.git")
        ended = other.ended_job(job, GOOD_CLONE_SECONDS_MAX)
        seconds = time.monotonic() - started
    figures.add(
        f"a clone of another tenant beside {SLOW_SERVERS} silent servers",
        f"{ended['state']} after {seconds:.1f} s",
        f"complete within {GOOD_CLONE_SECONDS_MAX} s",
    )
    assert ended["state"] == "complete", ended


async def test_a_repository_that_unpacks_to_gigabytes_is_refused(
    stack: RunningStack, figures: Figures, tmp_path: Path
) -> None:
    row = hashlib.sha256(b"row").hexdigest() + "\n"
    content = (row * (COPY_BYTES // len(row) + 1))[:COPY_BYTES]
    served(tmp_path, "copies", {f"copy_{number:04}.txt": content for number in range(COPIES)})
    served(tmp_path, "small", FILES)
    other = await stack.of_tenant("beside")
    with git_server(tmp_path / "served") as url:
        job = clone(stack, f"{url}/copies.git")
        started = time.monotonic()
        small = other.ended_job(clone(other, f"{url}/small.git"), GOOD_CLONE_SECONDS_MAX)
        seconds = time.monotonic() - started
        wait_until(lambda: stack.job(job)["state"] in {"failed", "complete"}, 240, "the large import ends")
        ended = stack.job(job)
    figures.add(
        f"one blob of 1 MB under {COPIES} names",
        f"{ended['state']}: {(ended.get('error') or {}).get('message', '')[:120]}; another tenant's import took {seconds:.1f} s",
        "refused with the limit that names its setting",
    )
    assert small["state"] == "complete", small
    assert ended["state"] == "failed", ended
    assert "PRISM_" in ended["error"]["message"] + ended["error"]["next_action"], ended["error"]


def _bytes_of_children(process: psutil.Process) -> int:
    total = 0
    for child in process.children(recursive=True):
        try:
            total += child.memory_info().rss
        except psutil.Error:
            continue
    return total
