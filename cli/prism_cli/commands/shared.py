"""Options that commands share, and the conversion of errors."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from prism_cli.exits import CommandError, Exit

PORT = 8780
PORT_MAX = 65_535

DataDirOption = Annotated[
    str | None,
    typer.Option(
        "--data-dir",
        help="Data folder of the local stack.",
        envvar="PRISM_DATA_DIR",
        show_default="user data folder",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@contextmanager
def told_errors() -> Iterator[None]:
    """Convert errors of the contracts to CommandError; see `prism_cli.main.main`."""
    try:
        yield
    except KeyboardInterrupt:
        raise CommandError("Interrupted.", code="interrupted", exit_code=Exit.INTERRUPTED) from None
    except Exception as error:
        # An error of the contracts implies that pydantic is loaded.
        contract = sys.modules.get("prism_contracts.errors")
        if contract is None or not isinstance(error, contract.PrismError):
            raise
        body = error.body
        raise CommandError(
            body.message, body.next_action, code=body.code.value, details=body.details
        ) from error
