import asyncio

from prism_runtime.pace import PublishGate

FOR_EVER_S = 3_600.0


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_first_after_a_pause_passes_and_the_next_waits():
    gate = PublishGate(FOR_EVER_S)
    await gate.wait()
    waiting = asyncio.create_task(gate.wait())
    await turns()
    assert not waiting.done()
    waiting.cancel()


async def test_waiting_callers_pass_together():
    gate = PublishGate(0.001)
    await gate.wait()
    passed: list[int] = []

    async def pass_through(number: int) -> None:
        await gate.wait()
        passed.append(number)

    tasks = [asyncio.create_task(pass_through(number)) for number in range(3)]
    await tasks[0]
    assert passed == [0, 1, 2]


async def test_a_cancelled_waiter_does_not_block_others():
    gate = PublishGate(0.001)
    await gate.wait()
    tasks = [asyncio.create_task(gate.wait()) for _ in range(2)]
    await turns(1)
    tasks[0].cancel()
    await tasks[1]
