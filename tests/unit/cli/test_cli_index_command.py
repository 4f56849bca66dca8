import gzip
import io
import json
import re

import httpx
import pytest
from cli_server import Server, job_json, make_job
from git_repos import Repo
from overlay_server import refusal, refused
from rich.console import Console

from prism_cli.exits import CommandError, Exit
from prism_cli.index import command
from prism_cli.index.command import (
    PROBLEMS_SHOWN,
    Follower,
    ImportOutcome,
    Wish,
    problem_lines,
    slowest_lines,
    summary,
)
from prism_cli.index.progress import IndexProgress, settled, waiting_by_service
from prism_cli.index.upload import UploadTarget
from prism_cli.terminal import err
from prism_contracts.errors import ErrorCode
from prism_contracts.records import FileProblem, JobState, SlowFile


@pytest.mark.parametrize(
    ("state", "exit_code"),
    [
        (JobState.COMPLETE, Exit.OK),
        (JobState.COMPLETE_WITH_ERRORS, Exit.INCOMPLETE),
        (JobState.FAILED, Exit.FAILED),
        (JobState.ABANDONED, Exit.FAILED),
        (JobState.INDEXING, Exit.OK),
    ],
)
def test_exit_codes(state: JobState, exit_code: Exit):
    assert ImportOutcome(make_job(state), 1.0).exit_code is exit_code


def test_nothing_changed_is_printed_only_if_true():
    assert "nothing changed" in summary(
        ImportOutcome(make_job(JobState.COMPLETE, seen=9, unchanged=8, skipped=1), 1.0)
    )
    for counts in ({"indexed": 1}, {"removed": 1}, {"failed": 1}):
        assert not ImportOutcome(make_job(JobState.COMPLETE, **counts), 1.0).is_unchanged
    assert not ImportOutcome(make_job(JobState.INDEXING), 1.0).is_unchanged


def test_the_summary_has_the_counts():
    text = summary(
        ImportOutcome(make_job(JobState.COMPLETE_WITH_ERRORS, seen=1003, indexed=1000, failed=3), 2.0)
    )
    assert "owner/name: complete_with_errors: 1,003 files: 1,000 indexed, 3 failed" in text
    assert "500 files/s" in text


def test_unfinished_job_is_named():
    assert "job j1" in summary(ImportOutcome(make_job(JobState.INDEXING), 1.0))


def test_only_files_above_two_seconds_are_slow():
    files = (SlowFile(path="a\x1b.py", milliseconds=2001), SlowFile(path="b.py", milliseconds=2000))
    assert slowest_lines(files) == ["  slow: a\N{REPLACEMENT CHARACTER}.py (2.0 s)"]


