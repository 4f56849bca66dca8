"""Ends a handler at its n-th durable write, as if its process had died there."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from prism_runtime import crash

WRITES_MAX = 100


class Crash(BaseException):
    """Replaces a write and everything after it."""


class _Life:
    def __init__(self, writes: int) -> None:
        self.left = writes
        self.ended_at = ""


_life: ContextVar[_Life | None] = ContextVar("life", default=None)


def _before(write: str) -> None:
    """Counts the writes of the handler in this context, and of the tasks that it started."""
    life = _life.get()
    if life is None:
        return
    life.left -= 1
    if life.left <= 0:
        life.ended_at = life.ended_at or write
        raise Crash(write)


@contextmanager
def writes_watched() -> Iterator[None]:
    undo = crash.watch(_before)
    try:
        yield
    finally:
        undo()


async def ended_at(handle: Callable[[], Awaitable[object]], write: int) -> str:
    """Calls a handler until right before its n-th write; returns that write's name, empty if there are fewer."""
    life = _Life(write)
    token = _life.set(life)
    try:
        await handle()
    except Crash:
        return life.ended_at
    finally:
        _life.reset(token)
    return ""
