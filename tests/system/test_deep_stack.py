"""The deep tier on a whole stack: turned on over an existing index, killed, stopped, turned off."""

from collections.abc import Iterator

import pytest
from running_stack import RunningStack, until

pytestmark = pytest.mark.models

REPO = "acme/parcels"
FILES = {
    f"src/part_{number:03}.py": f'"""Step {number} of a parcel\'s way."""\n\ndef step_{number}():\n    return {number}\n'.encode()
    for number in range(300)
} | {
    "src/backoff.py": b'"""Waits longer after each failed attempt."""\n\ndef delay(attempt):\n    return 2 ** attempt\n'
}
QUESTION = "pause before trying again"
KILLED = ("indexer", "embedder-deep")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def stack(folder) -> Iterator[RunningStack]:
    """A stack with the deep tier, on an index that was built without it."""
    without = RunningStack(folder)
    without.up()
    without.send(REPO, FILES, lane="bulk")
    without.down()
    stack = RunningStack(folder, PRISM_DEEP_ENABLED="true")
    stack.up()
    yield stack
    stack.down()


async def test_deep_tier_fills_an_old_index_and_may_hang(stack, folder):
    for service in KILLED:
        stack.kill(service)
    for service in KILLED:
        stack.wait_restarted(service, 1)

    def is_filled() -> bool:
        return stack.get(f"/api/v1/repos/{REPO}/coverage")["deep"] == len(FILES)

    await until(is_filled, what="every file has its deep vector")
    async with stack.agent(REPO) as agent:
        answer = await agent.ask("search_code", query=QUESTION)
        assert answer["results"][0]["file_path"] == "src/backoff.py"
        assert answer["results"][0]["legs"]["deep"] == 1
        assert answer["receipt"]["missing_legs"] == []
        with stack.stopped("embedder-deep"):
            answer = await agent.ask("search_code", query=QUESTION)
            assert answer["results"]
            assert answer["receipt"]["missing_legs"] == ["deep"]
    stack.down()
    off = RunningStack(folder)
    off.up()
    async with off.agent(REPO) as agent:
        answer = await agent.ask("search_code", query=QUESTION)
        assert answer["receipt"]["missing_legs"] == []
        assert "deep" not in answer["results"][0]["legs"]
    off.down()
    stack.up()
