"""The connection of agents: connect."""

from typing import Annotated

import typer

from prism_cli.commands.shared import told_errors


def connect(
    client: Annotated[str, typer.Argument(help="claude, cursor, vscode or codex. Default: all.")] = "",
) -> None:
    """Print the configuration that connects a coding agent to this Prism.

    Example: `prism connect claude`
    """
    with told_errors():
        from prism_cli import up as command
        from prism_cli.target import find_target

        target = find_target()
        command.connect(target.mcp_url, target.token, client)
