"""Who may do what: tokens and tenants."""

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
        list[str] | None,
        typer.Option(
            help="read, write, admin or operator; repeatable. Neither write nor admin includes read. Default: read."
        ),
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


tenants = typer.Typer(
    name="tenants",
    help="Create, list, change and remove tenants, with a token that has the scope operator.",
    no_args_is_help=True,
)
TenantArgument = Annotated[str, typer.Argument(metavar="TENANT", help="The id of the tenant.")]
NameOption = Annotated[str | None, typer.Option(help="A name for people.")]
PlanOption = Annotated[
    str | None, typer.Option(help="laptop, free, team or one in PRISM_PLANS. Default: PRISM_PLAN_DEFAULT.")
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIMIT=VALUE",
        help="Such as searches_per_minute=600; repeatable. none is no limit, plan is the one of the plan.",
    ),
]


@tenants.command("create")
def create_tenant(
    tenant: Annotated[
        str, typer.Argument(metavar="TENANT", help="Its id: lower-case letters, digits and dashes.")
    ],
    *,
    name: NameOption = None,
    plan: PlanOption = None,
    limit: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a tenant, and print the secret of its first token once.

    Example: `prism tenants create acme --name "Acme Corp" --plan team`
    """
    with told_errors():
        from prism_cli import tenants as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        limits = command.read_limits(limit or [])
        created = asyncio.run(
            command.create(find_target(), tenant, name=name or "", plan=plan or "", limits=limits)
        )
        if as_json:
            terminal.print_json(created)
        else:
            command.show_created(created)


@tenants.command("list")
def list_tenants(as_json: JsonOption = False) -> None:
    """List all tenants with their plans.

    Example: `prism tenants list`
    """
    with told_errors():
        from prism_cli import tenants as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        listed = asyncio.run(command.tenants(find_target()))
        if as_json:
            terminal.print_json({"tenants": listed})
        else:
            command.show_list(listed)


@tenants.command("show")
def show_tenant(tenant: TenantArgument, as_json: JsonOption = False) -> None:
    """Show a tenant and the limits in effect.

    Example: `prism tenants show acme`
    """
    with told_errors():
        from prism_cli import tenants as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        found = asyncio.run(command.tenant(find_target(), tenant))
        if as_json:
            terminal.print_json(found)
        else:
            command.show(found)


@tenants.command("update")
def update_tenant(
    tenant: TenantArgument,
    *,
    name: NameOption = None,
    plan: PlanOption = None,
    limit: LimitOption = None,
    active: Annotated[
        bool | None,
        typer.Option(
            "--activate/--deactivate",
            help="Whether its tokens and webhooks are accepted. Nothing is deleted.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Change a tenant. Every copy of the gateway follows within a second.

    Example: `prism tenants update acme --limit searches_per_minute=600`
    """
    with told_errors():
        from prism_cli import tenants as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        changes = command.changes(name=name, plan=plan, limits=limit or [], is_active=active)
        changed = asyncio.run(command.update(find_target(), tenant, changes))
        if as_json:
            terminal.print_json(changed)
        else:
            command.show(changed)


@tenants.command("remove")
def remove_tenant(
    tenant: TenantArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until its data is deleted.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Remove a tenant with everything that is stored of it: repositories, index, tokens, secrets, usage.

    It is refused within a second. Its id is free an hour later.

    Example: `prism tenants remove acme --yes`
    """
    with told_errors():
        from prism_cli import tenants as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        command.confirm(tenant, yes=yes, as_json=as_json)
        removed = asyncio.run(command.remove(find_target(), tenant, wait=wait))
        if as_json:
            terminal.print_json(removed)
        else:
            command.show_removed(removed)
