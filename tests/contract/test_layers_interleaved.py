"""The base is imported while a layer is being brought along: at whichever step that happens, the layer ends right."""

import asyncio
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from typing import Any

import pytest
from layers_stack import Town, town

from prism_contracts.base import BASE_LAYER
from prism_contracts.events import RepoIndexed

STEPS_MAX = 500


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path, hears_of_imports=False) as made:
        yield made


@types.coroutine
def interrupted(
    work: Coroutine[Any, None, None], step: int, meanwhile: Callable[[], Awaitable[None]]
) -> Generator[Any, Any, bool]:
    """Do some work, and before it goes on for the so many-th time all of something else; False if it ended before."""
    for number in range(STEPS_MAX):
        if number == step:
            yield from meanwhile().__await__()
        try:
            waited_for = work.send(None)
        except StopIteration:
            return number >= step
        yield waited_for
    raise AssertionError("it does not end")


async def import_base(place: Town, number: int, *, is_known: bool) -> str:
    """Import another tree; its commit. In turns two files are as the layer has them, and two that it lacks are there.

    Contents that are known have been those of the base before.
    """
    text = "changed = 1\n" if is_known else f"changed = {number}\n"
    changed, same = ("b.py", "e.py") if number % 2 else ("e.py", "b.py")
    added, removed = ("h.py", "i.py") if number % 2 else ("i.py", "h.py")
    files = {changed: text, same: f"{same[0]} = 1\n", added: text}
    if (place.origin.folder / removed).exists():
        files[removed] = None
    commit = place.commit(files)
    await place.push("main", commit=commit)
    await place.serves_base(commit)
    return commit


async def ended_import(place: Town, commit: str) -> RepoIndexed:
    """The fact that says that a commit of the base is served."""
    while True:
        ended = await place.ended_imports.get()
        if ended.layer == BASE_LAYER and ended.commit == commit:
            return ended


async def until_right(place: Town, commit: str) -> None:
    """Bring the layer along after each import that has ended, until it is over the base that is served."""
    served = asyncio.create_task(place.serves("topic", commit))
    while not served.done():
        heard = asyncio.create_task(place.ended_imports.get())
        await asyncio.wait([served, heard], return_when=asyncio.FIRST_COMPLETED)
        if heard.done():
            await place.rebases.on_indexed(heard.result())
        heard.cancel()
    await served
    assert await place.shown("topic") == place.tree("topic")


@pytest.mark.parametrize("is_known", [True, False], ids=["contents are there", "contents are brought"])
async def test_an_import_of_the_base_comes_while_a_layer_is_brought_along(
    place: Town, *, is_known: bool
) -> None:
    commit = place.branch("topic", {"a.py": "a = 'topic'\n", "d.py": None, "g.py": "g = 1\n"})
    await place.push("topic", commit=commit)
    for number in (1, 2):  # all that the layer may need is brought once
        await import_base(place, number, is_known=is_known)
        await until_right(place, commit)
    step, is_interrupted = 0, True
    while is_interrupted:
        ended = await ended_import(place, await import_base(place, 2 * step + 3, is_known=is_known))

        async def meanwhile(number: int = 2 * step + 4) -> None:
            await import_base(place, number, is_known=is_known)

        is_interrupted = await interrupted(place.rebases.on_indexed(ended), step, meanwhile)
        await until_right(place, commit)
        step += 1
