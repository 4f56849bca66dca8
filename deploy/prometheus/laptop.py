"""`python -m deploy.prometheus.laptop [DATA]`: runs Prometheus on the stack that `prism up` runs on this machine.

Ports of services change when they restart, so the file of targets is written again every few seconds. Needs
Prometheus on the PATH (Debian's package `prometheus`, or a download of the project).
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deploy.prometheus.for_kubernetes import RULES
from prism_cli.stack.layout import data_dir

LISTEN = "127.0.0.1:9090"
REFRESH_S = 5
STOP_SECONDS_MAX = 10
# NATS has no metrics of its own: ingest reads them.
NO_METRICS = "nats"
CONFIG = """global:
  scrape_interval: {every_s}s
  evaluation_interval: {every_s}s
rule_files: [{rules}]
scrape_configs:
  - job_name: prism
    file_sd_configs: [{{files: [{targets}], refresh_interval: {every_s}s}}]
    relabel_configs: [{{source_labels: [service], regex: qdrant, action: drop}}]
  - job_name: qdrant
    file_sd_configs: [{{files: [{targets}], refresh_interval: {every_s}s}}]
    relabel_configs: [{{source_labels: [service], regex: qdrant, action: keep}}]
    authorization: {{credentials_file: {key}}}
"""


def targets(data: Path) -> list[dict[str, Any]]:
    """Returns the running services of a data folder, as Prometheus reads targets from files."""
    services = json.loads((data / "run" / "supervisor.json").read_text(encoding="utf-8"))["services"]
    return [
        {"targets": [f"127.0.0.1:{facts['port']}"], "labels": {"service": name}}
        for name, facts in services.items()
        if name != NO_METRICS and facts.get("port")
    ]


def write_targets(data: Path, file: Path) -> None:
    """Writes the targets in one step: Prometheus may read at any time."""
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(targets(data), indent=1), encoding="utf-8")
    partial.replace(file)


@contextmanager
def prometheus(data: Path, folder: Path, listen: str = LISTEN, every_s: int = 15) -> Iterator[Path]:
    """Runs Prometheus on the stack of `data`, with its own files in `folder`; gives the file of targets."""
    folder.mkdir(parents=True, exist_ok=True)
    file, config = folder / "targets.json", folder / "prometheus.yaml"
    write_targets(data, file)
    key = data / "secrets" / "qdrant"
    config.write_text(CONFIG.format(every_s=every_s, rules=RULES, targets=file, key=key), encoding="utf-8")
    with (folder / "prometheus.log").open("ab") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={listen}",
                # Dots of a panel are calls with a trace.
                "--enable-feature=exemplar-storage",
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield file
        finally:
            process.terminate()
            process.wait(STOP_SECONDS_MAX)


def main(arguments: list[str]) -> None:
    """Runs until Ctrl-C."""
    data = data_dir(arguments[0] if arguments else None).root
    with prometheus(data, data / "prometheus") as file:
        print(f"Prometheus is at http://{LISTEN}. Stop it with Ctrl-C.")
        while True:
            time.sleep(REFRESH_S)
            write_targets(data, file)


if __name__ == "__main__":
    main(sys.argv[1:])
