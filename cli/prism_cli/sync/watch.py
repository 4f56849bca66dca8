"""`prism watch`: updates the overlay after each save. Ends with Ctrl-C, and closes the overlay.

Retries an unavailable server with growing pauses, and at once after a save. The overlay remains until the
server is back or the overlay expires.
"""

import asyncio
import contextlib
import math
import signal
import time
from collections.abc import Coroutine
from datetime import datetime
from pathlib import Path

from prism_cli import terminal
from prism_cli.exits import CommandError
from prism_cli.patience import Patience
from prism_cli.sync.command import Place, explained, overlay_of, summary
from prism_cli.sync.display import StatusLine
from prism_cli.sync.overlay import CheckoutOverlay, Synced
from prism_cli.sync.saves import Saves
from prism_cli.target import ServerTarget
from prism_contracts.errors import ErrorCode, PrismError

# If the close does not reach the server, its overlay expires after an hour.
TTL_S = 3600
# The interval at which the served commit is checked.
LOOK_EVERY_S = 30.0
# How much of an error fits beside the rest of the line.
ERROR_CHARS_MAX = 120


async def watch(target: ServerTarget, place: Place) -> None:
    """Follow a work tree until a signal. Raises CommandError, PrismError (of the source) if
    the start fails.
    """
    async with overlay_of(target, place, TTL_S) as (overlay, checkout):
        with Saves(checkout) as saves, StatusLine(terminal.err) as line:
            try:
                await _until_signalled(Watch(overlay, saves, line, checkout.root).run(), saves)
            finally:
                await _close(overlay, line)


class Watch:
    """The update after each save."""

    def __init__(self, overlay: CheckoutOverlay, saves: Saves, line: StatusLine, root: Path) -> None:
        self._overlay = overlay
        self._saves = saves
        self._line = line
        self._root = root
        self._look_at = math.inf  # when to check the served commit
        self._trouble: Patience | None = None

    async def run(self) -> None:
        """Run until cancelled."""
        self._line.say(f"Reading {self._root}", "dim")
        try:
            await self._sync(time.monotonic(), look_below=True)
        except CommandError as error:
            raise explained(error, self._root) from None
        while True:
            left_s = max(0.0, self._look_at - time.monotonic())
            is_saved = await asyncio.to_thread(self._saves.wait, left_s)
            now = time.monotonic()
            look_below = now >= self._look_at or self._trouble is not None
            if is_saved or now >= self._look_at:
                await self._try_to_sync(now, look_below=look_below)

    async def _try_to_sync(self, saved_at: float, *, look_below: bool) -> None:
        try:
            await self._sync(saved_at, look_below=look_below)
        except CommandError as error:
            self._wait_longer(f"{error.message} [{error.code}]")
        except PrismError as error:
            if error.code is ErrorCode.SOURCE_NOT_FOUND:
                raise
            self._wait_longer(f"{error.body.message} [{error.code}]")

    async def _sync(self, saved_at: float, *, look_below: bool) -> None:
        synced = await self._overlay.sync(look_below=look_below)
        now = time.monotonic()
        self._trouble = None
        if look_below:
            self._look_at = now + LOOK_EVERY_S
        self._line.say(_summary_line(synced, now - saved_at), "green" if synced.is_searchable else "yellow")

    def _wait_longer(self, problem: str) -> None:
        self._trouble = self._trouble or Patience(math.inf)
        pause_s = self._trouble.next_pause()
        assert pause_s is not None
        self._look_at = time.monotonic() + pause_s
        self._line.say(f"Not in sync, retrying: {problem[:ERROR_CHARS_MAX]}", "yellow")


async def _until_signalled(following: Coroutine[None, None, None], saves: Saves) -> None:
    """Run until it fails, or until SIGINT or SIGTERM. A second signal has its default effect."""
    task = asyncio.ensure_future(following)
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def end() -> None:
        for number in signals:
            loop.remove_signal_handler(number)
        task.cancel()

    for number in signals:
        loop.add_signal_handler(number, end)
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await task
    finally:
        saves.end()


async def _close(overlay: CheckoutOverlay, line: StatusLine) -> None:
    try:
        is_closed = await overlay.close()
    except CommandError as error:
        line.say(f"The overlay could not be closed; it will expire: {error.message}", "yellow")
    else:
        line.say("The overlay is closed." if is_closed else "There was no overlay.", "dim")


def _summary_line(synced: Synced, seconds: float) -> str:
    if not synced.is_searchable:
        return summary(synced)
    return f"{summary(synced)}, searchable {datetime.now().astimezone():%H:%M:%S} after {seconds:.2f} s"
