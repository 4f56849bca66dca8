"""Which process builds a graph, and who waits for whom. No process is started: nobody gives an order."""

import asyncio

from prism_atlas.adapters.build_processes import BuildProcess, BuildProcesses
from prism_contracts.base import Lane


async def hold_reservation(
    processes: BuildProcesses, repository: str, lane: Lane, leave: asyncio.Event
) -> BuildProcess:
    async with processes.reserve(repository, lane) as process:
        await leave.wait()
        return process


async def waits(task: asyncio.Task[BuildProcess], leave: asyncio.Event) -> bool:
    """Whether a turn is not over though nobody keeps it."""
    leave.set()
    done, _ = await asyncio.wait([task], timeout=0.05)
    return not done


async def test_an_edit_of_a_known_repository_does_not_wait_for_an_import_of_another(tmp_path):
    processes = BuildProcesses(tmp_path, warm_s=1, seconds_max=1)
    async with processes.reserve("depot", Lane.BULK) as first:
        pass
    async with processes.reserve("letters", Lane.BULK) as second:
        assert second is not first
        async with processes.reserve("depot", Lane.LIVE) as again:
            assert again is first


async def test_imports_take_turns_and_leave_a_process_to_edits(tmp_path):
    processes = BuildProcesses(tmp_path, warm_s=1, seconds_max=1)
    leave = asyncio.Event()
    async with processes.reserve("depot", Lane.BULK):
        task = asyncio.create_task(hold_reservation(processes, "letters", Lane.BULK, leave))
        assert await waits(task, leave)
        async with processes.reserve("stamps", Lane.LIVE):
            pass
    await task


async def test_builds_of_one_repository_take_turns_whatever_their_lane(tmp_path):
    processes = BuildProcesses(tmp_path, warm_s=1, seconds_max=1)
    leave = asyncio.Event()
    async with processes.reserve("depot", Lane.BULK) as first:
        task = asyncio.create_task(hold_reservation(processes, "depot", Lane.LIVE, leave))
        assert await waits(task, leave)
    assert await task is first


async def test_two_builds_of_one_repository_wait_for_the_same_process_though_it_forgets_what_it_knew(
    tmp_path,
):
    processes = BuildProcesses(tmp_path, warm_s=1, seconds_max=1)
    leave = asyncio.Event()
    async with processes.reserve("depot", Lane.LIVE) as first:
        async with processes.reserve("stamps", Lane.LIVE):
            waiting = asyncio.create_task(hold_reservation(processes, "letters", Lane.LIVE, leave))
            await asyncio.sleep(0)
        await first.close()  # as after a build that failed
        later = asyncio.create_task(hold_reservation(processes, "letters", Lane.LIVE, leave))
        assert await waits(later, leave)
    assert await waiting is first
    assert await later is first
