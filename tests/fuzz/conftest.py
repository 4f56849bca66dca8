"""Generated calls of a hostile tenant on a whole stack: `make test` makes 3,000, `make fuzz N=` any number."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from running_stack import RunningStack
from two_tenants import FILES, GROWTH_BYTES_MAX, OWN, OWN_FILES, VICTIM, Field, answers, resident


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.system)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    """A tenant with a repository of its own, beside the default tenant with another."""
    # Any text with a colon names a host for ssh. One that cannot be resolved answers 502, which says nothing of a route.
    stack = RunningStack(
        tmp_path_factory.mktemp("fuzzed") / "data", PRISM_POLL_INTERVAL_S="0", PRISM_CLONE_SCHEMES="https"
    )
    stack.up()
    job = stack.send(VICTIM, FILES)
    with stack.http() as http:
        repo = http.get("/api/v1/repos").json()["repositories"][0]
    before = answers(stack)
    hostile = asyncio.run(stack.of_tenant("mallory"))
    hostile.send(OWN, OWN_FILES)
    yield Field(hostile, (VICTIM, job["job"], str(repo.get("repo", "")), f"job:{job['job']}"))
    assert answers(stack) == before, "the other tenant's answers changed"
    stack.down()


@pytest.fixture
def flat_memory(hostile: Field) -> Iterator[None]:
    """Fails if a service keeps memory of every call."""
    before = resident(hostile.stack)
    yield
    grown = {name: size - before[name] for name, size in resident(hostile.stack).items()}
    assert max(grown.values()) < GROWTH_BYTES_MAX, grown
