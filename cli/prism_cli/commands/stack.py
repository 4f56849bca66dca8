"""The local stack: up, down, status, logs, doctor, repair, demo."""

import asyncio
from typing import Annotated

import typer

from prism_cli.commands.shared import PORT, PORT_MAX, DataDirOption, JsonOption, told_errors
from prism_cli.exits import Exit

LOG_LINES = 50
LOG_LINES_MAX = 100_000


def up(
    data_dir: DataDirOption = None,
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=PORT_MAX,
            help="Port for MCP and REST; 0 picks a free one.",
            envvar="PRISM_GATEWAY_PORT",
        ),
    ] = PORT,
    detach: Annotated[
        bool, typer.Option("--detach", help="Run in the background; return when everything is ready.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Move the index aside and rebuild it, after an upgrade.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Start Prism on this machine: NATS, the store and all services, under a supervisor.

    Waits until everything is ready, then prints the MCP URL, the token, and how to go on.
    Stop it with Ctrl-C or `prism down`. The data is kept.

    Examples:
    - `prism up` runs in the foreground

    - `prism up --detach --json` prints url, mcp_url, token and data_dir, for scripts

    - `prism up --data-dir /tmp/p --port 0` starts a second stack

    """
    with told_errors():
        from prism_cli import up as command
        from prism_cli.stack import layout

        command.up(layout.data_dir(data_dir), port, detach=detach, rebuild=rebuild, as_json=as_json)


def down(data_dir: DataDirOption = None) -> None:
    """Stop the local stack and wait until it has stopped. The data is kept.

    Also exits with 0 if it was not running.

    Example: `prism down`
    """
    with told_errors():
        from prism_cli import up as command
        from prism_cli.stack import layout

        command.down(layout.data_dir(data_dir))


def status(as_json: JsonOption = False) -> None:
    """Show services, repositories, jobs, queues, dead letters, points and memory.

    Examples:
    - `prism status`

    - `prism status --json | jq .memory.pss_bytes`

    """
    with told_errors():
        from prism_cli import status as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        report = asyncio.run(command.status(find_target()))
        if as_json:
            terminal.print_json(report)
        else:
            command.show(report)


def _services() -> list[str]:
    from prism_cli.logs import services
    from prism_cli.stack import layout

    return services(layout.data_dir())


def logs(
    service: Annotated[
        str,
        typer.Argument(
            help="Such as gateway or nats. Default: all, merged by time.", autocompletion=_services
        ),
    ] = "",
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Print new lines as they are written, until Ctrl-C.")
    ] = False,
    lines: Annotated[
        int, typer.Option("-n", "--lines", min=0, max=LOG_LINES_MAX, help="The number of last lines.")
    ] = LOG_LINES,
    data_dir: DataDirOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """Show the logs of the local stack, also after it has stopped. Times are in UTC.

    Examples:
    - `prism logs -f`

    - `prism logs gateway -n 500`

    - `prism logs --json | jq 'select(.level == "error")'`

    """
    with told_errors():
        from prism_cli import logs as command
        from prism_cli.stack import layout

        command.run(layout.data_dir(data_dir), command.Choice(service, lines, follow, as_json))


def doctor(as_json: JsonOption = False) -> None:
    """Check this machine and the local stack, and explain how to fix each problem.

    The exit code is 1 if there is a problem. A stack that is not running is not a problem.

    Example: `prism doctor`
    """
    with told_errors():
        from prism_cli import doctor as command
        from prism_cli import terminal
        from prism_cli.stack import layout

        findings = command.examine(layout.data_dir(), PORT)
        if as_json:
            terminal.print_json(command.as_json(findings))
        else:
            command.show(findings)
        raise typer.Exit(Exit.FAILED if command.is_wrong(findings) else Exit.OK)


def repair(as_json: JsonOption = False) -> None:
    """Rebuild lost or damaged parts of the index. Run it on the machine of the stack.

    Moves damaged collections to `set-aside` in the data folder, and reindexes repositories that have a git
    URL. For the others it prints the `prism index` commands to run; the exit code is then 4.

    Example: `prism repair`

    """
    with told_errors():
        from prism_cli import repair as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        repaired = asyncio.run(command.repair(find_target()))
        if as_json:
            terminal.print_json(repaired.as_json())
        else:
            command.show(repaired)
        raise typer.Exit(Exit.INCOMPLETE if repaired.commands else Exit.OK)


def demo(
    repo: Annotated[str, typer.Option(help="A folder, or a git URL.")] = ".",
    query: Annotated[
        str, typer.Option(help="The question.")
    ] = "how is a failed message retried and moved to the dead letters",
) -> None:
    """Demonstrate Prism: start a temporary stack, index a repository, ask over MCP, print the answer, stop.

    Uses a temporary folder and a free port, does not affect a running stack, and leaves nothing behind.

    Examples:
    - `prism demo`

    - `prism demo --repo https://github.com/psf/requests --query "where are redirects followed"`

    """
    with told_errors():
        from prism_cli import demo as command

        command.demo(repo, query)
