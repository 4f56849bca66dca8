"""`prism repair`: rebuilds what the local store lost or cannot read."""

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import Prism, authorities_for
from prism_cli.exits import CommandError
from prism_cli.stack import probes, specs
from prism_cli.stack.layout import DataDir, read_json
from prism_cli.target import ServerTarget
from prism_contracts.base import BASE_LAYER
from prism_contracts.records import UPLOAD

TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Repaired:
    """The repairs that were made or started, and those that the user must make."""

    set_aside: dict[str, str]  # why each damaged collection could not be read
    jobs: dict[str, str]  # by repository: the job that indexes it again
    commands: tuple[str, ...]  # for what only a client can upload again

    def as_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"set_aside": self.set_aside, "jobs": self.jobs, "commands": list(self.commands)}


async def repair(target: ServerTarget) -> Repaired:
    """Set damaged collections aside, and start imports of repositories with lost files.

    Raises CommandError.
    """
    if target.local is None:
        raise CommandError(
            f"{target.url} does not run on this machine.",
            "Run `prism repair` where it runs.",
            code="not_local",
        )
    set_aside = await _set_damaged_aside(target.local)
    jobs: dict[str, str] = {}
    commands: list[str] = []
    async with Prism(target) as prism:
        report = await prism.status()
        if report["points"] is None:
            raise CommandError(
                f"The server cannot count its points: {report['errors'].get('points', '')}.",
                "Run `prism doctor`, then `prism repair` again.",
            )
        for repository in report["repositories"]:
            lost = [layer for layer in repository["layers"] if layer["files_lost"]]
            if repository["source"] == UPLOAD:
                commands += [_index_command(repository, layer) for layer in lost]
            elif any(layer["layer"] == BASE_LAYER for layer in lost):
                job = await prism.clone(repository["source"], repository["name"], repository["ref"])
                jobs[repository["name"]] = job.job
    return Repaired(set_aside, jobs, tuple(commands))


async def damages(data: DataDir) -> dict[str, str]:
    """Why collections of the local store cannot be read, by name.

    Raises CommandError if the store does not answer.
    """
    async with _store(data) as http:
        found: dict[str, str] = (await http.get("/prism/damages")).raise_for_status().json()["result"]
    return found


async def _set_damaged_aside(data: DataDir) -> dict[str, str]:
    found = await damages(data)
    async with _store(data) as http:
        for name in found:
            (await http.post(f"/prism/set-aside/{quote(name, safe='')}")).raise_for_status()
    return found


@asynccontextmanager
async def _store(data: DataDir) -> AsyncIterator[httpx.AsyncClient]:
    services = (read_json(data.supervisor_file) or {}).get("services", {})
    port = services.get(specs.QDRANT, {}).get("port")
    if not port:
        raise CommandError("The store does not run.", "Start Prism: `prism up --detach`.", code="not_running")
    url, headers = f"http://{probes.HOST}:{port}", {"api-key": data.secret("qdrant")}
    try:
        verify = authorities_for(url)
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S, verify=verify) as http:
            yield http
    except (httpx.HTTPError, ValueError, LookupError) as error:  # no answer, or the answer of another program
        raise CommandError(f"The store does not answer: {error}", "Run `prism doctor`.") from error


def _index_command(repository: dict[str, Any], layer: dict[str, Any]) -> str:
    ref = "" if layer["layer"] == BASE_LAYER else f" --ref {shlex.quote(layer['ref'])}"
    return f"prism index PATH --name {shlex.quote(repository['name'])}{ref}"


def show(repaired: Repaired) -> None:
    """Print the repairs, and the commands that the user must run."""
    for reason in repaired.set_aside.values():
        terminal.out.print(Text(terminal.printable(f"Set aside: {reason}"), style="yellow"), soft_wrap=True)
    for name, job in repaired.jobs.items():
        terminal.out.print(terminal.printable(f"{name} is being indexed again: job {job}"), soft_wrap=True)
    if repaired.commands:
        terminal.out.print("Only a client has the files of these. Run for each, with the path of its folder:")
    for command in repaired.commands:
        terminal.out.print(Text(f"  {terminal.printable(command)}", style="cyan"), soft_wrap=True)
    if repaired == Repaired({}, {}, ()):
        terminal.out.print("Nothing is lost or damaged.")
