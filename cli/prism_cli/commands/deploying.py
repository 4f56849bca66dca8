"""What an operator prepares before services run on several machines."""

from pathlib import Path
from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors


def nats_logins(
    folder: Annotated[Path, typer.Argument(help="Folder for the files.", show_default=False)],
    tls: Annotated[
        bool, typer.Option("--tls", help="Also write an authority and certificates, for trying TLS.")
    ] = False,
    host: Annotated[
        list[str] | None,
        typer.Option(help="Name or address of NATS in its certificate; repeatable. Default: localhost."),
    ] = None,
    namespace: Annotated[str, typer.Option(help="Namespace of the Secret.")] = "prism",
    as_json: JsonOption = False,
) -> None:
    """Write logins for NATS: a key for each service, and what it may do.

    Include accounts.conf in the configuration of NATS, and give each service its own file with
    PRISM_NATS_NKEY_FILE. kubernetes.yaml has them as a Secret. Keys and certificates that exist are kept:
    run it again after an upgrade, for the permissions of the new release.

    Examples:
    - `prism nats-logins logins` writes keys and permissions

    - `prism nats-logins logins --tls --host nats` also writes certificates

    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli.logins.files import write_logins

        written = write_logins(folder, tls=tls, hosts=host or ["localhost"], namespace=namespace)
        if as_json:
            terminal.print_json({"folder": str(folder), "written": written})
        else:
            terminal.out.print(f"{len(written)} files written to {folder}")
