"""The rows of the list of repositories: their order, what they count, and when one has changed."""

from datetime import UTC, datetime

from prism_contracts.base import Lane
from prism_contracts.records import Job, JobState, Layer, LayerKind, LayerState, Repository
from prism_contracts.rpc.imports import JobsReply
from prism_gateway.console.listing import rows_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SERVED = LayerState(commit="c", version=1, job="j0", indexed_at=NOW)


def repository(name: str, **more: object) -> Repository:
    return Repository(tenant="t", repo=f"id-{name}", name=name, source="upload", created_at=NOW, **more)


def job(key: str, name: str, state: JobState = JobState.INDEXING) -> Job:
    return Job(
        job=key,
        tenant="t",
        repo=f"id-{name}",
        repo_name=name,
        lane=Lane.BULK,
        state=state,
        created_at=NOW,
        updated_at=NOW,
    )


def layer(name: str, ref: str, kind: LayerKind) -> Layer:
    return Layer(tenant="t", repo=f"id-{name}", layer=ref, kind=kind, ref=ref, created_at=NOW)


def listed(
    *repositories: Repository, jobs: tuple[Job, ...] = (), layers: tuple[Layer, ...] = ()
) -> JobsReply:
    return JobsReply(jobs=jobs, repositories=repositories, layers=layers)


def test_rows_are_in_order_of_names_and_know_the_row_above() -> None:
    rows = rows_of(listed(repository("b/B"), repository("a/c"), repository("A/b")), {})
    assert [(row.repository.name, row.after) for row in rows.values()] == [
        ("A/b", ""),
        ("a/c", "id-A/b"),
        ("b/B", "id-a/c"),
    ]


def test_a_row_counts_the_branches_and_overlays_of_its_repository() -> None:
    layers = (
        layer("a/a", "topic", LayerKind.BRANCH),
        layer("a/a", "pull/7", LayerKind.PULL_REQUEST),
        layer("a/a", "overlay:x", LayerKind.OVERLAY),
        layer("b/b", "topic", LayerKind.BRANCH),
    )
    rows = rows_of(listed(repository("a/a"), repository("b/b"), layers=layers), {})
    assert [(row.branches, row.overlays) for row in rows.values()] == [(2, 1), (1, 0)]


def test_a_repository_that_serves_nothing_is_importing() -> None:
    first = repository("a/a", active_job="j1", last_job="j1")
    again = first.model_copy(update={"served": SERVED})
    failed = repository("a/a", last_job="j1")
    states = [
        rows_of(listed(one, jobs=(job("j1", "a/a", state),)), {})["id-a/a"].state
        for one, state in (
            (first, JobState.CLONING),
            (again, JobState.INDEXING),
            (failed, JobState.FAILED),
            (again.model_copy(update={"active_job": ""}), JobState.COMPLETE),
        )
    ]
    assert states == ["importing", "indexing", "failed", "indexed"]
    assert rows_of(listed(repository("a/a")), {})["id-a/a"].state == "registered"


def test_only_rows_that_changed_are_new_objects() -> None:
    one, other = repository("a/a", active_job="j1", last_job="j1"), repository("b/b")
    before = rows_of(listed(one, other, jobs=(job("j1", "a/a"),)), {})
    moved = job("j1", "a/a").model_copy(update={"expected": 7})
    after = rows_of(listed(one, other, jobs=(moved,)), before)
    assert after["id-b/b"] is before["id-b/b"]
    assert after["id-a/a"] is not before["id-a/a"]
