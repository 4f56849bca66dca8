"""How builds are assigned to processes, and which wait for which. No process is started."""

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
    """Whether a task still waits for a reservation after `leave` is set."""
    leave.set()
    done, _ = await asyncio.wait([task], timeout=0.05)
    return not done


async def test_edit_does_not_wait_for_an_import_of_another_repository(tmp_path):
    processes = BuildProcesses(tmp_path, warm_s=1, seconds_max=1)
    async with processes.reserve("depot", Lane.BULK) as first:
        pass
    async with processes.reserve("letters", Lane.BULK) as second:
        assert second is not first
        async with processes.reserve("depot", Lane.LIVE) as again:
            assert again is first


async def test_bulk_builds_leave_a_process_for_edits(tmp_path):
    processes = BuildProcesses(tmp_path, warm_s=1, seconds_max=1)
    leave = asyncio.Event()
    async with processes.reserve("depot", Lane.BULK):
        task = asyncio.create_task(hold_reservation(processes, "letters", Lane.BULK, leave))
        assert await waits(task, leave)
        async with processes.reserve("stamps", Lane.LIVE):
            pass
    await task


async def test_builds_of_one_repository_are_serial_in_all_lanes(tmp_path):
    processes = BuildProcesses(tmp_path, warm_s=1, seconds_max=1)
    leave = asyncio.Event()
    async with processes.reserve("depot", Lane.BULK) as first:
        task = asyncio.create_task(hold_reservation(processes, "depot", Lane.LIVE, leave))
        assert await waits(task, leave)
    assert await task is first


async def test_waiting_builds_of_a_repository_share_a_process(
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
