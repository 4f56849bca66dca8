"""`prism doctor`: checks this machine and the stack, and explains how to fix each problem.

Each check is independent of the others and never raises.
"""

import asyncio
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.text import Text

from prism_cli import signals, terminal
from prism_cli.client import Prism
from prism_cli.exits import CommandError
from prism_cli.repair import damages
from prism_cli.stack import live, nats, probes
from prism_cli.stack.layout import DataDir, read_json
from prism_cli.stack.lock import holder
from prism_cli.status import index_troubles
from prism_cli.target import ServerTarget, find_target

PYTHON_MIN = (3, 11)
GIB = 1024**3
DISK_WANTED_BYTES = 5 * GIB
DISK_NEEDED_BYTES = GIB // 2  # the default of PRISM_DISK_FREE_BYTES_MIN
MEMORY_WANTED_BYTES = 4 * GIB
MEMORY_FILE = Path("/proc/meminfo")
COMMAND_SECONDS_MAX = 30
PACKAGES = ("prism-code-intelligence", "qdrant-edge-py", "qdrant-client", "nats-py", "faststream", "mcp")

# In a separate process: the command line loads no model, and a broken one may crash its process.
LOAD_MODEL = (
    "from prism_model.static_model import SHIPPED_WEIGHTS, StaticModel;"
    "m = StaticModel.load(SHIPPED_WEIGHTS);"
    "print(m.fingerprint, m.dimension)"
)


