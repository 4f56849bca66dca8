"""What a change makes of a task."""

from datetime import UTC, datetime, timedelta

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import MergedPullRequest, PullRequestMerged, PushedCommit
from prism_contracts.records import TaskRecord
from prism_contracts.rpc.tasks import (
    CreateTaskRequest,
    GetTaskRequest,
    ReferenceType,
    TaskStatus,
    UpdateTaskRequest,
)
from prism_workspace.core import tasks

START = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
LATER = START + timedelta(minutes=5)
COMMIT = "4f2d9c1b8a7e6f5d4c3b2a1908f7e6d5c4b3a291"
STATUSES = (*TaskStatus, "blocked")


def new(**fields: object) -> TaskRecord:
    return tasks.created(
        CreateTaskRequest(tenant="acme", by="laptop", **({"title": "Retry"} | fields)), START
    )


def changed(task: TaskRecord, **fields: object) -> TaskRecord:
    request = UpdateTaskRequest(tenant="acme", task_id=task.task, by="ci", **fields)
    return tasks.changed(request, STATUSES, LATER)(task)


def code_of(act: object, *arguments: object, **fields: object) -> ErrorCode:
    with pytest.raises(PrismError) as raised:
        act(*arguments, **fields)
    assert raised.value.body.next_action
    return raised.value.code


def test_a_new_task_needs_to_be_done() -> None:
    task = new()
    assert (task.status, task.version, task.created_by) == ("need to be done", 1, "laptop")
    (first,) = task.history
    assert (first.from_status, first.to_status, first.by, first.at) == (
        None,
        "need to be done",
        "laptop",
        START,
    )


def test_a_client_id_makes_one_task_for_each_tenant() -> None:
    assert new(client_id="plan-7").task == new(client_id="plan-7", title="Another").task
    assert new(client_id="plan-7").task != new(client_id="plan-8").task
    assert new().task != new().task
    assert tasks.new_task_id("acme", "plan-7") != tasks.new_task_id("other", "plan-7")


def test_a_change_of_status_is_in_the_history() -> None:
    task = changed(new(), status="in-progress")
    assert (task.status, task.version, task.updated_at) == ("in-progress", 2, LATER)
    last = task.history[-1]
    assert (last.from_status, last.to_status, last.by, last.at) == (
        "need to be done",
        "in-progress",
        "ci",
        LATER,
    )
    assert last.changed == ("status",)


def test_other_changes_are_in_the_history_too() -> None:
    task = changed(new(), notes="Ask the carrier.", branch="retry")
    assert task.history[-1].changed == ("branches", "notes")
    assert task.history[-1].from_status == task.history[-1].to_status


def test_what_is_not_given_stays_and_what_is_empty_goes() -> None:
    task = changed(new(description="Why", notes="How"), notes="")
    assert (task.title, task.description, task.notes) == ("Retry", "Why", "")


def test_an_empty_change_changes_nothing() -> None:
    task = changed(new(), branch="retry")
    assert changed(task, branch="retry", title="Retry") is task


def test_links_are_unique() -> None:
    task = changed(
        new(repo="Acme/Parcels"), branch="retry", commit=COMMIT.upper(), commit_message="Retry\n\nWhy"
    )
    task = changed(task, branch="retry", commit=COMMIT)
    assert [(link.branch_name, link.repo) for link in task.branches] == [("retry", "acme/parcels")]
    assert [(link.commit_hash, link.commit_message) for link in task.commits] == [(COMMIT, "Retry")]
    assert len(changed(task, branch="retry", repo="acme/other").branches) == 2


@pytest.mark.parametrize("commit", ["abc", COMMIT[:-1], COMMIT + "0", "g" * 40, "HEAD", COMMIT + "\n"])
def test_a_commit_has_forty_hex_digits(commit) -> None:
    assert code_of(changed, new(), commit=commit) is ErrorCode.INVALID_COMMIT


def test_a_status_is_one_of_those_that_are_set() -> None:
    assert changed(new(), status="blocked").status == "blocked"
    assert code_of(changed, new(), status="done") is ErrorCode.INVALID_STATUS


def test_a_change_of_another_version_is_refused() -> None:
    task = changed(new(), status="in-progress")
    assert changed(task, status="complete", expected_version=2).version == 3
    with pytest.raises(PrismError) as refused:
        changed(task, status="complete", expected_version=1)
    assert refused.value.code is ErrorCode.TASK_CONFLICT
    assert refused.value.body.details["version"] == 2


