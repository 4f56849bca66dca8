"""What happened: usage, audit, search history, feedback."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

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


ActorOption = Annotated[str, typer.Option(help="Id or label of a token or person.")]
LimitOption = Annotated[int, typer.Option(min=1, max=ENTRIES_MAX, help="The newest entries.")]


class By(StrEnum):
    """What usage is grouped by."""

    CALL = "call"
    CALLER = "caller"
    REPOSITORY = "repository"
    CODE = "code"
    SOURCE = "source"
    HOUR = "hour"
    DAY = "day"
    TENANT = "tenant"


class Turn(StrEnum):
    """Whether questions are kept."""

    ON = "on"
    OFF = "off"
    DEFAULT = "default"


def usage(
    *,
    days: DaysOption = DAYS_DEFAULT,
    by: Annotated[By, typer.Option(help="What the calls are grouped by.")] = By.CALL,
    repo: Annotated[str, typer.Option(help="Only calls about this repository.")] = "",
    caller: Annotated[str, typer.Option(help="Only calls of this token or person, by id or label.")] = "",
    call: Annotated[str, typer.Option(help="Only calls of this tool or endpoint.")] = "",
    tenant: TenantOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show how often Prism was called, how long calls took, and how many tokens they saved.

    Example: `prism usage --days 30 --by caller --repo acme/app` shows who asked most about a repository.
    """
    with told_errors():
        from prism_cli import accounting as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        of = {"repository": repo, "caller": caller, "call": call}
        report = asyncio.run(command.usage(find_target(), days=days, by=by, of=of, tenant=tenant))
        if as_json:
            terminal.print_json(report)
        else:
            command.show_usage(report)


def audit(
    *,
    days: DaysOption = DAYS_DEFAULT,
    actor: ActorOption = "",
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


def history(
    *,
    days: DaysOption = DAYS_DEFAULT,
    actor: ActorOption = "",
    limit: LimitOption = ENTRIES_DEFAULT,
    turn: Annotated[
        Turn | None, typer.Option(help="Keep questions or not; default: as PRISM_SEARCH_HISTORY says.")
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete all questions and all feedback.")] = False,
    tenant: TenantOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show which questions were asked, with the places of their hits, the newest first.

    Example: `prism history --turn on`
    """
    with told_errors():
        from prism_cli import accounting as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        target = find_target()
        show: Callable[[dict[str, Any]], None] = command.show_history_state
        if delete:
            result = asyncio.run(command.delete_history(target, tenant=tenant))
        elif turn:
            is_on = None if turn is Turn.DEFAULT else turn is Turn.ON
            result = asyncio.run(command.switch_history(target, is_on=is_on, tenant=tenant))
        else:
            show = command.show_history
            result = asyncio.run(command.history(target, days=days, limit=limit, actor=actor, tenant=tenant))
        if as_json:
            terminal.print_json(result)
        else:
            show(result)


def feedback(
    *,
    days: DaysOption = DAYS_DEFAULT,
    actor: ActorOption = "",
    limit: LimitOption = ENTRIES_DEFAULT,
    tenant: TenantOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show what agents and people said about answers, the newest first.

    Example: `prism feedback --days 30`
    """
    with told_errors():
        from prism_cli import accounting as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        listed = asyncio.run(
            command.feedback(find_target(), days=days, limit=limit, actor=actor, tenant=tenant)
        )
        if as_json:
            terminal.print_json(listed)
        else:
            command.show_feedback(listed)
