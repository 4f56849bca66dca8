"""The table of tasks: filters, pages, words, tenants, and what a caller may not see."""

from datetime import UTC, datetime, timedelta

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import BranchLink, CommitLink, TaskRecord
from prism_contracts.rpc.tasks import ListTasksRequest
from prism_workspace.adapters import task_table
from prism_workspace.adapters.task_table import TaskTable

START = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
COMMIT = "4f2d9c1b8a7e6f5d4c3b2a1908f7e6d5c4b3a291"


def task(number: int, **fields: object) -> TaskRecord:
    at = START + timedelta(seconds=number)
    values = {"title": f"Task {number}", "status": "need to be done", "created_at": at, "updated_at": at}
    return TaskRecord(tenant="acme", task=f"{number:08x}-0000-4000-8000-000000000000", **(values | fields))


def filled(*records: TaskRecord) -> TaskTable:
    table = TaskTable()
    for record in records:
        table.put(record.key, record)
    return table


def titles(table: TaskTable, **filters: object) -> list[str]:
    found = table.page(ListTasksRequest(**({"tenant": "acme"} | filters)), None)
    assert found.total == len(found.tasks)
    return [one.title for one in found.tasks]


def test_the_last_updated_task_comes_first() -> None:
    table = filled(task(1), task(2), task(3))
    newer = task(1, updated_at=START + timedelta(hours=1), version=2)
    table.put(newer.key, newer)
    assert titles(table) == ["Task 1", "Task 3", "Task 2"]


def test_a_removed_task_is_gone() -> None:
    table = filled(task(1), task(2, description="parcel"))
    table.remove(task(2).key)
    table.remove(task(7).key)
    assert titles(table) == ["Task 1"]
    assert titles(table, query="parcel") == []
    assert table.count("acme") == 1


def test_every_filter_must_match() -> None:
    branch = BranchLink(branch_name="retry", linked_at=START)
    commit = CommitLink(commit_hash=COMMIT, linked_at=START)
    table = filled(
        task(1, status="complete", branches=(branch,)),
        task(2, branches=(branch,), commits=(commit,)),
        task(3, repo="acme/billing"),
    )
    assert titles(table, status="complete") == ["Task 1"]
    assert titles(table, branch="retry") == ["Task 2", "Task 1"]
    assert titles(table, branch="retry", status="complete") == ["Task 1"]
    assert titles(table, branch="retr") == []
    assert titles(table, commit=COMMIT[:7]) == titles(table, commit=COMMIT) == ["Task 2"]
    assert titles(table, repo="Acme/Billing") == ["Task 3"]


def test_stale_tasks_are_a_filter_like_others() -> None:
    table = filled(task(1), task(2, status="complete"), task(3), task(4, repo="acme/billing"))
    stale = {task(number).task for number in (1, 2, 4)}

    def found(**filters: object) -> list[str]:
        page = table.page(ListTasksRequest(**({"tenant": "acme"} | filters)), None, stale)
        assert page.total == len(page.tasks)
        return [one.title for one in page.tasks]

    assert found(stale=True) == ["Task 4", "Task 2", "Task 1"]
    assert found(stale=False) == ["Task 3"]
    assert found(stale=True, status="complete") == ["Task 2"]
    assert found(stale=True, query="task", repo="acme/billing") == ["Task 4"]
    assert found(stale=True, visible=frozenset()) == ["Task 2", "Task 1"]


def test_pages_have_every_task_once_whatever_their_times() -> None:
    table = filled(
        *(task(number, updated_at=START + timedelta(seconds=number % 7)) for number in range(1, 2_501))
    )
    seen, after = [], None
    while True:
        page = table.page(ListTasksRequest(tenant="acme", limit=100), after)
        assert page.total == 2_500
        seen += [(one.updated_at, one.id) for one in page.tasks]
        after = page.next_position
        if after is None:
            break
    assert len(set(seen)) == 2_500
    assert seen == sorted(seen, reverse=True)


