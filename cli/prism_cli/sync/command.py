"""`prism sync`: updates the overlay of a work tree once, or closes it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from prism_cli import terminal
from prism_cli.client import Prism
from prism_cli.exits import CommandError, Exit
from prism_cli.index.command import EXITS, problem_lines
from prism_cli.index.naming import check_name, name_of_folder
from prism_cli.stack.layout import data_dir
from prism_cli.sync.memory import RememberedOverlay
from prism_cli.sync.overlay import CheckoutOverlay, Synced
from prism_cli.target import ServerTarget
from prism_contracts.errors import ErrorCode
from prism_contracts.rpc.layers import OVERLAY_TTL_DEFAULT_S
from prism_source.checkout import Checkout

LEFT_OUT_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Place:
    """A work tree, and the name of its repository if it differs from that of its origin."""

    folder: Path
    name: str = ""


@asynccontextmanager
async def overlay_of(
    target: ServerTarget, place: Place, ttl_s: int
) -> AsyncIterator[tuple[CheckoutOverlay, Checkout]]:
    """Returns the overlay of a work tree on a server, without a request. Raises CommandError, PrismError (of
    the source).
    """
    check_name(place.name)
    with Checkout(place.folder.expanduser()) as checkout:
        repo = place.name or name_of_folder(checkout.root)
        memory = RememberedOverlay(data_dir(), target.url, checkout.root)
        async with Prism(target) as prism:
            yield CheckoutOverlay(prism, checkout, repo, memory, ttl_s), checkout


async def sync(target: ServerTarget, place: Place) -> Synced:
    """Update the overlay."""
    async with overlay_of(target, place, OVERLAY_TTL_DEFAULT_S) as (overlay, checkout):
        try:
            return await overlay.sync()
        except CommandError as error:
            raise explained(error, checkout.root) from None


async def close(target: ServerTarget, place: Place) -> bool:
    """Close the overlay. False if there was none."""
    async with overlay_of(target, place, OVERLAY_TTL_DEFAULT_S) as (overlay, _):
        return await overlay.close()


def explained(error: CommandError, root: Path) -> CommandError:
    """Returns the error with a next action for someone in a work tree."""
    if error.code != ErrorCode.REPO_NOT_FOUND:
        return error
    next_action = f"Index it first: prism index {root} --wait. If it has another name on the server, pass --name OWNER/REPO."
    return CommandError(error.message, next_action, code=error.code, details=error.details)


def exit_code(synced: Synced) -> Exit:
    """As of an import."""
    return EXITS.get(synced.job.state, Exit.OK) if synced.job else Exit.OK


def as_json(synced: Synced) -> dict[str, Any]:
    """Returns the output of `--json`."""
    contents = synced.edits.contents
    return {
        "handle": synced.handle,
        "repo": synced.repo,
        "branch": synced.branch,
        "base_ref": synced.base_ref,
        "base_commit": synced.base_commit,
        "changed": sorted(path for path, content in contents.items() if content is not None),
        "removed": sorted(path for path, content in contents.items() if content is None),
        "left_out": {path: reason.value for path, reason in sorted(synced.edits.left_out.items())},
        "bytes": synced.bytes,
        "searchable": synced.is_searchable,
        "expires_at": synced.expires_at.isoformat() if synced.expires_at else None,
        "job": synced.job.model_dump(mode="json", exclude={"settled"}) if synced.job else None,
    }


def show(synced: Synced) -> None:
    """Print what was sent, and how to search it."""
    terminal.out.print(
        Text(summary(synced), style="green" if synced.is_searchable else "yellow"), soft_wrap=True
    )
    lines = [f"  left out: {path} ({reason})" for path, reason in sorted(synced.edits.left_out.items())]
    more = [f"  … {len(lines)} in all"] if len(lines) > LEFT_OUT_SHOWN else []
    problems = problem_lines(synced.job.problems) if synced.job else []
    for line in (*lines[:LEFT_OUT_SHOWN], *more, *problems):
        terminal.out.print(Text(terminal.printable(line), style="dim"), soft_wrap=True)
    question = f'prism search "…" --repo {synced.repo} --ref {synced.handle}'
    terminal.out.print(Text(f"  → {question}", style="cyan"), soft_wrap=True)
    terminal.out.print(
        Text(f'  → agents: pass "ref": "{synced.handle}" to any tool', style="cyan"), soft_wrap=True
    )


def summary(synced: Synced) -> str:
    """Returns one line about an overlay: `overlay:3f over acme/app@topic (4f7c2b9e8d): 3 files changed, 1
    removed (2 KiB)`.
    """
    removed = sum(content is None for content in synced.edits.contents.values())
    changed = len(synced.edits.contents) - removed
    parts = [f"{changed:,} {'file' if changed == 1 else 'files'} changed"]
    if removed:
        parts.append(f"{removed:,} removed")
    below = f"{synced.repo}@{synced.base_ref}" if synced.base_ref else synced.repo
    commit = synced.base_commit.removeprefix("tree:")[:10]
    state = "" if synced.is_searchable else ", not searchable yet"
    shown = (
        f"{synced.handle} over {below} ({commit}): {', '.join(parts)} ({terminal.size(synced.bytes)}){state}"
    )
    return terminal.printable(shown)
