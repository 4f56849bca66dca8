"""The state of a watch, on standard error: one line that is redrawn on a terminal, else one
line per change.
"""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from prism_cli import terminal


class StatusLine:
    """A context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = (
            Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        )
        self._said = ""

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def say(self, text: str, style: str = "default") -> None:
        """Show a text instead of the last one. The same text again is not printed."""
        if text == self._said:
            return
        self._said = text
        line = Text(terminal.printable(text), style=style, no_wrap=True, overflow="ellipsis")
        if self._live:
            self._live.update(line, refresh=True)
        else:
            self._console.print(line, soft_wrap=True)
