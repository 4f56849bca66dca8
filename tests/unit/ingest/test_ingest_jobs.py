from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from prism_contracts.base import Lane
from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.events import Outcome, SettledFile
from prism_contracts.records import FINAL_STATES, Job, JobCounts, JobState
from prism_ingest.adapters.metrics import PushMetrics
from prism_ingest.core import jobs as jobs_module
from prism_ingest.core.jobs import (
    apply_settled,
    fail_job,
    is_final,
    new_job,
    open_ordinals,
    push_seconds,
    settled_count,
    source_of,
)

NOW = datetime(2026, 3, 14, tzinfo=UTC)
LATER = NOW + timedelta(seconds=5)
OF_FILES = [Outcome.INDEXED, Outcome.SKIPPED, Outcome.FAILED, Outcome.SUPERSEDED]
OF_REMOVALS = [Outcome.REMOVED, Outcome.FAILED, Outcome.SUPERSEDED]


def begin(**changes) -> Job:
    fields = {
        "key": b"k", "tenant": "t", "repo": "r", "repo_name": "acme/parcel-tracker", "layer": "base", "lane": Lane.BULK, "snapshot": "s",
        "state": JobState.INDEXING, "now": NOW,
    }  # fmt: skip
    return new_job(**fields | changes)


def planned(files: int, removed: int = 0, unchanged: int = 0) -> Job:
    """Returns a job that expects files, after `unchanged` ones."""
    return begin().model_copy(
        update={
            "version": 1,
            "expected": files + removed,
            "settled": bytes((unchanged + files + removed + 7) // 8),
            "counts": JobCounts(seen=unchanged + files, unchanged=unchanged),
        }
    )


def settled(ordinal: int, outcome: Outcome = Outcome.INDEXED, chunks: int = 1) -> SettledFile:
    code = "parse_failed" if outcome is Outcome.FAILED else ""
    return SettledFile(path=f"{ordinal}.py", ordinal=ordinal, outcome=outcome, chunks=chunks, code=code)


@st.composite
def jobs_with_events(draw) -> tuple[Job, list[SettledFile]]:
    unchanged, files, removed = (draw(st.integers(0, 12)) for _ in range(3))
    job = planned(files, removed, unchanged)
    outcomes = [draw(st.sampled_from(OF_FILES)) for _ in range(files)]
    outcomes += [draw(st.sampled_from(OF_REMOVALS)) for _ in range(removed)]
    return job, [settled(n, outcome, n) for n, outcome in enumerate(outcomes, start=unchanged)]


def told(job: Job) -> tuple:
    return job.state, job.counts, job.settled, frozenset(job.problems), job.finished_at


@given(jobs_with_events(), st.data())
def test_order_and_repetition_of_events_do_not_matter(job_and_events, data):
    job, events = job_and_events
    expected = apply_settled(job, events, NOW)
    again = (
        data.draw(st.permutations([*events, *data.draw(st.lists(st.sampled_from(events)))])) if events else []
    )
    counted = job
    while again:
        size = data.draw(st.integers(1, len(again)))
        batch, again = again[:size], again[size:]
        counted = apply_settled(counted, batch, NOW)
    assert told(counted) == told(expected)


@given(jobs_with_events())
def test_counts_add_up_and_the_last_file_ends_the_job(job_and_events):
    job, events = job_and_events
    for number, event in enumerate(events, start=1):
        assert not is_final(job)
        job = apply_settled(job, [event], LATER)
        assert settled_count(job) == number
    counts = job.counts
    removals = len(events) - (counts.seen - counts.unchanged)
    done = counts.unchanged + counts.indexed + counts.skipped + counts.failed + counts.removed
    assert counts.seen + removals == done
    failed_removals = sum(e.outcome is Outcome.FAILED and e.ordinal >= counts.seen for e in events)
    assert counts.seen == done - counts.removed - failed_removals
    assert counts.chunks == sum(event.chunks for event in events)
    if events:
        assert job.state is (JobState.COMPLETE_WITH_ERRORS if counts.failed else JobState.COMPLETE)
        assert job.finished_at == LATER


def test_a_repeated_report_changes_nothing():
    once = apply_settled(planned(2), [settled(0)], NOW)
    assert apply_settled(once, [settled(0), settled(0)], LATER) is once


def test_a_failed_file_is_named_and_ends_the_job_with_errors():
    job = apply_settled(planned(2), [settled(0, Outcome.FAILED), settled(1)], NOW)
    assert job.state is JobState.COMPLETE_WITH_ERRORS
    assert [(problem.path, problem.code) for problem in job.problems] == [("0.py", "parse_failed")]


def test_an_ordinal_that_the_job_lacks_is_not_counted():
    job = planned(3)
    assert apply_settled(job, [settled(8), settled(10**9)], NOW) is job


def test_the_number_of_problems_is_limited(monkeypatch):
    monkeypatch.setattr(jobs_module, "PROBLEMS_MAX", 2)
    job = apply_settled(planned(4), [settled(n, Outcome.FAILED) for n in range(3)], NOW)
    assert (len(job.problems), job.counts.failed) == (2, 3)


@pytest.mark.parametrize("state", sorted(FINAL_STATES))
def test_a_final_job_does_not_change(state):
    job = planned(2).model_copy(update={"state": state, "finished_at": NOW})
    assert is_final(job)
    error = ErrorBody(code=ErrorCode.INTERNAL, message="late")
    assert fail_job(job, error, LATER) is job
    counted = apply_settled(job, [settled(0), settled(1)], LATER)
    assert (counted.state, counted.finished_at) == (state, NOW)


def test_a_failed_job_has_a_reason():
    error = ErrorBody(code=ErrorCode.CLONE_FAILED, message="no route")
    job = fail_job(planned(2), error, LATER, JobState.ABANDONED)
    assert (job.state, job.error, job.finished_at) == (JobState.ABANDONED, error, LATER)


def test_the_snapshot_determines_the_job_id():
    assert begin().job == begin(repo_name="Acme/Parcel-Tracker", lane=Lane.LIVE, now=LATER).job
    others = {
        begin(tenant="u").job,
        begin(layer="l").job,
        begin(snapshot="z").job,
        begin(repo="s").job,
    }
    assert len(others | {begin().job}) == 5


@given(st.sets(st.integers(0, 30)), st.lists(st.integers(0, 30)))
def test_open_ordinals_are_those_not_settled(done, asked):
    job = apply_settled(planned(31), [settled(ordinal) for ordinal in done], NOW)
    assert open_ordinals(job, asked) == [ordinal for ordinal in asked if ordinal not in done]


def test_the_slowest_files_are_listed_once_slowest_first():
    job = planned(9)
    events = [
        settled(n).model_copy(update={"chunk_ms": ms})
        for n, ms in enumerate((60.0, 900.0, 3.0, 70.0, 80.0, 100.0, 90.0, 0.0, 51.0))
    ]
    done = apply_settled(apply_settled(job, events, NOW), events, NOW)
    assert [(file.path, file.milliseconds) for file in done.slowest] == [
        ("1.py", 900.0), ("5.py", 100.0), ("6.py", 90.0), ("4.py", 80.0), ("3.py", 70.0),
    ]  # fmt: skip


def test_the_steps_of_a_push_add_up_without_missing_ones() -> None:
    moments = [NOW + timedelta(seconds=second) for second in (0, 1, 3, 6, 10)]
    steps = dict(
        zip(("pushed_at", "created_at", "fetched_at", "planned_at", "finished_at"), moments, strict=True)
    )
    told = dict(push_seconds(begin().model_copy(update=steps)))
    assert told == {"wait": 1, "fetch": 2, "plan": 3, "index": 4, "total": 10}
    edit = begin().model_copy(update={**steps, "fetched_at": None})
    assert set(dict(push_seconds(edit))) == {"wait", "index", "total"}


@pytest.mark.parametrize(
    ("changes", "source"),
    [
        ({"pushed_at": NOW, "fetched_at": LATER}, "push"),
        ({"pushed_at": NOW}, "edit"),
        ({"pushed_at": NOW, "ref": "overlay:0123"}, "overlay"),
        ({}, "upload"),
        ({"fetched_at": LATER}, "clone"),
        ({"layer": "rebase"}, None),
    ],
)
def test_the_source_of_a_change_follows_from_its_job(changes, source):
    assert source_of(begin().model_copy(update=changes)) == source


def test_a_job_is_searchable_since_its_end():
    registry = CollectorRegistry()
    metrics = PushMetrics(registry)

    def shown(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, labels)

    assert shown("prism_searchable_seconds_count", source="edit") == 0
    assert shown("prism_push_seconds_count", step="total", lane="live") == 0
    changes = {"pushed_at": NOW, "created_at": NOW + timedelta(seconds=2), "finished_at": LATER}
    metrics.observe(begin(lane=Lane.LIVE).model_copy(update=changes))
    assert shown("prism_searchable_seconds_sum", source="edit") == 5
    assert shown("prism_push_seconds_sum", step="total", lane="live") == 5