@pytest.mark.parametrize("columns", [70, 80, 200])
def test_the_display_fits_the_terminal(columns: int):
    million = 1_234_567
    job = make_job(JobState.INDEXING, indexed=million // 3)
    slow, fast = SlowFile(path="deep/slow.c", milliseconds=9000), SlowFile(path="fast.c", milliseconds=9)
    job = job.model_copy(update={"expected": million, "slowest": (slow, fast)})
    screen = io.StringIO()
    console = Console(file=screen, width=columns, force_terminal=True, color_system=None)
    with IndexProgress(console, "/a/very/long/path" * 20) as progress:
        progress.reading()
        progress._progress.refresh()
        progress.sent(million // 2, million)
        progress.job(job, {"chunker": 12_345, "embedder": 6789})
        progress._progress.refresh()
    lines = [line for line in re.sub(r"\x1b\[[0-9;?]*\w", "", screen.getvalue()).splitlines() if line.strip()]
    assert max(map(len, lines)) <= columns
    assert not any(len(line.split()) == 1 for line in lines), "a line is broken"
    shown = "\n".join(lines)
    assert "Reading /a/very" in shown
    assert f"{million // 3}/{million}" in shown
    assert ("slow slow.c 9.0 s" in shown) == (columns == 200)


def test_many_problems_are_counted_by_kind():
    problems = tuple(FileProblem(path=f"f{n}\x1b[2J", code="binary" if n else "too_large") for n in range(30))
    lines = problem_lines(problems)
    assert len(lines) == PROBLEMS_SHOWN + 1
    assert lines[-1] == "  … 30 in all: 29 binary, 1 too_large"
    assert not any("\x1b" in line for line in lines)


def test_settled_never_exceeds_the_expected_count():
    assert settled(make_job(expected=5, indexed=3, removed=1)) == 4
    assert settled(make_job(expected=5, indexed=5, skipped=7)) == 5


def test_waiting_is_summed_by_service():
    def consumer(name: str, pending: int) -> dict[str, object]:
        return {"name": name, "pending": pending, "ack_pending": 1, "redelivered": 0}

    status = {
        "streams": [
            {
                "consumers": [
                    consumer("chunker-live-file-changed", 2),
                    consumer("chunker-bulk-file-changed", 3),
                ]
            },
            {"consumers": [{"name": "indexer-live-x", "pending": 0, "ack_pending": 0, "redelivered": 0}]},
        ]
    }
    assert waiting_by_service(status) == {"chunker": 7}
    assert waiting_by_service({"streams": None}) == {}


def taken(repo: Repo, ref: str) -> tuple[dict[str, int], str, bool]:
    snapshot, _ = command._take_snapshot(Wish(str(repo.folder), ref=ref))
    with snapshot:
        return {file.path: file.size_bytes for file in snapshot.files}, snapshot.commit, snapshot.dirty


def test_only_the_checked_out_branch_has_uncommitted_changes(repo: Repo):
    old = repo.commit(**{"a.py": "1\n"})
    repo.git("checkout", "--quiet", "-b", "topic")
    new = repo.commit(**{"b.py": "22\n"})
    repo.write("b.py", "333\n")
    assert taken(repo, "main") == ({"a.py": 2}, old, False)
    assert taken(repo, old) == ({"a.py": 2}, old, False)
    assert taken(repo, "topic") == taken(repo, "") == ({"a.py": 2, "b.py": 4}, new, True)


async def layers_asked(repo: Repo, server: Server, ref: str) -> list[str]:
    """Returns the refs for which snapshots were opened."""
    snapshot, _ = command._take_snapshot(Wish(str(repo.folder), ref=ref))
    with snapshot, IndexProgress(err, "repo") as progress:
        async with server.prism() as prism:
            follower = Follower(prism, progress)
            progress.reading()
            try:
                await command._upload(prism, snapshot, UploadTarget("acme/app", ref), follower)
            finally:
                follower.rest()
    opened = [request for request in server.requests if request.url.path.endswith("/snapshots")]
    return [json.loads(gzip.decompress(request.content))["layer_ref"] for request in opened]


OPENED = httpx.Response(200, json={**job_json(make_job(JobState.COMPLETE)), "needed": []})


async def test_a_ref_is_the_layer_of_that_name(repo: Repo, server: Server):
    repo.commit(**{"a.py": "1\n"})
    server.answers = [OPENED]
    assert await layers_asked(repo, server, "main") == ["main"]


@pytest.mark.parametrize("code", [ErrorCode.REPO_NOT_FOUND, ErrorCode.REF_NOT_FOUND])
async def test_first_indexed_ref_becomes_the_base(repo: Repo, server: Server, code: ErrorCode):
    repo.commit(**{"a.py": "1\n"})
    server.answers = [refusal(refused(code)), OPENED]
    assert await layers_asked(repo, server, "main") == ["main", ""]


async def test_other_errors_of_a_layer_are_raised(repo: Repo, server: Server):
    repo.commit(**{"a.py": "1\n"})
    server.answers = [refusal(refused(ErrorCode.FORBIDDEN)), OPENED]
    with pytest.raises(CommandError):
        await layers_asked(repo, server, "main")
