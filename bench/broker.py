"""A nats-server for measurements that need nothing else of the stack."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_TIMEOUT_S = 10


@contextmanager
def nats_server() -> Iterator[str]:
    """Run a nats-server with JetStream on a free port during a block. Yields its URL."""
    with tempfile.TemporaryDirectory() as folder:
        server, url = _start(Path(folder))
        try:
            yield url
        finally:
            server.terminate()
            server.wait()


def _start(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    config = folder / "nats.conf"
    config.write_text(
        f'listen: "127.0.0.1:-1"\nports_file_dir: "{folder}"\njetstream {{ store_dir: "{folder}/js" }}\n'
    )
    binary = Path(sys.executable).with_name("nats-server")
    server = subprocess.Popen([str(binary), "-c", str(config)], stderr=(folder / "log").open("wb"))
    ports = folder / f"nats-server_{server.pid}.ports"
    deadline = time.monotonic() + START_TIMEOUT_S
    while not (ports.exists() and ports.read_text().strip()):
        if time.monotonic() > deadline:
            raise TimeoutError((folder / "log").read_text())
        time.sleep(0.01)
    return server, json.loads(ports.read_text())["nats"][0]