@pytest.mark.parametrize("path", ["/etc/passwd", "../plan.md", "a//b", "a\0b", "https://example.com/\0"])
def test_a_planning_reference_is_a_path_of_the_repository(path) -> None:
    assert code_of(new, planning_references=(path,)) is ErrorCode.INVALID_PATH
    assert code_of(changed, new(), planning_references=(path,)) is ErrorCode.INVALID_PATH


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/specs/retries.md", ReferenceType.SPEC),
        ("plans/q4.md", ReferenceType.PLAN),
        ("PLAN.md", ReferenceType.PLAN),
        ("docs/decisions/0007.md", ReferenceType.DECISION),
        ("src/retry.py", ReferenceType.CODE),
        ("README.md", ReferenceType.DOCUMENT),
        ("acme/plans: src/retry.py:7", ReferenceType.CODE),
        ("src/retry.py::Retry.again", ReferenceType.CODE),
        ("Retry.again", ReferenceType.SYMBOL),
        ("retry_all()", ReferenceType.SYMBOL),
        ("7c0d5a54-3f0e-4c7b-9d1e-2a6b8c4f1e90", ReferenceType.DOCUMENT),
        ("https://example.com/specs/7?x=1", ReferenceType.URL),
    ],
)
def test_the_type_of_a_reference_is_told_by_its_path(path, expected) -> None:
    assert new(planning_references=(path, path)).references[0].reference_type == expected
    assert len(new(planning_references=(path, path)).references) == 1


def test_the_history_keeps_the_creation_and_the_newest_changes() -> None:
    task = new()
    for number in range(tasks.HISTORY_MAX + 20):
        task = changed(task, title=f"Title {number}")
    assert len(task.history) == tasks.HISTORY_MAX
    assert task.history[0].version == 1
    assert [change.version for change in task.history[1:]] == list(
        range(task.version - tasks.HISTORY_MAX + 2, task.version + 1)
    )


def test_a_task_has_a_largest_number_of_links() -> None:
    task = new()
    for number in range(tasks.BRANCHES_MAX):
        task = changed(task, branch=f"b{number}")
    assert code_of(changed, task, branch="another") is ErrorCode.LIMIT_EXCEEDED
    assert changed(task, branch="b7") is task


def test_a_record_fits_into_a_message(monkeypatch) -> None:
    task = new(description="é" * 20_000)
    assert changed(task, notes="é" * 20_000).version == 2
    monkeypatch.setattr(tasks, "RECORD_BYTES_MAX", 41_000)
    assert code_of(new, description="é" * 20_000, notes="é" * 1_000) is ErrorCode.PAYLOAD_TOO_LARGE
    assert code_of(changed, task, notes="é" * 1_000) is ErrorCode.PAYLOAD_TOO_LARGE


@pytest.mark.parametrize("text", ["7C0D5A54", "#7c0d5a54", "7c0d5a54"])
def test_a_short_id_is_the_first_eight_digits(text) -> None:
    assert tasks.id_prefix(text) == "7c0d5a54"


def test_an_id_may_have_no_dashes() -> None:
    assert tasks.id_prefix("7c0d5a543f0e4c7b9d1e2a6b8c4f1e90") == "7c0d5a54-3f0e-4c7b-9d1e-2a6b8c4f1e90"
    assert tasks.id_prefix("7c0d5a54-3f0e") == "7c0d5a54-3f0e"


@pytest.mark.parametrize("text", ["7c0d5a5", "", "latest", "7c0d5a54" * 5, "%", "7c0d5a54'"])
def test_nothing_else_is_an_id(text) -> None:
    assert code_of(tasks.id_prefix, text) is ErrorCode.TASK_NOT_FOUND


def test_a_reply_hides_the_links_of_repositories_that_are_hidden() -> None:
    task = changed(new(), branch="retry", repo="acme/secret")
    request = GetTaskRequest(tenant="acme", task_id=task.task, visible=frozenset({"acme/open"}))
    assert tasks.reply_of(task, request).branches == ()
    assert tasks.is_visible(task, request)
    assert not tasks.is_visible(new(repo="acme/secret"), request)


