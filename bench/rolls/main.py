"""`python -m bench.rolls.main`: rolls and faults of an installation with two copies of every service, and what clients notice.

`--python` runs the services of another checkout, so that two versions can be measured in one sitting.
"""

import argparse
import asyncio
import json
import secrets
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.rolls.cluster import NatsCluster
from bench.rolls.copies import TOKEN, Copies
from bench.rolls.faults import SCENARIOS, UNDISTURBED
from bench.rolls.play import Player
from bench.rolls.proxies import KINDS, proxy
from bench.rolls.report import facts, line, page, row, side_by_side
from bench.rolls.site import Site
from bench.rolls.starts import STARTS
from prism_cli.target import ServerTarget

FILES = 300
# As a production installation has them. The proxy looks twice a second, and believes the second failure.
SETTINGS = {"PRISM_NATS_REPLICAS": "3", "PRISM_DRAIN_S": "5"}
OUT = Path("bench/results/rolls.json")


def main() -> None:
    """Play the selected scenarios, and write the table and the JSON."""
    options = _options()
    # Ends the processes too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    result: dict[str, Any] = {
        "facts": facts(options.python, options.proxy),
        "rows": [],
        "starts": [],
        "errors": [],
    }
    with tempfile.TemporaryDirectory(prefix="prism-rolls-", dir=options.folder) as folder:
        _play_scenarios(Path(folder), options, result)
        _play_starts(Path(folder), options, result)
    print(page(result["facts"], result["rows"], result["starts"]))
    if options.against:
        print(side_by_side(json.loads(options.against.read_text()), result))


@contextmanager
def running_site(folder: Path, python: Path, kind: str) -> Iterator[Site]:
    """Start everything, and stop it in the end."""
    token = secrets.token_hex(16)
    with (
        NatsCluster(folder / "nats", token) as cluster,
        Copies(folder, cluster.urls, token, python, SETTINGS) as copies,
        proxy(kind, folder / "proxy", [copies.port(one) for one in copies.of("gateway")]) as url,
    ):
        yield Site(folder, cluster, copies, ServerTarget(url, TOKEN))


def _play_scenarios(folder: Path, options: argparse.Namespace, result: dict[str, Any]) -> None:
    chosen = [one for one in SCENARIOS if one.name in options.scenarios]
    if not chosen and UNDISTURBED.name not in options.scenarios:
        return
    with running_site(folder / "site", options.python, options.proxy) as site:
        player = Player(site, options.files)
        asyncio.run(player.prepare())
        for scenario in (UNDISTURBED, *chosen):
            try:
                result["rows"].append(row(asyncio.run(player.play(scenario))))
            except Exception as error:  # noqa: BLE001 - the other scenarios are still worth their time
                result["errors"].append(f"{scenario.name}: {error!r}")
                print(result["errors"][-1], flush=True)
                continue
            print(line(result["rows"][-1]), flush=True)
            _write(options.out, result)


def _play_starts(folder: Path, options: argparse.Namespace, result: dict[str, Any]) -> None:
    for name, (what, play) in STARTS.items():
        if name in options.scenarios:
            found = play(folder / name, options.python)
            result["starts"].append({"name": name, "what": what, **found})
            print(f"| {what} | {found['result']} |", flush=True)
            _write(options.out, result)


def _write(out: Path, result: dict[str, Any]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n")
    out.with_suffix(".md").write_text(page(result["facts"], result["rows"], result["starts"]))


def _options() -> argparse.Namespace:
    names = [UNDISTURBED.name, *(one.name for one in SCENARIOS), *STARTS]
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"Scenarios: {', '.join(names)}")
    parser.add_argument("--only", default="", help="scenarios, comma-separated; default: all")
    parser.add_argument("--proxy", choices=KINDS, default=KINDS[0])
    parser.add_argument("--files", type=int, default=FILES, help="files of the import")
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), help="interpreter of the services"
    )
    parser.add_argument(
        "--folder", type=Path, default=None, help="where data goes; default: a temporary folder"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="JSON; the table goes beside it")
    parser.add_argument(
        "--against", type=Path, default=None, help="the JSON of a run to print beside this one"
    )
    options = parser.parse_args()
    options.scenarios = options.only.split(",") if options.only else names
    if unknown := set(options.scenarios) - set(names):
        parser.error(f"unknown scenarios: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    main()
