"""`prism open`: opens the web console by a one-time link."""

import webbrowser
from urllib.parse import urlencode

from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.target import ServerTarget


async def open_console(target: ServerTarget, *, is_printed: bool) -> None:
    """Open the console, or print the link if there is no browser."""
    async with Prism(target) as prism:
        made = await prism.manage("POST", f"{API}/sign-in-codes")
    link = f"{target.url}/login?{urlencode({'code': made['code']})}"
    if not is_printed and webbrowser.open(link):
        terminal.out.print(Text(f"Opened {target.url}/"))
        return
    terminal.out.print(Text(f"Open within {made['seconds']} seconds; the link works once:"))
    terminal.out.print(Text(link), soft_wrap=True)
