"""Package lists -> a folder of package archives, through the ordinary clients (apt-get, pip, npm).

`LISTS` contains deb.txt, src.txt, pypi.txt and npm.txt, with one pinned package per line. Nothing is
installed and no package script runs. Debian sources need a deb-src line in apt's configuration. Unavailable
packages are printed and skipped.
"""

import argparse
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

COMMAND_SECONDS_MAX = 240


class Client(NamedTuple):
    """How packages of a kind are fetched."""

    command: tuple[str, ...]
    group: int  # packages per command
    workers: int


def clients(apt_options: str) -> dict[str, Client]:
    """Returns the commands by kind of package."""
    apt = ("apt-get", *shlex.split(apt_options))
    pip = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", ".")
    return {
        "deb": Client((*apt, "download"), group=40, workers=1),
        "src": Client((*apt, "source", "--download-only"), group=12, workers=1),
        "pypi": Client(pip, group=4, workers=3),
        "npm": Client(("npm", "pack", "--ignore-scripts", "--silent"), group=4, workers=3),
    }


def fetch(client: Client, names: list[str], folder: Path) -> None:
    """Downloads the packages into the folder, in groups."""
    folder.mkdir(parents=True, exist_ok=True)
    groups = [names[low : low + client.group] for low in range(0, len(names), client.group)]
    with ThreadPoolExecutor(client.workers) as pool:
        list(pool.map(lambda group: _fetch_group(client, group, folder), groups))


def _fetch_group(client: Client, group: list[str], folder: Path) -> None:
    if _succeeds([*client.command, *group], folder):
        return
    if len(group) == 1:
        print("failed", group[0], flush=True)
        return
    for name in group:  # one bad name must not lose the others
        _fetch_group(client, [name], folder)


def _succeeds(command: list[str], folder: Path) -> bool:
    try:
        return not subprocess.run(
            command, cwd=folder, capture_output=True, timeout=COMMAND_SECONDS_MAX, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        return False


def _names(file: Path) -> list[str]:
    lines = (line.split("#")[0].strip() for line in file.read_text().splitlines())
    return [line for line in lines if line]


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lists", type=Path)
    parser.add_argument("archives", type=Path, help="output folder")
    parser.add_argument(
        "--kinds", nargs="+", choices=["deb", "src", "pypi", "npm"], default=["deb", "src", "pypi", "npm"]
    )
    parser.add_argument(
        "--apt-options", default="-o APT::Sandbox::User=root", help="more options for apt-get"
    )
    options = parser.parse_args()
    for kind in options.kinds:
        names = _names(options.lists / f"{kind}.txt")
        folder = options.archives / kind
        fetch(clients(options.apt_options)[kind], names, folder)
        print(kind, "wanted", len(names), "files", len(list(folder.iterdir())), flush=True)


if __name__ == "__main__":
    main()
