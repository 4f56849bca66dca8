"""The connection of agents: connect, mcp."""

from typing import Annotated

import typer

from prism_cli.commands.shared import PORT, PORT_MAX, told_errors

AGENTS_MD = "agents-md"


def _clients() -> list[str]:
    from prism_cli.connect.clients import CLIENTS

    return [*CLIENTS, AGENTS_MD]


def connect(
    client: Annotated[
        str,
        typer.Argument(
            autocompletion=_clients,
            help="claude, claude-desktop, cursor, vscode, codex, windsurf, gemini, zed, or agents-md. Default: all clients.",
        ),
    ] = "",
    *,
    write: Annotated[
        bool,
        typer.Option("--write", help="Merge it into the client's own file: shows the change, and asks."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --write: do not ask.")] = False,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Start `prism mcp` as a command instead of connecting over HTTP.")
    ] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="List the clients, their files, and whether they are connected.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --list: print JSON.")] = False,
) -> None:
    """Print the configuration that connects a coding agent to this Prism, or write it.

    `--write` keeps the rest of the file with its comments, and a backup. A file that contains the token becomes
    readable by you only.

    Examples:
    - `prism connect claude`

    - `prism connect cursor --write`

    - `prism connect agents-md >> AGENTS.md` explains to agents when to use which tool

    """
    with told_errors():
        from prism_cli.connect import command
        from prism_cli.connect.agents_md import TEXT

        if client == AGENTS_MD and not write:
            typer.echo(TEXT, nl=False)
        elif listed:
            command.show_states(as_json=as_json)
        elif write:
            command.write(client, stdio=stdio, yes=yes)
        else:
            command.print_snippets(client, stdio=stdio)


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
