"""`prism secrets`: entrusts Prism with what a repository needs that nobody may read: its webhook's secret,
its git login.

What is sent is never printed, with one exception: a webhook secret that was made here, once, as the forge
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
from prism_cli.target import Target

WEBHOOK_PATH = "/api/v1/ingest/webhook"
WEBHOOK_SECRET_BYTES = 32
PRIVATE_KEY = "PRIVATE KEY-----"  # in the first line of one


def keep(target: Target, name: str, *, webhook: bool, git_login: str) -> dict[str, Any]:
    """Make and keep a webhook secret, ask for and keep a git password; what to tell the user."""
    if not webhook and not git_login:
        raise CommandError(
            "Nothing to keep.", "Say --webhook, or --git-login USER@HOST, or both.", code="invalid_argument"
        )
    wanted: dict[str, str] = {}
    if webhook:
        wanted["webhook_secret"] = random_secrets.token_urlsafe(WEBHOOK_SECRET_BYTES)
    if git_login:
        username, _, host = git_login.rpartition("@")
        wanted |= {"git_host": host, "git_username": username, "git_password": _password(git_login)}
    asyncio.run(_send(target, name, wanted))
    told: dict[str, Any] = {"repo": name, "git_password": bool(git_login)}
    if webhook:
        told["webhook"] = {
            "url": target.url + WEBHOOK_PATH,
            "content_type": "application/json",
            "secret": wanted["webhook_secret"],
        }
    return told


def show(told: dict[str, Any]) -> None:
    """Print what the forge needs."""
    if told["git_password"]:
        terminal.out.print(Text(f"The git login of {terminal.printable(told['repo'])} is kept."))
    webhook = told.get("webhook")
    if webhook:
        terminal.out.print(Text("Give the forge this; the secret is not shown again:", style="bold"))
        for title, key in (("Payload URL", "url"), ("Content type", "content_type"), ("Secret", "secret")):
            terminal.out.print(Text(f"  {title:<13} {webhook[key]}"), soft_wrap=True)
        terminal.out.print(Text("  Events        pushes and pull requests"))


def _password(login: str) -> str:
    """From the terminal, unseen, or from standard input: never from the command line, which others can read."""
    asked = f"Password or token of {login}: "
    password = getpass.getpass(asked) if sys.stdin.isatty() else _piped(sys.stdin)
    if not password:
        raise CommandError(
            "No password was given.", "Type it, or pipe it to standard input.", code="invalid_argument"
        )
    return password


def _piped(stdin: TextIO) -> str:
    """The first line; of a private key all of them."""
    line = stdin.readline()
    return (line + stdin.read() if PRIVATE_KEY in line else line).rstrip("\r\n")


async def _send(target: Target, name: str, wanted: dict[str, str]) -> None:
    async with Prism(target) as prism:
        await prism.keep_secrets(name, wanted)
