"""The cost of the longest allowed hostile value of each argument of each tool, in CPU time of all services
together.
"""

import psutil
from figures import Figures
from running_stack import RunningStack

from bench.hostile import Call, worst_calls

KNOWN = {
    "repo": "acme/ledger",
    "symbol": "withdraw",
    "path": "src/accounts.py",
    "file_path": "src/accounts.py",
}
CPU_S_MAX = 0.1
# Services also do other work: an expensive call is repeated, and the cheapest one counts.
TIMES = 5


async def test_no_allowed_argument_is_costly(stack: RunningStack, figures: Figures) -> None:
    services = families(stack)
    costly: dict[str, float] = {}
    calls, highest = 0, 0.0
    async with stack.agent() as agent:

        async def cost(call: Call) -> float:
            before = cpu_s(services)
            await agent.outcome(call.tool, **call.arguments)
            return cpu_s(services) - before

        for call in worst_calls(KNOWN):
            calls += 1
            spent = await cost(call)
            for _ in range(TIMES - 1):
                if spent <= CPU_S_MAX:
                    break
                spent = min(spent, await cost(call))
            highest = max(highest, spent)
            if spent > CPU_S_MAX:
                costly[f"{call.tool}: {call.about}"] = round(spent, 2)
    figures.add(
        f"{calls} calls with the longest allowed hostile argument",
        f"{len(costly)} cost more than {CPU_S_MAX * 1000:.0f} ms of CPU; the most {highest * 1000:.0f} ms",
        "0",
    )
    assert not costly, costly


def families(stack: RunningStack) -> list[psutil.Process]:
    """Returns every service and its child processes."""
    heads = [psutil.Process(facts["pid"]) for facts in stack.state()["services"].values()]
    return [process for head in heads for process in (head, *head.children(recursive=True))]


def cpu_s(processes: list[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes if process.is_running()]
    return sum(one.user + one.system for one in times)
