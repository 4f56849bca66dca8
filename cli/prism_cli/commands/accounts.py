"""Who may do what: tokens."""

import asyncio
from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors

TenantOption = Annotated[
    str, typer.Option(help="Another tenant, for tokens with the scope operator. Default: the token's own.")
]

tokens = typer.Typer(name="tokens", help="Create, list and revoke developer tokens.", no_args_is_help=True)


@tokens.command("create")
def create_token(
    *,
    label: Annotated[str, typer.Option(help="What the token is for.")],
    scope: Annotated[
        list[str] | None, typer.Option(help="read, write, admin or operator; repeatable. Default: read.")
    ] = None,
    repo: Annotated[
        list[str] | None,
        typer.Option(help="owner/name or @group; repeatable. Default: every repository."),
    ] = None,
    expires_in: Annotated[str, typer.Option(help="Such as 12h, 90d or 4w. Default: never.")] = "",
    tenant: TenantOption = "",
    as_json: JsonOption = False,
) -> None:
    """Create a token, and print its secret once.

    A token cannot have more scopes or repositories than the one that creates it.

    Example: `prism tokens create --label ci --scope write --repo acme/app --expires-in 90d`
    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli import tokens as command
        from prism_cli.target import find_target

        created = asyncio.run(
            command.create(
                find_target(),
                label,
                scopes=scope or ["read"],
                repos=repo or [],
                expires_in=expires_in,
                tenant=tenant,
            )
        )
        if as_json:
            terminal.print_json(created)
        else:
            command.show_created(created)


@tokens.command("list")
def list_tokens(tenant: TenantOption = "", as_json: JsonOption = False) -> None:
    """List tokens with their scopes, repositories and last use.

    Example: `prism tokens list`
    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli import tokens as command
        from prism_cli.target import find_target

        listed = asyncio.run(command.tokens(find_target(), tenant))
        if as_json:
            terminal.print_json(listed)
        else:
            command.show(listed)


@tokens.command("revoke")
def revoke_token(
    token: Annotated[str, typer.Argument(metavar="ID", help="The id that `prism tokens list` shows.")],
    tenant: TenantOption = "",
    as_json: JsonOption = False,
) -> None:
    """Revoke a token. It is refused within a second.

    Example: `prism tokens revoke 3f786850e387`
    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli import tokens as command
        from prism_cli.target import find_target

        revoked = asyncio.run(command.revoke(find_target(), token, tenant))
        if as_json:
            terminal.print_json(revoked)
        else:
            command.show_revoked(revoked)