def test_the_history_is_in_order_even_if_clocks_differ() -> None:
    task = changed(new(), status="in-progress")
    request = UpdateTaskRequest(tenant="acme", task_id=task.task, title="Earlier")
    assert tasks.changed(request, STATUSES, START)(task).updated_at == LATER


def pushed(number: int, message: str = "Retry\n\nTask: 7c0d5a54") -> PushedCommit:
    return PushedCommit(commit=f"{number:040x}", message=message)


def test_a_push_links_its_branch_and_commits_in_one_change() -> None:
    task = tasks.linked("7c0d5a54-retry", [pushed(1), pushed(2)], "Acme/App", LATER)(new())
    assert [(link.branch_name, link.repo) for link in task.branches] == [("7c0d5a54-retry", "acme/app")]
    assert [(link.commit_message, link.repo) for link in task.commits] == [("Retry", "acme/app")] * 2
    assert (task.version, len(task.history)) == (2, 2)
    last = task.history[-1]
    assert (last.by, last.at, last.changed) == ("push", LATER, ("branches", "commits"))
    assert last.from_status == last.to_status == task.status == "need to be done"


def test_a_repeated_push_changes_nothing() -> None:
    change = tasks.linked("7c0d5a54-retry", [pushed(1)], "acme/app", LATER)
    task = change(new())
    assert tasks.linked("7c0d5a54-retry", [pushed(1)], "acme/app", LATER + timedelta(hours=1))(task) is task
    assert tasks.linked("", [], "acme/app", LATER)(task) is task


def test_a_push_to_a_repository_with_longer_hashes_links_no_commit() -> None:
    longer = PushedCommit(commit="a" * 64, message="Task: 7c0d5a54")
    assert tasks.linked("", [longer], "acme/app", LATER)(new()).commits == ()


def test_a_push_that_does_not_fit_links_nothing() -> None:
    full = tasks.linked("", [pushed(number) for number in range(tasks.COMMITS_MAX)], "acme/app", LATER)(new())
    assert len(full.commits) == tasks.COMMITS_MAX
    change = tasks.linked("retry", [pushed(tasks.COMMITS_MAX)], "acme/app", LATER)
    assert code_of(change, full) is ErrorCode.LIMIT_EXCEEDED


def merge(name: str = "acme/app", pull_request: str = "pull/12") -> PullRequestMerged:
    merged = MergedPullRequest(url=f"https://git.example.org/{name}/{pull_request}")
    return PullRequestMerged(
        tenant="acme", repo="r", name=name, pull_request=pull_request, merged=merged, delivery="1"
    )


@pytest.mark.parametrize("repo", ["", "acme/app"])
def test_a_merged_pull_request_completes_a_task_and_is_in_its_history(repo: str) -> None:
    task = tasks.completed(merge("Acme/App"), LATER)(new(repo=repo))
    last = task.history[-1]
    assert (task.status, last.by, last.from_status, last.to_status) == (
        "complete", "pull request", "need to be done", "complete",
    )  # fmt: skip
    assert (last.repo, last.pull_request) == ("acme/app", "pull/12")
    assert last.url == "https://git.example.org/Acme/App/pull/12"


def test_a_pull_request_completes_a_task_once_however_often_it_is_delivered() -> None:
    task = tasks.completed(merge(), LATER)(new())
    assert tasks.completed(merge(), LATER)(task) is task
    opened = changed(task, status="in-progress")
    assert tasks.completed(merge(), LATER)(opened) is opened
    assert tasks.completed(merge(pull_request="pull/13"), LATER)(opened).status == "complete"


def test_a_complete_task_and_one_of_another_repository_stay_as_they_are() -> None:
    for task in (changed(new(), status="complete"), new(repo="acme/other")):
        assert tasks.completed(merge(), LATER)(task) is task


def test_the_pull_request_is_for_callers_who_see_its_repository() -> None:
    task = tasks.completed(merge(), LATER)(new())
    every = GetTaskRequest(tenant="acme", task_id=task.task)
    assert tasks.reply_of(task, every).history == task.history
    some = GetTaskRequest(tenant="acme", task_id=task.task, visible=frozenset({"acme/other"}))
    shown = tasks.reply_of(task, some).history[-1]
    assert (shown.to_status, shown.repo, shown.pull_request, shown.url) == ("complete", "", "", "")
