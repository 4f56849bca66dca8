"""`prism tenants`: creates, lists and changes tenants, as an operator."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rich.table import Table
from rich.text import Text

from prism_cli import terminal, tokens
from prism_cli.client import API, Prism
from prism_cli.exits import CommandError
from prism_cli.target import ServerTarget

TENANTS = f"{API}/tenants"
NO_LIMIT, OF_PLAN = "none", "plan"

_NUMBER = re.compile(r"[0-9]{1,16}")

Limits = dict[str, int | str | None]


async def create(
    target: ServerTarget, tenant: str, *, name: str, plan: str, limits: Limits
) -> dict[str, Any]:
    """Create a tenant. Returns it with its first token."""
    body = {"id": tenant, "name": name, "plan": plan, "limits": limits}
    async with Prism(target) as prism:
        return await prism.manage("POST", TENANTS, json=body)


async def tenants(target: ServerTarget) -> list[dict[str, Any]]:
    """Returns all tenants."""
    found: list[dict[str, Any]] = []
    cursor = ""
    async with Prism(target) as prism:
        while True:
            page = await prism.manage("GET", TENANTS, params={"cursor": cursor})
            found += page["tenants"]
            cursor = page["next_cursor"]
            if not cursor:
                return found


async def tenant(target: ServerTarget, tenant: str) -> dict[str, Any]:
    """Returns a tenant."""
    async with Prism(target) as prism:
        return await prism.manage("GET", _path(tenant))


async def update(target: ServerTarget, tenant: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change a tenant, and return it."""
    async with Prism(target) as prism:
        return await prism.manage("PATCH", _path(tenant), json=changes)


def changes(
    *, name: str | None, plan: str | None, limits: Sequence[str], is_active: bool | None
) -> dict[str, Any]:
    """Returns the changes that the options ask for. Raises CommandError if there is none."""
    asked = {"name": name, "plan": plan, "limits": read_limits(limits) or None, "is_active": is_active}
    given = {field: value for field, value in asked.items() if value is not None}
    if not given:
        raise CommandError(
            "Nothing to change.",
            "Give --name, --plan, --limit, --activate or --deactivate.",
            code="invalid_argument",
        )
    return given


def read_limits(texts: Sequence[str]) -> Limits:
    """Returns limits such as `searches_per_minute=600`."""
    found: Limits = {}
    for text in texts:
        limit, _, value = text.partition("=")
        if value == NO_LIMIT:
            found[limit] = None
        elif value == OF_PLAN or _NUMBER.fullmatch(value):
            found[limit] = value if value == OF_PLAN else int(value)
        else:
            raise CommandError(
                f"{terminal.printable(text)} is no limit.",
                "Give a limit and its value, such as searches_per_minute=600, =none or =plan.",
                code="invalid_argument",
            )
    return found


def show_created(created: dict[str, Any]) -> None:
    """Print a new tenant, and its first token with its secret."""
    show(created["tenant"])
    tokens.show_created(created)


def show_list(listed: Sequence[dict[str, Any]]) -> None:
    """Print tenants as a table."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("id", "name", "plan", "own limits", "created", "state"):
        table.add_column(title)
    for found in listed:
        table.add_row(
            found["id"],
            Text(terminal.printable(found["name"])),
            Text(terminal.printable(found["plan"])),
            _one_line(found["limits"]) or "-",
            terminal.ago(tokens.moment(found["created_at"])),
            _state(found),
        )
    terminal.out.print(table)


def show(found: dict[str, Any]) -> None:
    """Print a tenant with the limits in effect."""
    name = f" ({terminal.printable(found['name'])})" if found["name"] else ""
    terminal.out.print(
        Text(f"Tenant {found['id']}{name}: plan {terminal.printable(found['plan'])}, {_state(found)}")
    )
    for limit, value in found["limits_in_effect"].items():
        own = "  its own" if limit in found["limits"] else ""
        terminal.out.print(Text(f"  {limit:<22} {_value(value)}{own}"))


def _path(tenant: str) -> str:
    return f"{TENANTS}/{quote(tenant, safe='')}"


def _state(found: dict[str, Any]) -> str:
    return "active" if found["is_active"] else "inactive"


def _one_line(of: Mapping[str, int | None]) -> str:
    return ", ".join(f"{limit}={_value(value)}" for limit, value in of.items())


def _value(value: int | None) -> str:
    return NO_LIMIT if value is None else f"{value}"
