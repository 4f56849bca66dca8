"""The configuration file: `prism config get|set|unset|list|path`."""

from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors

NAME = "config"
group = typer.Typer(
    name=NAME,
    help="Show and change the configuration file.\n\n"
    "A key is the name of a variable without `PRISM_`, in lower case: `log_level` is `PRISM_LOG_LEVEL`. The "
    "environment takes precedence over the file. PRISM_CONFIG selects another file.\n\n"
    "Example: `prism config set log_level DEBUG`",
    no_args_is_help=True,
)
KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="A setting, such as `log_level`.")]


@group.command("get")
def get(
    key: KeyArgument,
    reveal: Annotated[bool, typer.Option("--reveal", help="Print a secret as it is.")] = False,
) -> None:
    """Print the value in effect: of the environment, the file, or the default.

    Example: `prism config get log_level`
    """
    with told_errors():
        from prism_cli.config import command

        typer.echo(command.get(key, reveal=reveal))


@group.command("set")
def set_(
    key: KeyArgument,
    value: Annotated[
        str | None,
        typer.Argument(metavar="VALUE", help="Default, and `-`: from standard input, or a prompt."),
    ] = None,
) -> None:
    """Set a value in the file, if it is valid.

    Examples:
    - `prism config set url https://prism.example.com`

    - `prism config set token < token.txt`

    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli.config import command

        for note in command.set_value(key, value):
            terminal.err.print(note, style="dim", soft_wrap=True)


@group.command("unset")
def unset(key: KeyArgument) -> None:
    """Remove a value from the file.

    Example: `prism config unset log_level`
    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli.config import command

        if not command.unset(key):
            terminal.err.print(f"{key} was not set in {command.path()}.", soft_wrap=True)


@group.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Also settings with their default.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the settings that are set, with their source. Secrets are masked.

    Example: `prism config list --all`
    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli.config import command

        shown = command.show(everything=everything)
        if as_json:
            terminal.print_json({"settings": command.as_json(shown)})
        else:
            command.print_shown(shown)


@group.command("path")
def path() -> None:
    """Print the path of the file, whether it exists or not.

    Example: `$EDITOR $(prism config path)`
    """
    with told_errors():
        from prism_runtime.configuration import config_path

        typer.echo(config_path())
