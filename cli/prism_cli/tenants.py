"""`prism tenants`: creates, lists, changes and removes tenants, as an operator."""

import asyncio
import contextlib
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import typer
from rich.table import Table
from rich.text import Text

from prism_cli import terminal, tokens
from prism_cli.client import API, Prism
from prism_cli.exits import CommandError, Exit
from prism_cli.target import ServerTarget

TENANTS = f"{API}/tenants"
POLL_S = 0.5
WAIT_S_MAX = 600.0
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


def confirm(tenant: str, *, yes: bool, as_json: bool) -> None:
    """Ask whether to remove a tenant. Raises CommandError unless the answer is yes."""
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise CommandError(
            "Nothing was removed.",
            "Confirm the removal with --yes.",
            code="confirmation_required",
            exit_code=Exit.USAGE,
        )
    question = f"Remove the tenant {terminal.printable(tenant)} with its repositories, tokens and usage?"
    if not typer.confirm(question, err=True):
        raise CommandError("Nothing was removed.", code="declined")


async def remove(target: ServerTarget, tenant: str, *, wait: bool) -> dict[str, Any]:
    """Remove a tenant. With `wait`, returns when its data is deleted, or after some minutes."""
    async with Prism(target) as prism:
        found = await prism.manage("DELETE", _path(tenant))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S_MAX if wait else 0):
                while not found["removal"]["deleted_at"]:
                    await asyncio.sleep(POLL_S)
                    found = await prism.manage("GET", _path(tenant))
        return found


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
    if found["removal"]:
        show_removed(found)


def show_removed(found: dict[str, Any]) -> None:
    """Print what was deleted of a tenant."""
    removal = found["removal"]
    done = "is removed" if removal["deleted_at"] else "is refused, and its data is being deleted"
    terminal.out.print(Text(f"Tenant {found['id']} {done}."))
    for what, count in removal["removed"].items():
        if count:
            terminal.out.print(Text(f"  {what.replace('_', ' '):<15} {count:,}"))


def _path(tenant: str) -> str:
    return f"{TENANTS}/{quote(tenant, safe='')}"


def _state(found: dict[str, Any]) -> str:
    if found["removal"]:
        return "being removed"
    return "active" if found["is_active"] else "inactive"


def _one_line(of: Mapping[str, int | None]) -> str:
    return ", ".join(f"{limit}={_value(value)}" for limit, value in of.items())


def _value(value: int | None) -> str:
    return NO_LIMIT if value is None else f"{value}"