def test_words_are_found_wherever_they_are() -> None:
    branch = BranchLink(branch_name="fix-carrier", linked_at=START)
    table = filled(
        task(1, title="Retry deliveries"),
        task(2, description="The push_queue forgets a delivery."),
        task(3, notes="See pushRetry in the client."),
        task(4, branches=(branch,)),
    )
    assert titles(table, query="deliver") == ["Retry deliveries", "Task 2"]
    assert titles(table, query="push queue") == ["Task 2"]
    assert set(titles(table, query="retry")) == {"Retry deliveries", "Task 3"}
    assert titles(table, query="carrier") == ["Task 4"]
    assert titles(table, query="00000003") == ["Task 3"]
    assert titles(table, query='"OR" NEAR(') == []


def test_a_word_of_the_title_counts_more() -> None:
    table = filled(task(1, title="Retry deliveries"), task(2, description="retry " * 2 + "word " * 30))
    assert titles(table, query="retry") == ["Retry deliveries", "Task 2"]


def test_a_search_has_pages(monkeypatch) -> None:
    table = filled(*(task(number, title="Retry", notes="word " * number) for number in range(1, 31)))
    monkeypatch.setattr(task_table, "RANKED_MAX", 25)
    seen, after = [], None
    while True:
        page = table.page(ListTasksRequest(tenant="acme", query="retry", limit=10), after)
        assert page.total == 25
        seen += [one.id for one in page.tasks]
        after = page.next_position
        if after is None:
            break
    assert len(seen) == len(set(seen)) == 25
    assert task(30).task in seen  # the newest matches are ranked
    assert task(5).task not in seen


def test_a_query_without_words_is_refused() -> None:
    with pytest.raises(PrismError) as refused:
        filled(task(1)).page(ListTasksRequest(tenant="acme", query="?!"), None)
    assert refused.value.code is ErrorCode.EMPTY_QUERY


def test_no_filter_reaches_another_tenant() -> None:
    foreign = task(1, title="Retry", repo="acme/billing").model_copy(update={"tenant": "other"})
    table = filled(foreign)
    assert titles(table) == titles(table, query="retry") == titles(table, repo="acme/billing") == []
    assert table.ids("acme", foreign.task[:8], 2) == []
    assert titles(table, tenant="other") == ["Retry"]


def test_a_caller_sees_no_task_and_no_link_of_a_repository_that_is_hidden_from_it() -> None:
    links = (
        BranchLink(branch_name="open", repo="acme/open", linked_at=START),
        BranchLink(branch_name="secret", repo="acme/secret", linked_at=START),
    )
    table = filled(task(1, repo="acme/secret"), task(2, repo="acme/open"), task(3, branches=links))
    visible = frozenset({"acme/open"})
    assert titles(table, visible=visible) == ["Task 3", "Task 2"]
    assert titles(table, visible=visible, branch="secret") == []
    page = table.page(ListTasksRequest(tenant="acme", visible=visible, branch="open"), None)
    assert [one.branches for one in page.tasks] == [("open",)]
    assert titles(table, visible=frozenset()) == ["Task 3"]


def test_an_id_is_found_by_its_beginning() -> None:
    table = filled(task(0xABCDEF01), task(0xABCDEF02))
    assert table.ids("acme", "abcdef01", 2) == [task(0xABCDEF01).task]
    assert len(table.ids("acme", "abcdef0", 2)) == 2


def test_a_branch_is_found_in_its_own_repository_and_tenant() -> None:
    def on(repo: str, branch: str = "retry") -> dict[str, object]:
        return {"branches": (BranchLink(branch_name=branch, repo=repo, linked_at=START),)}

    table = filled(task(1, **on("acme/app")), task(2, **on("acme/app")), task(3, **on("acme/other")))
    table.put("other.x", TaskRecord(**(task(4, **on("acme/app")).model_dump() | {"tenant": "other"})))
    assert table.holders("acme", "acme/app", "retry") == [task(1).task, task(2).task]
    assert table.holders("acme", "acme/app", "retr") == []
    assert table.holders("unknown", "acme/app", "retry") == []
