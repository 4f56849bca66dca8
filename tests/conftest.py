"""Fixtures shared by several suites: a real nats-server on free ports."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

START_TIMEOUT_S = 10

# The configuration of whoever runs the tests does not matter.
os.environ["PRISM_CONFIG"] = os.devnull

# Tests assert nothing about the duration of an example: machines differ, and other work runs in parallel.
settings.register_profile("prism", deadline=None)
settings.load_profile("prism")


def nats_binary() -> str:
    beside = Path(sys.executable).with_name("nats-server")
    return str(beside) if beside.exists() else shutil.which("nats-server") or "nats-server"


class NatsServer:
    """A real nats-server with JetStream on a data folder; can be killed and started again on the same port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = -1
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        config = self.folder / "nats.conf"
        config.write_text(
            f'listen: "127.0.0.1:{self.port}"\nports_file_dir: "{self.folder}"\n'
            f'jetstream {{ store_dir: "{self.folder}/js", sync_interval: "1s" }}\n'
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

    def stop(self) -> None:
        assert self.process
        self.process.terminate()
        self.process.wait()


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[NatsServer]:
    folder = tmp_path / "nats"
    folder.mkdir()
    server = NatsServer(folder)
    server.start()
    yield server
    server.stop()
