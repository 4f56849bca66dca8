import pytest
from cli_server import make_job

from prism_cli.exits import Exit
from prism_cli.index.command import PROBLEMS_SHOWN, Outcome, problem_lines, summary
from prism_cli.index.progress import settled, waiting_by_service
from prism_contracts.records import FileProblem, JobState


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
    assert Outcome(make_job(state), 1.0).exit_code is exit_code


def test_nothing_changed_is_said_only_when_it_is_so():
    assert "nothing changed" in summary(
        Outcome(make_job(JobState.COMPLETE, seen=9, unchanged=8, skipped=1), 1.0)
    )
    for counts in ({"indexed": 1}, {"removed": 1}, {"failed": 1}):
        assert not Outcome(make_job(JobState.COMPLETE, **counts), 1.0).is_unchanged
    assert not Outcome(make_job(JobState.INDEXING), 1.0).is_unchanged


def test_the_summary_has_the_counts():
    text = summary(Outcome(make_job(JobState.COMPLETE_WITH_ERRORS, seen=1003, indexed=1000, failed=3), 2.0))
    assert "owner/name: complete_with_errors: 1,003 files: 1,000 indexed, 3 failed" in text
    assert "500 files/s" in text


def test_a_job_that_goes_on_is_named():
    assert "job j1" in summary(Outcome(make_job(JobState.INDEXING), 1.0))


def test_many_problems_are_counted_by_kind():
    problems = tuple(FileProblem(path=f"f{n}\x1b[2J", code="binary" if n else "too_large") for n in range(30))
    lines = problem_lines(problems)
    assert len(lines) == PROBLEMS_SHOWN + 1
    assert lines[-1] == "  … 30 in all: 29 binary, 1 too_large"
    assert not any("\x1b" in line for line in lines)


def test_settled_never_passes_what_is_expected():
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
