"""The `prism` command: the list of its commands, its help, its exit codes.

A command is a function in a module of `commands`. Add its name to `COMMANDS`, or its group to `GROUPS`.
"""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from prism_cli.commands import (
    accounting,
    accounts,
    agents,
    asking,
    config,
    console,
    deploying,
    documents,
    indexing,
    managing,
    repos,
    stack,
    tasks,
    wiki,
)
from prism_cli.exits import EXIT_CODES_HELP, CommandError

# By panel of `prism --help`.
COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Run": (
        stack.up,
        stack.down,
        console.open,
        stack.status,
        stack.logs,
        stack.doctor,
        stack.repair,
        stack.demo,
    ),
    "Index": (
        indexing.index,
        indexing.sync,
        indexing.watch,
        indexing.scip,
        indexing.secrets,
    ),
    "Ask": (
        asking.search,
        asking.grep,
        asking.read,
        asking.references,
        asking.symbols,
        asking.outline,
    ),
    "Connect": (agents.connect, agents.mcp),
    "Manage": (accounting.usage, accounting.audit, accounting.history, accounting.feedback),
    "Deploy": (deploying.nats_logins,),
}
# Commands with commands of their own, such as `prism GROUP list`: a `typer.Typer` with a name and a help text.
GROUPS: dict[str, tuple[typer.Typer, ...]] = {
    "Manage": (
        config.group,
        repos.group,
        managing.jobs,
        managing.dead_letters,
        documents.documents,
        tasks.tasks,
        wiki.group,
        accounts.tokens,
        accounts.tenants,
    ),
}

app = typer.Typer(
    name="prism",
    help="A shared memory of your code for coding agents.\n\n"
    "Start it with `prism up --detach`, index code with `prism index .`, and ask with `prism search`. "
    "Agents connect over MCP; `prism connect` prints or writes their configuration.\n\n"
    "PRISM_URL and PRISM_TOKEN select a remote Prism; PRISM_DATA_DIR selects the data folder of the local one.",
    epilog=EXIT_CODES_HELP,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for _panel, _commands in COMMANDS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
for _panel, _groups in GROUPS.items():
    for _group in _groups:
        app.add_typer(_group, rich_help_panel=_panel)


def _show_version(value: bool) -> None:
    if value:
        from prism_runtime.version import release

        typer.echo(f"prism {release()}")
        raise typer.Exit


@app.callback()
def prism(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Read the configuration file before the command and its options."""
    # `prism config` repairs a file that cannot be read.
    if context.invoked_subcommand != config.NAME:
        from prism_cli.environment import merge_configuration

        merge_configuration()


def main() -> None:
    """Run the command line, and exit with a code of `exits.Exit`."""
    try:
        app()
    except CommandError as error:
        from prism_cli import terminal

        terminal.show_error(error, as_json="--json" in sys.argv)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
