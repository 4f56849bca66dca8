"""The connection of agents: connect, mcp."""

from typing import Annotated

import typer

from prism_cli.commands.shared import PORT, PORT_MAX, told_errors


def connect(
    client: Annotated[
        str, typer.Argument(help="claude, cursor, vscode, codex, or agents-md. Default: all clients.")
    ] = "",
) -> None:
    """Print the configuration that connects a coding agent to this Prism.

    Examples:
    - `prism connect claude`

    - `prism connect agents-md >> AGENTS.md` tells agents when to use which tool

    """
    with told_errors():
        from prism_cli import up as command
        from prism_cli.connect import AGENTS_MD
        from prism_cli.target import find_target

        if client == "agents-md":
            typer.echo(AGENTS_MD, nl=False)
            return
        target = find_target()
        command.connect(target.mcp_url, target.token, client)


def mcp(
    repo: Annotated[
        str,
        typer.Option(
            help="owner/repo for calls that name none. Default: all repositories.", envvar="PRISM_REPO"
        ),
    ] = "",
    toolsets: Annotated[
        str, typer.Option(help="Toolsets to list, such as `code,graph`, or `all`. Default: code.")
    ] = "",
    structured: Annotated[
        bool, typer.Option("--structured", help="Answer with data for programs as well as text.")
    ] = False,
    start: Annotated[
        bool, typer.Option("--start", help="Start Prism on this machine if it does not run.")
    ] = False,
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=PORT_MAX,
            help="With --start: the port; 0 picks a free one.",
            envvar="PRISM_GATEWAY_PORT",
        ),
    ] = PORT,
) -> None:
    """Serve MCP over standard input and output, for clients that start their servers as commands.

    Forwards tools, calls, progress and cancellation to the Prism of PRISM_URL and PRISM_TOKEN, or to the local
    stack. Prism may start later, or restart meanwhile. A call whose connection breaks is not sent again.

    Examples:
    - `prism mcp`

    - `prism mcp --start --repo acme/parcels`

    """
    with told_errors():
        from prism_cli.bridge import command

        options = command.Options(repo, toolsets, structured)
        command.run(options, start_on_port=port if start else None)
