"""`prism documents remote`: the git repository that the documents are pushed to and fetched from."""

from typing import Any

from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.target import ServerTarget

PUSH = f"{API}/documents/push"
REMOTE = f"{API}/documents/remote"


async def shown(target: ServerTarget) -> dict[str, Any]:
    """Returns the remote."""
    return await _ask(target, "GET")


async def set_url(target: ServerTarget, url: str, branch: str) -> dict[str, Any]:
    """Set the remote, and return it."""
    return await _ask(target, "PUT", json={"url": url, "branch": branch})


async def push(target: ServerTarget) -> dict[str, Any]:
    """Fetch and push now, and return the remote."""
    async with Prism(target) as prism:
        return await prism.manage("POST", PUSH)


async def remove(target: ServerTarget) -> dict[str, Any]:
    """Forget the remote."""
    return await _ask(target, "DELETE")


def show(remote: dict[str, Any]) -> None:
    """Print the remote, and what waits for it."""
    if not remote["url"]:
        terminal.out.print(Text("The documents have no remote now."))
        return
    state = "commits wait to be pushed" if remote["pending_push"] else "nothing waits to be pushed"
    lines = [f"{remote['url']}, branch {remote['branch']}: {state}"]
    if remote["checked_at"]:
        lines.append(f"It last answered at {remote['checked_at']}.")
    lines += [f"{one['path']} was changed there, too: see {one['kept_path']}" for one in remote["conflicts"]]
    if remote["error"]:
        lines += [f"The last {remote['failures']:,} tries failed: {remote['error']['message']}"]
        lines += [remote["error"]["next_action"]]
    terminal.out.print(Text(terminal.printable("\n".join(lines))), soft_wrap=True)


async def _ask(target: ServerTarget, method: str, **arguments: Any) -> dict[str, Any]:
    async with Prism(target) as prism:
        return await prism.manage(method, REMOTE, **arguments)
