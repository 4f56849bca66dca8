"""Three nats-servers on this machine that form a cluster with JetStream."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from prism_cli.stack.probes import HOST, free_port

NODES = 3
HEALTHY_S_MAX = 60.0
STOP_S_MAX = 10.0
POLL_S = 0.05
ANSWER_S_MAX = 2.0
# The server refuses a shorter lame duck mode.
LAME_DUCK_S = 30


class _Ports(NamedTuple):
    client: int
    route: int
    monitor: int


class NatsCluster:
    """A context manager. Nodes are numbered from 0."""

    def __init__(self, folder: Path, token: str, *, certificate: Path | None = None) -> None:
        """Write the configuration into a folder. `certificate` holds a PEM key and certificate: clients use TLS."""
        self._folder = folder
        self._certificate = certificate
        self._ports = [_Ports(free_port(), free_port(), free_port()) for _ in range(NODES)]
        self._servers: dict[int, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for node in range(NODES):
            self._config(node).write_text(self._text(node, token))

    @property
    def urls(self) -> str:
        """The URLs of all nodes, as PRISM_NATS_URL takes them."""
        scheme = "tls" if self._certificate else "nats"
        return ",".join(f"{scheme}://{HOST}:{ports.client}" for ports in self._ports)

    def start(self, node: int) -> None:
        """Start a node on what it has on disk. `wait_healthy` waits for it."""
        binary = Path(sys.executable).with_name("nats-server")
        with (self._folder / f"n{node}.log").open("ab") as log:
            self._servers[node] = subprocess.Popen(
                [str(binary), "-c", str(self._config(node))],
                stdout=log,
                stderr=log,
                env=os.environ | {"GOMEMLIMIT": "192MiB"},
            )

    def kill(self, node: int) -> None:
        """End a node at once, as a machine that loses its power."""
        self._servers[node].kill()
        self._servers[node].wait()

    def suspend(self, node: int) -> None:
        """Stop a node without closing a connection: for its clients it has vanished from the network."""
        self._servers[node].send_signal(signal.SIGSTOP)

    def resume(self, node: int) -> None:
        """Undo `suspend`."""
        self._servers[node].send_signal(signal.SIGCONT)

    def retire(self, node: int) -> None:
        """Ask a node to hand over its leaderships and its clients, and wait until it has ended."""
        self._servers[node].send_signal(signal.SIGUSR2)
        self._servers[node].wait(2 * LAME_DUCK_S)

    def wait_healthy(self) -> None:
        """Wait until every running node is a current member. Raises TimeoutError."""
        deadline = time.monotonic() + HEALTHY_S_MAX
        while not all(self._is_healthy(node) for node in self._running()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"The cluster is not healthy; see {self._folder}")
            time.sleep(POLL_S)

    def leader(self, stream: str) -> int:
        """Returns the node that leads a stream. Raises LookupError if none does."""
        for details in self._streams():
            if details["name"] == stream and (name := details.get("cluster", {}).get("leader")):
                return int(name.removeprefix("n"))
        raise LookupError(f"{stream} has no leader")

    def replicas(self) -> dict[str, int]:
        """Returns the configured copies of each stream, bucket and object store."""
        return {details["name"]: details["config"]["num_replicas"] for details in self._streams()}

    def clients(self, node: int) -> list[str]:
        """Returns the names of the clients that are connected to a node."""
        connections = self._ask(node, "/connz")["connections"]
        return [connection.get("name", "") for connection in connections]

    def __enter__(self) -> Self:
        try:
            for node in range(NODES):
                self.start(node)
            self.wait_healthy()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End every node, also a suspended one."""
        for server in self._servers.values():
            if server.poll() is None:
                server.send_signal(signal.SIGCONT)
                server.terminate()
        for server in self._servers.values():
            try:
                server.wait(STOP_S_MAX)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()

    def _config(self, node: int) -> Path:
        return self._folder / f"n{node}.conf"

    def _text(self, node: int, token: str) -> str:
        ports = self._ports[node]
        routes = ", ".join(f'"nats://{HOST}:{other.route}"' for other in self._ports)
        files = f'cert_file: "{self._certificate}", key_file: "{self._certificate}"'
        return f"""
server_name: n{node}
listen: "{HOST}:{ports.client}"
http: "{HOST}:{ports.monitor}"
authorization {{ token: "{token}" }}
{f"tls {{ {files} }}" if self._certificate else ""}
max_payload: 8MB
jetstream {{ store_dir: "{self._folder}/n{node}", max_file_store: 64GB, max_memory_store: 256MB }}
cluster {{ name: prism, listen: "{HOST}:{ports.route}", routes: [{routes}] }}
lame_duck_duration: "{LAME_DUCK_S}s"
lame_duck_grace_period: "2s"
"""

    def _running(self) -> list[int]:
        return [node for node, server in self._servers.items() if server.poll() is None]

    def _is_healthy(self, node: int) -> bool:
        try:
            return bool(self._ask(node, "/healthz")["status"] == "ok")
        except OSError:
            return False

    def _streams(self) -> Iterator[dict[str, Any]]:
        """Yields each stream as each running node sees it."""
        for node in self._running():
            try:
                found = self._ask(node, "/jsz?streams=1&config=1&accounts=1")
            except OSError:
                continue
            for account in found.get("account_details", []):
                yield from account.get("stream_detail", [])

    def _ask(self, node: int, path: str) -> dict[str, Any]:
        url = f"http://{HOST}:{self._ports[node].monitor}{path}"
        with urllib.request.urlopen(url, timeout=ANSWER_S_MAX) as answer:
            assert answer.status == HTTPStatus.OK
            found: dict[str, Any] = json.load(answer)
            return found
