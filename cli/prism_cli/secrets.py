"""`prism secrets`: stores a repository's secrets: its webhook secret, its git login.

Secrets are never printed, with one exception: a webhook secret that Prism generated, once, because the forge
needs it too.
"""

import asyncio
import getpass
import secrets as random_secrets
import sys
from typing import Any, TextIO

from rich.text import Text

from prism_cli import terminal
from prism_cli.client import Prism
from prism_cli.exits import CommandError
from prism_cli.target import ServerTarget

WEBHOOK_PATH = "/api/v1/ingest/webhook"
WEBHOOK_SECRET_BYTES = 32
PRIVATE_KEY = "PRIVATE KEY-----"  # in the first line of a private key


def keep(target: ServerTarget, name: str, *, webhook: bool, git_login: str) -> dict[str, Any]:
    """Generate and store a webhook secret, ask for and store a git password. Returns what to print."""
    if not webhook and not git_login:
        raise CommandError(
            "Nothing to keep.", "Give --webhook, --git-login USER@HOST, or both.", code="invalid_argument"
        )
    wanted: dict[str, str] = {}
    if webhook:
        wanted["webhook_secret"] = random_secrets.token_urlsafe(WEBHOOK_SECRET_BYTES)
    if git_login:
        username, _, host = git_login.rpartition("@")
        wanted |= {"git_host": host, "git_username": username, "git_password": _password(git_login)}
    asyncio.run(_send(target, name, wanted))
    shown: dict[str, Any] = {"repo": name, "git_password": bool(git_login)}
    if webhook:
        shown["webhook"] = {
            "url": target.url + WEBHOOK_PATH,
            "content_type": "application/json",
            "secret": wanted["webhook_secret"],
        }
    return shown


def show(shown: dict[str, Any]) -> None:
    """Print what the forge needs."""
    if shown["git_password"]:
        terminal.out.print(Text(f"The git login of {terminal.printable(shown['repo'])} is stored."))
    webhook = shown.get("webhook")
    if webhook:
        terminal.out.print(Text("Enter this at the forge. The secret is not shown again:", style="bold"))
        for title, key in (("Payload URL", "url"), ("Content type", "content_type"), ("Secret", "secret")):
            terminal.out.print(Text(f"  {title:<13} {webhook[key]}"), soft_wrap=True)
        terminal.out.print(Text("  Events        pushes and pull requests"))


def _password(login: str) -> str:
    """Read a password without echo, or from standard input: a command line is visible to other users."""
    asked = f"Password or token of {login}: "
    password = getpass.getpass(asked) if sys.stdin.isatty() else _piped(sys.stdin)
    if not password:
        raise CommandError(
            "No password was given.", "Type it, or pipe it to standard input.", code="invalid_argument"
        )
    return password


def _piped(stdin: TextIO) -> str:
    """Returns the first line, or all lines of a private key."""
    line = stdin.readline()
    return (line + stdin.read() if PRIVATE_KEY in line else line).rstrip("\r\n")


async def _send(target: ServerTarget, name: str, wanted: dict[str, str]) -> None:
    async with Prism(target) as prism:
        await prism.keep_secrets(name, wanted)
