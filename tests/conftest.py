"""Fixtures shared by several suites: a real nats-server on free ports, and a cluster of three."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import settings

from prism_cli.stack.probes import free_port

START_TIMEOUT_S = 60
CLUSTER_START_TIMEOUT_S = 120

# The configuration of whoever runs the tests does not matter.
os.environ["PRISM_CONFIG"] = os.devnull

# Tests assert nothing about the duration of an example: machines differ, and other work runs in parallel.
settings.register_profile("prism", deadline=None)
settings.load_profile("prism")

# Programs that no package index has, by the marker of the tests that need them.
PROGRAMS = {"prometheus": "apt-get install prometheus", "promtool": "apt-get install prometheus"}
MISSING = {program: install for program, install in PROGRAMS.items() if not shutil.which(program)}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out tests whose program is not installed; the end of the run says so."""
    left_out = [item for item in items if any(map(item.get_closest_marker, MISSING))]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """Exempts modules and collected tests, which stay to the end, from garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for program, install in MISSING.items():
        terminalreporter.write_line(f"NOT RUN: tests that need {program} ({install})", yellow=True)


def nats_binary() -> str:
    beside = Path(sys.executable).with_name("nats-server")
    return str(beside) if beside.exists() else shutil.which("nats-server") or "nats-server"


class NatsServer:
    """A real nats-server with JetStream on a data folder; can be killed and started again on the same port.

    `more` is further configuration.
    """

    def __init__(self, folder: Path, more: str = "") -> None:
        self.folder = folder
        self.port = -1
        self.process: subprocess.Popen[bytes] | None = None
        self._more = more

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        config = self.folder / "nats.conf"
        config.write_text(
            f'listen: "127.0.0.1:{self.port}"\nports_file_dir: "{self.folder}"\n'
            f'jetstream {{ store_dir: "{self.folder}/js", sync_interval: "1s" }}\n'
            f"{self._more}"
        )
        self.process = subprocess.Popen(
            [nats_binary(), "-c", str(config)], stderr=(self.folder / "nats.log").open("ab")
        )
        ports = self.folder / f"nats-server_{self.process.pid}.ports"
        deadline = time.monotonic() + START_TIMEOUT_S
        while not (ports.exists() and ports.read_text().strip()):
            assert time.monotonic() < deadline, (self.folder / "nats.log").read_text()
            time.sleep(0.005)
        self.port = int(json.loads(ports.read_text())["nats"][0].rsplit(":", 1)[1])

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        """Stop it as a machine does that vanishes: its connections stay open, and nothing answers."""
        assert self.process
        self.process.send_signal(signal.SIGSTOP)
        while psutil.Process(self.process.pid).status() != psutil.STATUS_STOPPED:
            time.sleep(0.001)

    def thaw(self) -> None:
        assert self.process
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        assert self.process
        self.process.terminate()
        self.process.wait()


class NatsCluster:
    """Three nats-servers, `n0` to `n2`, that keep streams and buckets with up to three replicas."""

    def __init__(self, folder: Path) -> None:
        routes = [free_port() for _ in range(3)]
        self.nodes = {
            f"n{number}": self._node(folder / f"n{number}", route, routes)
            for number, route in enumerate(routes)
        }

    @property
    def url(self) -> str:
        """The URLs of all nodes, for PRISM_NATS_URL."""
        return ",".join(node.url for node in self.nodes.values())

    def start(self) -> None:
        for node in self.nodes.values():
            node.start()
        self.wait_until_healthy()

    def stop(self) -> None:
        for node in self.nodes.values():
            if node.process and node.process.poll() is None:
                node.thaw()
                node.process.kill()  # a graceful stop would hand over leadership first, for seconds
                node.process.wait()

    def wait_until_healthy(self) -> None:
        """Wait until every running node has caught up with its leaders."""
        deadline = time.monotonic() + CLUSTER_START_TIMEOUT_S
        for node in self.nodes.values():
            assert node.process
            while node.process.poll() is None and not _is_healthy(node):
                assert time.monotonic() < deadline, (node.folder / "nats.log").read_text()
                time.sleep(0.02)

    @staticmethod
    def _node(folder: Path, route: int, routes: list[int]) -> NatsServer:
        folder.mkdir(parents=True)
        others = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
        return NatsServer(
            folder,
            f'server_name: "{folder.name}"\nhttp: "127.0.0.1:-1"\n'
            f'cluster {{ name: test, listen: "127.0.0.1:{route}", routes: [{others}] }}\n',
        )


def _is_healthy(node: NatsServer) -> bool:
    assert node.process
    ports = json.loads((node.folder / f"nats-server_{node.process.pid}.ports").read_text())
    try:
        with urllib.request.urlopen(f"{ports['monitoring'][0]}/healthz", timeout=1) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture
def new_nats_cluster(tmp_path: Path) -> Iterator[Callable[[], NatsCluster]]:
    """Makes clusters of which no node is started."""
    made: list[NatsCluster] = []

    def make() -> NatsCluster:
        made.append(NatsCluster(tmp_path / f"nats-cluster-{len(made)}"))
        return made[-1]

    yield make
    for cluster in made:
        cluster.stop()


@pytest.fixture
def nats_cluster(new_nats_cluster: Callable[[], NatsCluster]) -> NatsCluster:
    cluster = new_nats_cluster()
    cluster.start()
    return cluster


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[NatsServer]:
    folder = tmp_path / "nats"
    folder.mkdir()
    server = NatsServer(folder)
    server.start()
    yield server
    server.stop()
