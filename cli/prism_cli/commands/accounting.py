"""What happened: usage, audit."""

import asyncio
from enum import StrEnum
from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors

DAYS_DEFAULT = 7
DAYS_MAX = 400
ENTRIES_DEFAULT = 50
ENTRIES_MAX = 10_000

TenantOption = Annotated[
    str, typer.Option(help="Another tenant, or * for all; for tokens with the scope operator.")
]
DaysOption = Annotated[int, typer.Option(min=1, max=DAYS_MAX, help="The last days.")]


LimitOption = Annotated[int, typer.Option(min=1, max=ENTRIES_MAX, help="The newest entries.")]


class By(StrEnum):
    """What usage is grouped by."""

    CALL = "call"
    CALLER = "caller"
    REPOSITORY = "repository"
    CODE = "code"
    HOUR = "hour"
    DAY = "day"
    TENANT = "tenant"


def usage(
    *,
    days: DaysOption = DAYS_DEFAULT,
    by: Annotated[By, typer.Option(help="What the calls are grouped by.")] = By.CALL,
    tenant: TenantOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show how often Prism was called, how long calls took, and how many tokens they saved.

    Example: `prism usage --days 30 --by caller`
    """
    with told_errors():
        from prism_cli import accounting as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        report = asyncio.run(command.usage(find_target(), days=days, by=by, tenant=tenant))
        if as_json:
            terminal.print_json(report)
        else:
            command.show_usage(report)


def audit(
    *,
    days: DaysOption = DAYS_DEFAULT,
    actor: Annotated[str, typer.Option(help="Id or label of a token or person.")] = "",
    action: Annotated[str, typer.Option(help="Such as token_created or repository_indexed.")] = "",
    limit: LimitOption = ENTRIES_DEFAULT,
    tenant: TenantOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show who changed what, when, and from where, the newest first.

    Example: `prism audit --days 30 --action token_created`
    """
    with told_errors():
        from prism_cli import accounting as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        entries = asyncio.run(
            command.audit(find_target(), days=days, limit=limit, actor=actor, action=action, tenant=tenant)
        )
        if as_json:
            terminal.print_json({"entries": entries})
        else:
            command.show_audit(entries)
