"""Pushes that name tasks, on a real NATS server: redelivered, of two tenants, of one branch for two tasks."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from crashing import ended_at, writes_watched
from workspace_stack import TENANT, Desk, desk

from prism_contracts import names
from prism_contracts.base import repo_id
from prism_contracts.events import BranchPushed, MergedPullRequest, PullRequestMerged, PushedCommit
from prism_contracts.records import Repository, TaskRecord, TasksOnMerge, task_key
from prism_contracts.rpc.tasks import (
    CREATE_TASK,
    GET_TASK,
    UPDATE_TASK,
    CreateTaskRequest,
    GetTaskRequest,
    TaskReply,
    UpdateTaskRequest,
)
from prism_runtime.records import Records, open_bucket
from prism_workspace.core.tasks import COMMITS_MAX, created

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
REPO = "acme/parcel-tracker"
DEADLINE_S = 120


@pytest.fixture
async def place(nats_server) -> AsyncIterator[Desk]:
    async with desk(nats_server.url, copies=2) as made:
        yield made


def commit(number: int, message: str) -> PushedCommit:
    return PushedCommit(commit=f"{number:040x}", message=message)


async def create(place: Desk, tenant: str = TENANT, **fields: object) -> TaskReply:
    return await place.ask(
        CREATE_TASK, CreateTaskRequest(tenant=tenant, title="Retry", by="laptop", **fields)
    )


async def get(place: Desk, task: str, tenant: str = TENANT, **fields: object) -> TaskReply:
    return await place.ask(GET_TASK, GetTaskRequest(tenant=tenant, task_id=task, **fields))


def push(*commits: PushedCommit, branch: str = "main", job: str = "1", tenant: str = TENANT) -> BranchPushed:
    return BranchPushed(
        tenant=tenant, repo=repo_id(REPO), name=REPO, branch=branch, commits=commits, push=job
    )


async def apply(place: Desk, event: BranchPushed) -> None:
    """Hands a push to a copy, as a delivery does."""
    await place.copies[0].tasks.on_pushed(event)


async def test_a_push_on_the_bus_links_the_task_that_it_names(place: Desk) -> None:
    task = await create(place)
    event = push(
        commit(1, f"Retry\n\nTask: {task.id}"), commit(2, "Go on"), branch=f"feature/{task.id[:8]}-retry"
    )
    await place.bus.publish(event)
    async with asyncio.timeout(DEADLINE_S):
        while not (found := await get(place, task.id)).branches:
            await asyncio.sleep(0.02)
    assert [(link.branch_name, link.repo) for link in found.branches] == [(event.branch, REPO)]
    assert [link.commit_hash for link in found.commits] == [event.commits[0].commit]
    assert (found.version, found.history[-1].by, found.status) == (2, "push", "need to be done")


async def test_a_redelivered_push_adds_nothing(place: Desk) -> None:
    task = await create(place)
    event = push(commit(1, f"Retry (#{task.id[:8]})"), branch=f"{task.id}-retry")
    # Both copies may have the same delivery: the first one's ack was lost.
    await asyncio.gather(*(copy.tasks.on_pushed(event) for copy in place.copies for _ in range(3)))
    found = await get(place, task.id)
    assert (found.version, len(found.branches), len(found.commits)) == (2, 1, 1)


async def test_a_commit_that_is_pushed_to_another_branch_is_linked_once(place: Desk) -> None:
    task = await create(place)
    one, two = commit(1, f"#{task.id[:8]}"), commit(2, f"task: {task.id[:8]}")
    await apply(place, push(one, branch="topic"))
    await apply(place, push(one, two, job="2"))
    found = await get(place, task.id)
    assert [link.commit_hash for link in found.commits] == [one.commit, two.commit]
    assert found.version == 3


async def test_a_push_links_no_task_of_another_tenant(place: Desk) -> None:
    own, foreign = await create(place), await create(place, "other")
    await apply(place, push(commit(1, f"#{own.id[:8]} #{foreign.id}"), branch=foreign.id))
    assert len((await get(place, own.id)).commits) == 1
    assert (await get(place, foreign.id, "other")).version == 1


async def test_links_are_for_callers_who_see_the_repository(place: Desk) -> None:
    task = await create(place)
    await apply(place, push(commit(1, f"#{task.id[:8]}"), branch=task.id))
    found = await get(place, task.id, visible=frozenset({"acme/other"}))
    assert (found.branches, found.commits) == ((), ())


async def test_an_id_of_two_tasks_links_none_and_is_logged(place: Desk, caplog) -> None:
    bucket = await open_bucket(place.bus.js, names.KV_TASKS)
    records = Records(bucket, TaskRecord)
    ids = [f"7c0d5a54-0000-4000-8000-{number:012x}" for number in (1, 2)]
    for one in ids:
        made = created(CreateTaskRequest(tenant=TENANT, title="Retry"), NOW).model_copy(update={"task": one})
        await records.put(task_key(TENANT, one), made)
    with caplog.at_level(logging.WARNING):
        await apply(place, push(commit(1, "#7c0d5a54"), branch="7c0d5a54-retry"))
    assert [(await get(place, one)).version for one in ids] == [1, 1]
    assert "several tasks have this id" in caplog.text
    await apply(place, push(commit(1, f"#{ids[1]}"), branch=f"{ids[1]}-retry"))
    assert [(await get(place, one)).version for one in ids] == [1, 2]


async def test_a_branch_stays_with_its_task_and_the_other_is_reported(place: Desk, caplog) -> None:
    first, second = await create(place), await create(place)
    branch = f"{second.id[:8]}-retry"
    request = UpdateTaskRequest(tenant=TENANT, task_id=first.id, branch=branch, repo=REPO)
    await place.ask(UPDATE_TASK, request)
    with caplog.at_level(logging.WARNING):
        await apply(place, push(commit(1, f"#{second.id[:8]}"), branch=branch))
    assert first.id in caplog.text
    found = await get(place, second.id)
    assert (found.branches, len(found.commits)) == ((), 1)  # the message is about the commit alone
    both = f"{first.id[:8]}/{second.id[:8]}"
    await apply(place, push(branch=both, job="2"))
    assert [(await get(place, one.id)).version for one in (first, second)] == [2, 2]


async def test_a_full_task_is_reported_and_does_not_hold_up_the_others(place: Desk, caplog) -> None:
    full, other = await create(place), await create(place)
    for start in (0, COMMITS_MAX // 2):
        commits = (commit(start + number, f"#{full.id[:8]}") for number in range(COMMITS_MAX // 2))
        await apply(place, push(*commits, job=str(start)))
    with caplog.at_level(logging.WARNING):
        await apply(place, push(commit(COMMITS_MAX, f"#{full.id[:8]} #{other.id[:8]}"), job="last"))
    assert f"names task {full.id}, which cannot take it" in caplog.text
    assert len((await get(place, full.id)).commits) == COMMITS_MAX
    assert len((await get(place, other.id)).commits) == 1


def merge(number: int = 12, *, tenant: str = TENANT, **fields: str) -> PullRequestMerged:
    merged = MergedPullRequest(url=f"https://git.example.org/{REPO}/pull/{number}", target="main", **fields)
    return PullRequestMerged(
        tenant=tenant,
        repo=repo_id(REPO),
        name=REPO,
        pull_request=f"pull/{number}",
        merged=merged,
        delivery=str(number),
    )


async def test_a_push_whose_handler_dies_before_a_write_is_whole_after_a_redelivery(place: Desk) -> None:
    async def links(write: int) -> list[str]:
        """Ends the handler before a write, delivers again, and returns the name of the write."""
        two = [await create(place), await create(place)]
        event = push(
            *(commit(n, f"#{one.id}") for n, one in enumerate(two)), branch=two[0].id, job=str(write)
        )
        ended = await ended_at(lambda: apply(place, event), write)
        await apply(place, event)
        found = [await get(place, one.id) for one in two]
        assert [len(one.commits) for one in found] == [1, 1]
        assert [one.version for one in found] == [2, 2]
        return [ended] if ended else []

    with writes_watched():
        assert len(await links(1) + await links(2)) == 2
        assert await links(3) == []


async def test_merges_complete_nothing_unless_the_setting_says_so(place: Desk) -> None:
    task = await create(place)
    await place.copies[0].tasks.on_merged(merge(title=f"#{task.id[:8]}"))
    assert (await get(place, task.id)).version == 1


async def test_a_merge_completes_the_tasks_that_branch_title_or_body_name(nats_server) -> None:
    async with desk(nats_server.url, tasks_completed_by_merge=True) as place:
        titled, described, branched, linked = [await create(place) for _ in range(4)]
        request = UpdateTaskRequest(tenant=TENANT, task_id=linked.id, branch="retry-deliveries", repo=REPO)
        await place.ask(UPDATE_TASK, request)
        event = merge(
            title=f"Retry (#{titled.id[:8]})", body=f"Why\n\nTask: {described.id}", branch=branched.id
        )
        await place.bus.publish(event)
        async with asyncio.timeout(DEADLINE_S):
            while (await get(place, branched.id)).status != "complete":
                await asyncio.sleep(0.02)
        await place.copies[0].tasks.on_merged(merge(13, branch="retry-deliveries"))
        found = [await get(place, one.id) for one in (titled, described, branched, linked)]
        assert {one.status for one in found} == {"complete"}
        assert [one.history[-1].url[-2:] for one in found] == ["12", "12", "12", "13"]
        # Redelivered after somebody has opened the task again.
        request = UpdateTaskRequest(tenant=TENANT, task_id=titled.id, status="in-progress")
        opened = await place.ask(UPDATE_TASK, request)
        await place.copies[0].tasks.on_merged(event)
        assert await get(place, titled.id) == opened


@pytest.mark.parametrize(
    ("installation", "said", "status"),
    [
        (False, TasksOnMerge.COMPLETE, "complete"),
        (True, TasksOnMerge.KEEP, "need to be done"),
        (True, TasksOnMerge.INSTALLATION, "complete"),
        (False, TasksOnMerge.INSTALLATION, "need to be done"),
    ],
)
async def test_a_repository_says_whether_its_merges_complete_tasks(
    nats_server, installation: bool, said: TasksOnMerge, status: str
) -> None:
    async with desk(nats_server.url, tasks_completed_by_merge=installation) as place:
        task = await create(place)
        event = merge(title=f"#{task.id}")
        repository = Repository(
            tenant=TENANT,
            repo=event.repo,
            name=event.name,
            source="https://git.example/acme/app",
            created_at=datetime.now(UTC),
            tasks_on_merge=said,
        )
        bucket = Records(await open_bucket(place.bus.js, names.KV_REPOSITORIES), Repository)
        await bucket.put(repository.key, repository)
        await place.copies[0].tasks.on_merged(event)
        assert (await get(place, task.id)).status == status


async def test_a_merge_completes_no_task_of_another_tenant_or_repository(nats_server) -> None:
    async with desk(nats_server.url, tasks_completed_by_merge=True) as place:
        foreign, elsewhere = await create(place, "other"), await create(place, repo="acme/other")
        await place.copies[0].tasks.on_merged(merge(title=f"#{foreign.id} #{elsewhere.id}"))
        assert (await get(place, foreign.id, "other")).version == 1
        assert (await get(place, elsewhere.id)).version == 1


async def test_a_branch_of_two_tasks_completes_neither_and_says_so(nats_server, caplog) -> None:
    async with desk(nats_server.url, tasks_completed_by_merge=True) as place:
        two = [await create(place), await create(place)]
        for one in two:
            request = UpdateTaskRequest(tenant=TENANT, task_id=one.id, branch="retry", repo=REPO)
            await place.ask(UPDATE_TASK, request)
        with caplog.at_level(logging.WARNING):
            await place.copies[0].tasks.on_merged(merge(branch="retry"))
        assert all(one.id in caplog.text for one in two)
        assert [(await get(place, one.id)).status for one in two] == ["need to be done"] * 2
