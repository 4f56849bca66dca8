"""Every reader sees one version of a file that is rewritten continuously."""

import asyncio
from collections.abc import Callable

from running_stack import RunningStack

REPO = "acme/flicker"
PATH = "src/flicker.py"
REWRITES = 8
LINES = {"alpha": 900, "omega": 620}


def version(name: str) -> str:
    """Returns a source in which every line names its version, and no two versions share a chunk."""
    return "".join(
        f"def {name}_{number}(value): return value * {number}  # {name}\n" for number in range(LINES[name])
    )


TEXTS = {name: version(name) for name in LINES}


def version_of(text: str) -> str:
    """Returns the version that all lines belong to."""
    found = {name for name in LINES if name in text}
    assert len(found) == 1, f"a mixture of {sorted(found)}: {text[:200]}…{text[-200:]}"
    return found.pop()


async def read(stack: RunningStack, is_over: Callable[[], bool], seen: set[str]) -> int:
    reads = 0
    async with stack.agent(REPO) as agent:
        while not is_over():
            answer, code = await agent.outcome("read_file", file_path=PATH, max_tokens=100_000)
            # A file that changes faster than it can be read is reported as such.
            assert answer or code == "unavailable", code
            if answer:
                name = version_of(answer["content"])
                assert answer["content"] == TEXTS[name]
                seen.add(name)
                reads += 1
    return reads


async def grep(stack: RunningStack, is_over: Callable[[], bool], seen: set[str]) -> int:
    asked = 0
    async with stack.agent(REPO) as agent:
        while not is_over():
            answer, code = await agent.outcome(
                "grep_code", pattern="# (alpha|omega)$", regex=True, limit=2_000, max_tokens=100_000
            )
            assert answer or code == "unavailable", code
            if answer:
                name = version_of("".join(match["text"] for match in answer["matches"]))
                assert len(answer["matches"]) == LINES[name], "lines are missing"
                assert answer["complete"]
                seen.add(name)
                asked += 1
    return asked


async def search(stack: RunningStack, is_over: Callable[[], bool], seen: set[str]) -> int:
    asked = 0
    async with stack.agent(REPO) as agent:
        while not is_over():
            answer = await agent.ask("search_code", query="value times 300", limit=5, detail="full")
            assert answer["results"], "neither version was found"
            for hit in answer["results"]:
                name = version_of(hit["content"])
                lines = TEXTS[name].splitlines()[hit["start_line"] - 1 : hit["end_line"]]
                assert hit["content"].splitlines() == lines
                seen.add(name)
            asked += 1
    return asked


async def test_readers_see_one_version_while_a_file_is_rewritten(shared_stack: RunningStack) -> None:
    shared_stack.send(REPO, {PATH: TEXTS["alpha"].encode()})
    done = asyncio.Event()
    seen: list[set[str]] = [set(), set(), set()]
    readers = [
        asyncio.create_task(ask(shared_stack, done.is_set, names))
        for ask, names in zip((read, grep, search), seen, strict=True)
    ]
    try:
        for number in range(REWRITES):
            name = ("omega", "alpha")[number % 2]
            job = await asyncio.to_thread(shared_stack.send, REPO, {PATH: TEXTS[name].encode()})
            assert job["state"] == "complete"
            assert job["counts"]["indexed"] == 1
    finally:
        done.set()
        asked = await asyncio.gather(*readers)
    assert all(count >= REWRITES // 2 for count in asked), asked
    assert all(names == set(LINES) for names in seen), "a reader never saw one of the versions"
