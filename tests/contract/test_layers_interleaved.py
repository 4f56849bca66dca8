"""An import of the base runs while a layer is being updated: at whichever step it happens, the layer ends
right.
"""

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
    async with town(nats_server, tmp_path, rebases_layers=False) as made:
        yield made


@types.coroutine
def interrupted(
    work: Coroutine[Any, None, None], step: int, meanwhile: Callable[[], Awaitable[None]]
) -> Generator[Any, Any, bool]:
    """Runs some work, and before its n-th step all of something else; returns False if the work has fewer
    steps.
    """
    for number in range(STEPS_MAX):
        if number == step:
            yield from meanwhile().__await__()
        try:
            waited_for = work.send(None)
        except StopIteration:
            return number >= step
        yield waited_for
    raise AssertionError("the work does not end")


async def import_base(place: Town, number: int, *, is_known: bool) -> str:
    """Imports another tree; returns its commit. It alternates two files that equal the layer's, and two that
    the layer lacks.

    With `is_known` the contents have been in the base before.
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
    """Returns the event that a commit of the base is served."""
    while True:
        ended = await place.ended_imports.get()
        if ended.layer == BASE_LAYER and ended.commit == commit:
            return ended


async def until_right(place: Town, commit: str) -> None:
    """Rebases the layer after each ended import, until it is over the served base."""
    served = asyncio.create_task(place.serves("topic", commit))
    while not served.done():
        received = asyncio.create_task(place.ended_imports.get())
        await asyncio.wait([served, received], return_when=asyncio.FIRST_COMPLETED)
        if received.done():
            await place.rebases.on_indexed(received.result())
        received.cancel()
    await served
    assert await place.shown("topic") == place.tree("topic")


@pytest.mark.parametrize("is_known", [True, False], ids=["contents are there", "contents are brought"])
async def test_an_import_of_the_base_during_any_step_of_a_layer(place: Town, *, is_known: bool) -> None:
    commit = place.branch("topic", {"a.py": "a = 'topic'\n", "d.py": None, "g.py": "g = 1\n"})
    await place.push("topic", commit=commit)
    for number in (1, 2):  # everything that the layer may need is indexed once
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


@pytest.mark.parametrize("is_known", [True, False], ids=["contents are there", "contents are brought"])
async def test_a_layer_that_changes_during_any_step_of_its_rebase(place: Town, *, is_known: bool) -> None:
    commit = place.branch("topic", {"a.py": "a = 'topic'\n", "d.py": None, "g.py": "g = 1\n"})
    await place.push("topic", commit=commit)
    for number in (1, 2):  # everything that the layer may need is indexed once
        await import_base(place, number, is_known=is_known)
        await until_right(place, commit)
    step, is_interrupted = 0, True
    while is_interrupted:
        ended = await ended_import(place, await import_base(place, step + 3, is_known=is_known))

        async def meanwhile() -> None:
            layer = await place.layer("topic")
            assert layer is not None
            number = {"next_version": layer.next_version + 1}
            await place.ledger.layers.modify(layer.key, lambda _: layer.model_copy(update=number))

        is_interrupted = await interrupted(place.rebases.on_indexed(ended), step, meanwhile)
        await place.serves("topic", commit)
        assert await place.shown("topic") == place.tree("topic")
        step += 1


async def test_layers_are_rebased_though_the_local_copy_of_their_records_is_old(
    place: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = place.branch("topic", {"a.py": "a = 'topic'\n"})
    await place.push("topic", commit=commit)
    await until_right(place, commit)
    old = place.registry.all()
    for number in (1, 2):
        await import_base(place, number, is_known=True)
        await until_right(place, commit)
    ended = await ended_import(place, await import_base(place, 3, is_known=True))
    monkeypatch.setattr(place.registry, "of", lambda _: old)
    await place.rebases.on_indexed(ended)
    await place.serves("topic", commit)
