"""Output for people: two consoles, and escaping of text from repositories.

Standard output carries answers only, so that it can be piped; progress, notes and errors go to standard
error.
"""

import json
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from prism_cli.exits import CommandError

# Files and pipes are not cut at 80 columns.
PIPE_COLUMNS = 240


def _console(stream: TextIO, *, stderr: bool) -> Console:
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else PIPE_COLUMNS)


out = _console(sys.stdout, stderr=False)
err = _console(sys.stderr, stderr=True)

# Escape sequences could redraw the terminal, and bidirectional marks can hide code
# (https://trojansource.codes).
_HOSTILE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMIT_CHARS = 10
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
KIB = 1024


def printable(text: str) -> str:
    """Returns text of a repository without characters that control the terminal."""
    return _HOSTILE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def short_commit(commit: str) -> str:
    """Returns the first characters of a commit; a dash if there is none, as before the first document."""
    short = printable(commit.removeprefix("tree:")[:COMMIT_CHARS])
    return short if short.strip("0") or not short else "-"


def print_json(value: Any) -> None:
    """Print one JSON object on standard output."""
    print(json.dumps(value, indent=2))  # noqa: T201 - rich would wrap and colour it


def print_json_lines(values: Iterable[Any]) -> None:
    """Print JSON objects on standard output, one a line, at once."""
    for value in values:
        print(json.dumps(value), flush=True)  # noqa: T201 - as above


def print_sentence(text: Text) -> None:
    """Print on standard output: broken between words on a terminal, in one line elsewhere."""
    out.print(text, soft_wrap=not out.is_terminal)


def show_error(error: CommandError, *, as_json: bool) -> None:
    """Print an error: what went wrong, its code, and what to do."""
    if as_json:
        print_json(error.as_json())
        return
    message = Text("error", style="bold red").append(f" {printable(error.message)}", style="default")
    message.append(f"  [{error.code}]", style="dim")
    err.print(message, soft_wrap=True)
    if error.next_action:
        err.print(Text(f"  → {printable(error.next_action)}", style="cyan"), soft_wrap=True)
    for name, value in error.details.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        if shown:
            err.print(Text(f"  {name}: {printable(shown)}", style="dim"), soft_wrap=True)


def ago(moment: datetime | None) -> str:
    """Returns a rough age."""
    if moment is None:
        return "never"
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    for unit_s, unit in ((DAY_S, "d"), (HOUR_S, "h"), (MINUTE_S, "min")):
        if seconds >= unit_s:
            return f"{seconds // unit_s} {unit} ago"
    return f"{seconds} s ago"


def size(count: float) -> str:
    """Returns bytes in a readable unit."""
    for unit in ("B", "KiB", "MiB"):
        if count < KIB:
            return f"{count:.0f} {unit}"
        count /= KIB
    return f"{count:.1f} GiB"