class Level(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARNING = "warning"  # it works, or is just not running
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """The finding of a check, with advice."""

    check: str
    level: Level
    seen: str
    advice: str = ""


Findings = Iterable[Finding]


def examine(data: DataDir, port: int) -> list[Finding]:
    """Run all checks, in the order in which to fix problems."""
    checks: tuple[Callable[[], Findings], ...] = (
        _python,
        _packages,
        _nats_server,
        _git,
        _model,
        lambda: _data_folder(data),
        lambda: _disk(data),
        _memory,
        lambda: _port(data, port),
        lambda: _services(data),
        lambda: _signals(data),
        lambda: _server(data),
    )
    return [finding for check in checks for finding in check()]


def is_wrong(findings: Findings) -> bool:
    """Whether there is a problem."""
    return any(finding.level is Level.WRONG for finding in findings)


def _python() -> Findings:
    seen = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info >= PYTHON_MIN:
        yield Finding("python", Level.OK, seen)
    else:
        yield Finding("python", Level.WRONG, seen, "Install Python 3.11 or newer, then `make setup`.")


def _packages() -> Findings:
    versions = {package: _version(package) for package in PACKAGES}
    missing = [package for package, found in versions.items() if not found]
    seen = ", ".join(f"{package} {found or 'missing'}" for package, found in versions.items())
    level = Level.WRONG if missing else Level.OK
    yield Finding("packages", level, seen, "Run `make setup` again." if missing else "")


def _nats_server() -> Findings:
    try:
        seen = _output(str(nats.binary()), "--version")
    except (CommandError, OSError, subprocess.SubprocessError) as error:
        yield Finding("nats-server", Level.WRONG, str(error), "Run `make setup` again.")
    else:
        yield Finding("nats-server", Level.OK, seen)


def _git() -> Findings:
    try:
        yield Finding("git", Level.OK, _output("git", "--version"))
    except (OSError, subprocess.SubprocessError) as error:
        yield Finding("git", Level.WRONG, str(error), "Install git. Prism reads folders and clones with it.")


def _model() -> Findings:
    try:
        fingerprint, dimension = _output(sys.executable, "-P", "-c", LOAD_MODEL).split()
    except subprocess.CalledProcessError as error:
        reason = (error.stderr or "").strip().splitlines()[-1:]
        advice = (
            "The package prism_embedder contains the weights: check out the whole repository, or reinstall."
        )
        yield Finding("model", Level.WRONG, " ".join(reason) or str(error), advice)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        yield Finding("model", Level.WRONG, str(error), "Run `make setup` again.")
    else:
        yield Finding("model", Level.OK, f"fast model {fingerprint}, {dimension} dimensions, loads")


def _data_folder(data: DataDir) -> Findings:
    folder = _existing(data)
    try:
        with tempfile.TemporaryFile(dir=folder):
            yield Finding("data folder", Level.OK, f"{data.root} is writable")
    except OSError as error:
        advice = "Make the folder writable, or choose another one with PRISM_DATA_DIR."
        yield Finding("data folder", Level.WRONG, f"{folder}: {error.strerror}", advice)


def _disk(data: DataDir) -> Findings:
    free = shutil.disk_usage(_existing(data)).free
    seen = signals.free(free, str(data.root))
    needed = disk_floor()
    if free < needed:
        seen += f" Less than {terminal.size(needed)}: writes are refused."
        advice = (
            "Free some space, lower PRISM_DISK_FREE_BYTES_MIN, or choose another disk with PRISM_DATA_DIR. "
            f"{signals.DISK_LOW.advice}"
        )
        yield Finding("disk", Level.WRONG, seen, advice)
    elif free < DISK_WANTED_BYTES:
        yield Finding(
            "disk", Level.WARNING, seen, "Enough for small repositories; 10,000 files take about 1 GiB."
        )
    else:
        yield Finding("disk", Level.OK, seen)


def disk_floor() -> int:
    """Free bytes below which the local stack refuses writes."""
    try:
        return int(os.environ["PRISM_DISK_FREE_BYTES_MIN"])
    except (KeyError, ValueError):
        return DISK_NEEDED_BYTES


def _memory() -> Findings:
    """Check the memory. Linux only: other systems need a further library."""
    available = available_memory(MEMORY_FILE.read_text()) if MEMORY_FILE.exists() else None
    if available is None:
        return
    seen = f"{terminal.size(available)} available"
    if available < MEMORY_WANTED_BYTES:
        advice = "Free memory before you index thousands of files: the stack may temporarily need 2 GiB."
        yield Finding("memory", Level.WARNING, seen, advice)
    else:
        yield Finding("memory", Level.OK, seen)


def available_memory(meminfo: str) -> int | None:
    """Returns the available bytes from the text of /proc/meminfo (proc_meminfo(5))."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", meminfo, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _port(data: DataDir, port: int) -> Findings:
    url = str((read_json(data.up_file) or {}).get("url", ""))
    if url and holder(data.lock_file) is not None:
        yield Finding("port", Level.OK, f"{url} is this stack")
    elif probes.is_port_free(port):
        yield Finding("port", Level.OK, f"{port} is free")
    else:
        advice = "Start with `prism up --port 0`, or stop the program that listens there."
        yield Finding("port", Level.WARNING, f"{port} is used by another program", advice)


def _services(data: DataDir) -> Findings:
    if holder(data.lock_file) is None:
        yield Finding("stack", Level.WARNING, f"not running on {data.root}", "Start it: `prism up --detach`.")
        return
    state = read_json(data.supervisor_file) or {"state": "starting", "services": {}}
    yield _supervisor(state, live.supervisor_problem(data, state))
    problems = live.problems(state["services"])
    for name, facts in state["services"].items():
        yield _service(name, facts, problems[name])


def _supervisor(state: dict[str, Any], problem: str) -> Finding:
    process = f"process {state.get('pid')}"
    if not problem:
        return Finding("stack", Level.OK, f"{state['state']}, {process}")
    advice = "After `prism up --detach` it is replaced within two minutes. Otherwise run `prism down`, then `prism up`."
    return Finding("stack", Level.WRONG, f"the supervisor ({process}) {problem}", advice)


def _service(name: str, facts: dict[str, Any], problem: str) -> Finding:
    check = f"service {name}"
    last = f"restarted {facts['restarts']} times, last: {facts['last_exit']}" if facts["restarts"] else ""
    if problem:
        advice = f"It is restarted automatically. If this persists, read {facts['log']}."
        return Finding(check, Level.WRONG, "; ".join(filter(None, (problem, last))), advice)
    if last:
        return Finding(check, Level.WARNING, f"ready; {last}", f"{facts['log']} shows why it ended.")
    return Finding(check, Level.OK, f"ready, process {facts['pid']}, port {facts['port']}")


def _signals(data: DataDir) -> Findings:
    """What alerts watch, in the metrics of the running stack."""
    if holder(data.lock_file) is None:
        return
    services = (read_json(data.supervisor_file) or {"services": {}})["services"]
    ports = {name: facts["port"] for name, facts in services.items() if name != "nats" and facts.get("port")}
    seen = list(signals.seen_in(signals.read_metrics(ports)))
    for one in seen:
        yield Finding(one.check, Level.WARNING, one.text, one.signal.advice)
    for check in ("readiness", "queues", "streams", "graphs"):
        if all(one.check != check for one in seen):
            yield Finding(check, Level.OK, "no alert would fire")


def _certificate(url: str) -> Findings:
    """The certificate that clients of an https URL see."""
    try:
        left = signals.certificate_seconds(url)
    except OSError as error:
        yield Finding("certificate", Level.WRONG, f"{url}: {error}", signals.CERTIFICATE_EXPIRES.advice)
        return
    if left is None:
        return
    seen = signals.CERTIFICATE_EXPIRES.text(signals.span(left), certificate=url)
    soon = left < signals.CERTIFICATE_SECONDS_MIN
    advice = signals.CERTIFICATE_EXPIRES.advice if soon else ""
    yield Finding("certificate", Level.WARNING if soon else Level.OK, seen, advice)


def _server(data: DataDir) -> Findings:
    try:
        target = find_target()
    except CommandError:  # reported by the check of the stack
        return
    if target.local and target.local != data:
        return
    yield from _certificate(target.url)
    try:
        answer = asyncio.run(_status(target))
    except CommandError as error:
        yield Finding("server", Level.WRONG, f"{error.message} [{error.code}]", error.next_action)
        return
    yield Finding("server", Level.OK, f"{target.url} answers and accepts the token")
    yield _index(answer, target.local)
    yield _dead_letters(answer.get("dead_letters"))


async def _status(target: ServerTarget) -> dict[str, Any]:
    async with Prism(target) as prism:
        return await prism.status()


def _index(report: dict[str, Any], data: DataDir | None) -> Finding:
    troubles = index_troubles(report)
    try:
        troubles += asyncio.run(damages(data)).values() if data else ()
    except CommandError as error:
        return Finding("index", Level.WRONG, error.message, error.next_action)
    if troubles:
        return Finding("index", Level.WRONG, " ".join(troubles), "Run `prism repair`.")
    if reason := (report.get("errors") or {}).get("points"):
        return Finding("index", Level.WRONG, f"unknown ({reason})", "Look again in a minute.")
    return Finding("index", Level.OK, "complete")


def _dead_letters(letters: dict[str, Any] | None) -> Finding:
    if letters is None:
        return Finding("dead letters", Level.WARNING, "not known", "Check again when NATS answers.")
    if letters["messages"]:
        advice = (
            "`prism dead-letters list` shows them with their reasons. Fix the cause, then retry them. "
            f"{signals.DEAD_LETTERS.advice}"
        )
        seen = signals.DEAD_LETTERS.text(f"{letters['messages']:,}")
        return Finding("dead letters", Level.WARNING, seen, advice)
    return Finding("dead letters", Level.OK, "none")


def _existing(data: DataDir) -> str:
    """Returns the data folder, or its nearest existing parent."""
    return str(next(folder for folder in (data.root, *data.root.parents) if folder.exists()))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=COMMAND_SECONDS_MAX)
    return done.stdout.strip()


MARKS = {Level.OK: ("✓", "green"), Level.WARNING: ("!", "yellow"), Level.WRONG: ("✗", "bold red")}


def show(findings: Findings) -> None:
    """Print one line per finding, followed by its advice."""
    for finding in findings:
        mark, style = MARKS[finding.level]
        line = Text(f"{mark} {finding.check:18}", style=style).append(
            terminal.printable(finding.seen), style="default"
        )
        terminal.out.print(line, soft_wrap=True)
        if finding.advice:
            terminal.out.print(Text(f"    → {finding.advice}", style="cyan"), soft_wrap=True)


def as_json(findings: list[Finding]) -> dict[str, Any]:
    """Returns the output of `--json`."""
    return {"ok": not is_wrong(findings), "checks": [asdict(finding) for finding in findings]}
