"""The output of `prism up` and `prism down`."""

import json
import subprocess
import sys
import time
from typing import Any

from rich.text import Text

from prism_cli import environment, terminal
from prism_cli.exits import CommandError, Exit
from prism_cli.stack.formats import set_index_aside
from prism_cli.stack.launch import start_in_background, stop
from prism_cli.stack.layout import DataDir, read_json
from prism_cli.stack.supervisor import Note, Report, Supervisor
from prism_runtime.configuration import config_path

STYLES = {"died": "yellow", "up": "bold green", "stopping": "dim", "stopped": "dim", "restarted": "green"}
INDEX = "prism index PATH_OR_GIT_URL --wait"
CONNECT = "prism connect claude --write   (or another agent: prism connect --list)"
CONSOLE = "prism open"
SHOWN_KEYS = ("url", "mcp_url", "token", "data_dir")


def up(data: DataDir, port: int, *, detach: bool, rebuild: bool, as_json: bool) -> None:
    """Run the stack until a signal, or in the background with `detach`.

    With `rebuild` the index is moved aside first.
    """
    check_configuration()
    report = reporter(quiet=as_json)
    if rebuild and (aside := set_index_aside(data)):
        report(Note("starting", f"moved the old index to {aside}"))
    if detach:
        tell(start_in_background(data, port, report), as_json=as_json)
        return

    def report_and_tell(note: Note) -> None:
        report(note)
        if note.kind == "up":
            tell(read_json(data.up_file) or {}, as_json=as_json)

    Supervisor(data, port, report_and_tell).run()


def check_configuration() -> None:
    """Raise CommandError if the configuration file has an unknown key or an invalid value."""
    if not config_path().is_file():  # /dev/null, too, is no file
        return
    checked = subprocess.run(
        [sys.executable, "-P", "-m", "prism_cli.config.check"],
        env=environment.given(),
        capture_output=True,
        text=True,
        check=True,
    )
    if problems := json.loads(checked.stdout):
        raise CommandError(
            "\n".join(problems),
            "Correct it with `prism config set` or `prism config unset`.",
            code="setting_invalid",
            exit_code=Exit.USAGE,
        )


def reporter(*, quiet: bool) -> Report:
    """Prints events of the stack on standard error; only problems if `quiet`."""
    started_at = time.monotonic()

    def report(note: Note) -> None:
        if quiet and note.kind != "died":
            return
        text = f"{time.monotonic() - started_at:6.1f} s  {note.text}"
        terminal.err.print(Text(text, style=STYLES.get(note.kind, "default")), soft_wrap=True)

    return report


def tell(up_facts: dict[str, Any], *, as_json: bool) -> None:
    """Print the addresses of the stack, and how to connect an agent."""
    if as_json:
        terminal.print_json({key: up_facts[key] for key in SHOWN_KEYS})
        return
    terminal.out.print()
    for label, key in (("MCP", "mcp_url"), ("Token", "token"), ("Data", "data_dir")):
        terminal.out.print(
            Text(f"{label:8}", style="dim").append(str(up_facts[key]), style="bold"), soft_wrap=True
        )
    for label, text in (("Index", INDEX), ("Connect", CONNECT), ("Console", CONSOLE)):
        terminal.out.print(Text(f"{label:8}", style="dim").append(text, style="cyan"), soft_wrap=True)


def down(data: DataDir) -> None:
    """Stop the stack of a data folder. A stack that does not run is a success."""
    if stop(data):
        terminal.err.print(f"Prism on {data.root} has stopped. The data is kept.", soft_wrap=True)
    else:
        terminal.err.print(f"Prism was not running on {data.root}.", soft_wrap=True)
