"""Tasks on a real NATS server: writers at once, copies of the service, restarts, tenants, pages."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from workspace_stack import TENANT, Desk, desk

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import TaskRecord, task_key
from prism_contracts.rpc.tasks import (
    CREATE_TASK,
    GET_TASK,
    LIST_TASKS,
    UPDATE_TASK,
    CreateTaskRequest,
    GetTaskRequest,
    ListTasksReply,
    ListTasksRequest,
    TaskReply,
    UpdateTaskRequest,
)
from prism_runtime.records import Records, open_bucket

COMMIT = "4f2d9c1b8a7e6f5d4c3b2a1908f7e6d5c4b3a291"
WRITERS = 16
CHANGES = 5
PAGED = 3_000


@pytest.fixture
async def place(nats_server) -> AsyncIterator[Desk]:
    async with desk(nats_server.url, copies=2) as made:
        yield made


async def create(place: Desk, title: str = "Retry", **fields: object) -> TaskReply:
    request = CreateTaskRequest(**({"tenant": TENANT, "by": "laptop"} | fields), title=title)
    return await place.ask(CREATE_TASK, request)


async def update(place: Desk, task: str, **fields: object) -> TaskReply:
    request = UpdateTaskRequest(**({"tenant": TENANT, "by": "ci"} | fields), task_id=task)
    return await place.ask(UPDATE_TASK, request)


async def get(place: Desk, task: str, **fields: object) -> TaskReply:
    return await place.ask(GET_TASK, GetTaskRequest(**({"tenant": TENANT} | fields), task_id=task))


async def listed(place: Desk, **fields: object) -> ListTasksReply:
    return await place.ask(LIST_TASKS, ListTasksRequest(**({"tenant": TENANT} | fields)))


async def refused(call) -> ErrorCode:
    with pytest.raises(PrismError) as caught:
        await call
    assert caught.value.body.next_action
    return caught.value.code


async def test_a_task_goes_from_its_creation_to_its_end(place: Desk) -> None:
    made = await create(place, planning_references=("docs/specs/retries.md",))
    await update(place, made.id, status="in-progress", branch="retry")
    done = await update(place, made.id, status="complete", commit=COMMIT, commit_message="Retry")
    found = await get(place, made.id)
    assert found == done
    assert [change.to_status for change in found.history] == ["need to be done", "in-progress", "complete"]
    assert [change.by for change in found.history] == ["laptop", "ci", "ci"]
    assert (found.branches[0].branch_name, found.commits[0].commit_hash) == ("retry", COMMIT)
    assert await get(place, f"#{made.id[:8].upper()}") == found


async def test_a_list_after_a_change_has_it_whichever_copy_answers(place: Desk) -> None:
    for number in range(20):
        made = await create(place, f"Task {number}")
        assert (await listed(place)).tasks[0].id == made.id
        await update(place, made.id, status="complete")
        assert (await listed(place, status="complete")).total == number + 1


async def test_sixteen_writers_of_a_task_lose_nothing(place: Desk) -> None:
    made = await create(place)

    async def write(writer: int) -> None:
        for change in range(CHANGES):
            await update(place, made.id, branch=f"branch-{writer}-{change}")

    await asyncio.gather(*map(write, range(WRITERS)))
    found = await get(place, made.id)
    assert found.version == WRITERS * CHANGES + 1
    assert [change.version for change in found.history] == list(range(1, found.version + 1))
    assert {link.branch_name for link in found.branches} == {
        f"branch-{writer}-{change}" for writer in range(WRITERS) for change in range(CHANGES)
    }


async def test_of_two_changes_of_one_version_one_is_refused(place: Desk) -> None:
    made = await create(place)
    results = await asyncio.gather(
        *(update(place, made.id, title=f"Title {n}", expected_version=1) for n in range(2)),
        return_exceptions=True,
    )
    (conflict,) = (one for one in results if isinstance(one, PrismError))
    assert conflict.code is ErrorCode.TASK_CONFLICT
    assert conflict.body.details["version"] == 2


async def test_a_repeated_creation_makes_one_task(place: Desk) -> None:
    made = await asyncio.gather(*(create(place, client_id="plan-7") for _ in range(8)))
    assert len({one.id for one in made}) == 1
    assert (await listed(place)).total == 1
    other = await create(place, client_id="plan-7", tenant="other")
    assert other.id != made[0].id


async def test_a_record_that_no_list_knew_is_listed_after_a_restart(place: Desk, nats_server) -> None:
    made = await create(place)
    for copy in place.copies:  # as if they were killed between the record and what follows it
        await copy.tasks._tasks._followed.close()
    bucket = await open_bucket(place.bus.js, names.KV_TASKS)
    records = Records(bucket, TaskRecord)
    await records.change(
        task_key(TENANT, made.id), lambda task: task.model_copy(update={"status": "complete"})
    )
    async with desk(nats_server.url) as fresh:
        (app,) = fresh.copies
        page = await app.tasks.list(ListTasksRequest(tenant=TENANT, status="complete"))
        assert [one.id for one in page.tasks] == [made.id]


async def test_a_copy_that_is_behind_refuses_to_answer(place: Desk) -> None:
    await create(place)
    (app, _) = place.copies
    await app.tasks._tasks._followed.close()
    await create(place)
    assert await refused(app.tasks.list(ListTasksRequest(tenant=TENANT))) is ErrorCode.UNAVAILABLE


async def test_pages_have_every_task_once(place: Desk) -> None:
    for start in range(0, PAGED, 100):
        await asyncio.gather(*(create(place, f"Task {number}") for number in range(start, start + 100)))
    seen: list[str] = []
    cursor = ""
    while True:
        page = await listed(place, limit=100, cursor=cursor)
        seen += [one.id for one in page.tasks]
        cursor = page.next_cursor
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == page.total == PAGED
    assert await refused(listed(place, status="complete", cursor=(await listed(place)).next_cursor)) is (
        ErrorCode.INVALID_CURSOR
    )


async def test_another_tenant_sees_nothing(place: Desk) -> None:
    made = await create(place)
    assert (await listed(place, tenant="other")).total == 0
    assert (await listed(place, tenant="other", query="retry")).total == 0
    for task in (made.id, made.id[:8]):
        assert await refused(get(place, task, tenant="other")) is ErrorCode.TASK_NOT_FOUND
        assert await refused(update(place, task, tenant="other", title="x")) is ErrorCode.TASK_NOT_FOUND


async def test_a_task_of_a_hidden_repository_does_not_exist(place: Desk) -> None:
    made = await create(place, repo="acme/secret")
    narrow = {"visible": frozenset({"acme/open"})}
    assert (await listed(place, **narrow)).total == 0
    assert await refused(get(place, made.id, **narrow)) is ErrorCode.TASK_NOT_FOUND
    assert await refused(update(place, made.id, title="x", **narrow)) is ErrorCode.TASK_NOT_FOUND
    assert await refused(create(place, repo="acme/secret", **narrow)) is ErrorCode.REPO_NOT_FOUND
    assert (await get(place, made.id)).title == "Retry"


async def test_wrong_requests_are_refused(place: Desk) -> None:
    made = await create(place)
    assert await refused(get(place, "7c0d5a54-0000")) is ErrorCode.TASK_NOT_FOUND
    assert await refused(update(place, made.id, status="done")) is ErrorCode.INVALID_STATUS
    assert await refused(listed(place, status="done")) is ErrorCode.INVALID_STATUS
    assert await refused(update(place, made.id, commit="abc")) is ErrorCode.INVALID_COMMIT
    assert await refused(create(place, planning_references=("../x",))) is ErrorCode.INVALID_PATH
    assert await refused(listed(place, query="?")) is ErrorCode.EMPTY_QUERY
    assert (await get(place, made.id)).version == 1


async def test_a_tenant_has_a_largest_number_of_tasks(place: Desk) -> None:
    for copy in place.copies:
        copy.tasks._tasks._tasks_max = 1
    await create(place, client_id="a")
    await listed(place)
    for copy in place.copies:
        await copy.tasks._tasks._followed.catch_up()
    assert await refused(create(place)) is ErrorCode.LIMIT_EXCEEDED
    assert (await create(place, client_id="a")).version == 1
