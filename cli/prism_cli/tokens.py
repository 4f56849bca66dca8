"""`prism tokens`: creates, lists and revokes developer tokens.

A secret is printed once, when its token is created.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.exits import CommandError
from prism_cli.target import ServerTarget

TOKENS = f"{API}/developer-tokens"
UNITS_H = {"h": 1, "d": 24, "w": 24 * 7}

_DURATION = re.compile(r"([1-9]\d{0,4})([hdw])")


async def create(
    target: ServerTarget,
    label: str,
    *,
    scopes: Sequence[str],
    repos: Sequence[str],
    expires_in: str,
    tenant: str,
) -> dict[str, Any]:
    """Create a token. Returns it with its secret."""
    body: dict[str, Any] = {"label": label, "scopes": scopes, "repos": repos, "tenant": tenant}
    if expires_in:
        body["expires_at"] = (datetime.now(UTC) + duration(expires_in)).isoformat()
    async with Prism(target) as prism:
        return await prism.manage("POST", TOKENS, json=body)


async def tokens(target: ServerTarget, tenant: str) -> dict[str, Any]:
    """Returns the tokens of a tenant."""
    async with Prism(target) as prism:
        return await prism.manage("GET", TOKENS, params={"tenant": tenant})


async def revoke(target: ServerTarget, token: str, tenant: str) -> dict[str, Any]:
    """Revoke a token by its id, and return it."""
    async with Prism(target) as prism:
        return await prism.manage("DELETE", f"{TOKENS}/{token}", params={"tenant": tenant})


def duration(text: str) -> timedelta:
    """Returns a duration such as `12h`, `90d` or `4w`."""
    found = _DURATION.fullmatch(text)
    if not found:
        raise CommandError(
            f"{terminal.printable(text)} is no duration.",
            "Give hours, days or weeks, such as 12h, 90d or 4w.",
            code="invalid_argument",
        )
    return timedelta(hours=int(found[1]) * UNITS_H[found[2]])


def show_created(created: dict[str, Any]) -> None:
    """Print a new token with its secret."""
    token = created["token"]
    terminal.out.print(Text(f"Token {token['id']} of {token['tenant']}: {_scopes(token)}"))
    terminal.out.print(Text("The secret is not shown again:", style="bold"))
    terminal.out.print(Text(f"  {created['secret']}"), soft_wrap=True)


def show(listed: dict[str, Any]) -> None:
    """Print tokens as a table."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("id", "label", "scopes", "repositories", "created", "last used", "state"):
        table.add_column(title)
    for token in listed["tokens"]:
        table.add_row(
            token["id"],
            Text(terminal.printable(token["label"])),
            Text(_scopes(token)),
            Text(terminal.printable(", ".join(token["repos"]) or "all")),
            terminal.ago(moment(token["created_at"])),
            terminal.ago(last_used(token)),
            state(token, datetime.now(UTC)),
        )
    terminal.out.print(table)


def show_revoked(token: dict[str, Any]) -> None:
    """Print which token is revoked."""
    terminal.out.print(Text(f"Token {token['id']} ({terminal.printable(token['label'])}) is revoked."))


def state(token: dict[str, Any], now: datetime) -> str:
    """Returns whether a token is valid, and until when."""
    expires_at = moment(token["expires_at"])
    if token["revoked_at"]:
        return "revoked"
    if expires_at is None:
        return "valid"
    return "expired" if expires_at <= now else f"valid until {expires_at:%Y-%m-%d %H:%M} UTC"


def _scopes(token: dict[str, Any]) -> str:
    return ", ".join(token["scopes"])


def last_used(token: dict[str, Any]) -> datetime | None:
    """Returns when a token was last used. It is kept to the minute, so it may lie before the creation."""
    used, created = moment(token["last_used_at"]), moment(token["created_at"])
    return max(used, created) if used and created else used


def moment(text: str | None) -> datetime | None:
    """Returns a moment of a reply."""
    return datetime.fromisoformat(text).astimezone(UTC) if text else None
