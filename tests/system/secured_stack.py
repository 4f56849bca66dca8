"""A whole Prism whose services log in to NATS with keys of their own, over TLS, with the permissions of this
release.
"""

import hashlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import nats
from nats.aio.client import Client as NatsClient
from running_stack import PRISM, RunningStack, wait_until

from prism_runtime.nats_login import nats_security
from prism_runtime.settings import ServiceSettings

HOST = "127.0.0.1"
START_SECONDS_MAX = 240
SERVICES = ("ingest", "chunker", "embedder", "indexer", "search", "atlas", "workspace", "scribe", "gateway")
DECLARE = frozenset({"ingest", "gateway"})
TOKEN = "prism_of_a_secured_stack_0123456789"
QDRANT_KEY = "q" * 40
SECRETS_KEY = "s" * 40
PORT_FILE_OF_QDRANT = "qdrant.port"
FRUGAL = {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# [pid] date time [TRC] address - cid:7 - "v2.16.0:python3:prism-chunker" - "PRISM/…" - <<- [PUB subject reply 12]
TRACED = re.compile(r'"v[^"]*:prism-([a-z-]+)".* <<- \[(H?PUB|SUB) (\S+)')


class SecuredStack(RunningStack):
    """Its processes are started one by one, as Kubernetes does."""

    def __init__(self, folder: Path, **settings: str) -> None:
        super().__init__(folder, **settings)
        self.logins = folder / "logins"
        self.token = TOKEN
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.nats_url = self.qdrant_url = ""

    def up(self) -> None:
        for folder in ("logs", "run", "qdrant"):
            (self.data / folder).mkdir(parents=True)
        subprocess.run([PRISM, "nats-logins", str(self.logins), "--tls", "--host", HOST], check=True)
        self._start_nats()
        self._start("qdrant", "prism_qdrant_local.main", self._qdrant_settings())
        port_file = self.data / "qdrant" / PORT_FILE_OF_QDRANT
        wait_until(lambda: port_file.exists() and bool(port_file.read_text()), what="the store")
        self.qdrant_url = f"http://{HOST}:{port_file.read_text().strip()}"
        for service in SERVICES:
            self._start(service, f"prism_{service}.main", self.settings_of(service))
        for service in SERVICES:
            # Ten processes, each of which loads all of its modules.
            wait_until(lambda name=service: self._is_ready(name), START_SECONDS_MAX, f"{service} is ready")
        self.url = f"http://{HOST}:{self._port('gateway')}"
        self._settings |= {"PRISM_URL": self.url, "PRISM_TOKEN": self.token}

    def down(self) -> None:
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            process.wait(30)

    def settings_of(self, service: str) -> dict[str, str]:
        of_gateway = {
            "PRISM_GATEWAY_PORT": "0",
            "PRISM_BOOTSTRAP_TOKEN_SHA256": hashlib.sha256(TOKEN.encode()).hexdigest(),
        }
        to_git = {"PRISM_CLONE_ALLOW_PRIVATE": "true", "PRISM_CLONE_SCHEMES": "https,http"}
        of_indexer = {"PRISM_DEEP_ENABLED": "true"}
        return {
            "PRISM_QDRANT_URL": self.qdrant_url,
            "PRISM_QDRANT_API_KEY": QDRANT_KEY,
            "PRISM_SECRETS_KEY": SECRETS_KEY,
            "PRISM_RUN_DIR": str(self.data / "run"),
            "PRISM_NATS_DECLARE": str(service in DECLARE).lower(),
            **self.login_of(service),
            **{"gateway": of_gateway, "ingest": to_git, "workspace": to_git, "indexer": of_indexer}.get(
                service, {}
            ),
        }

    def login_of(self, user: str) -> dict[str, str]:
        return {
            "PRISM_NATS_URL": self.nats_url,
            "PRISM_NATS_NKEY_FILE": str(self.logins / f"{user}.nk"),
            "PRISM_NATS_TLS_CA_FILE": str(self.logins / "ca.crt"),
            "PRISM_NATS_TLS_CERT_FILE": str(self.logins / f"{user}.crt"),
            "PRISM_NATS_TLS_KEY_FILE": str(self.logins / f"{user}.key"),
            "PRISM_NATS_TLS_FIRST": "true",
        }

    @asynccontextmanager
    async def logged_in(self, service: str) -> AsyncIterator[tuple[NatsClient, list[str]]]:
        """Yields a connection with the login of a service, and the errors that NATS sent to it."""
        values = self.login_of(service)
        seed = (self.logins / f"{service}.nk").read_text().strip()
        if not (
            self.logins / f"{service}.crt"
        ).exists():  # people have none; any that is signed is good for TLS
            values = self.login_of("gateway")
        certificate = {
            name.removeprefix("PRISM_").lower(): value for name, value in values.items() if "TLS" in name
        }
        context = nats_security(ServiceSettings(nats_url=self.nats_url, **certificate)).ssl_context
        refused: list[str] = []

        async def on_error(error: Exception) -> None:
            refused.append(str(error))

        connection = await nats.connect(
            self.nats_url,
            nkeys_seed_str=seed,
            tls=context,
            tls_handshake_first=True,
            inbox_prefix=f"_INBOX_{service}",
            error_cb=on_error,
            allow_reconnect=False,
        )
        try:
            yield connection, refused
        finally:
            await connection.close()

    def nats_log(self) -> str:
        return (self.data / "logs" / "nats.log").read_text(errors="replace")

    def used(self) -> Mapping[str, tuple[set[str], set[str]]]:
        """Returns the subjects that each service published to, and subscribed to."""
        found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
        for service, operation, subject in TRACED.findall(self.nats_log()):
            found[service][operation == "SUB"].add(subject)
        return found

    def _start_nats(self) -> None:
        config = self.data / "nats.conf"
        config.write_text(f"""
listen: "{HOST}:-1"
ports_file_dir: "{self.data}"
log_file: "{self.data}/logs/nats.log"
trace: true
max_traced_msg_len: 1
jetstream {{ store_dir: "{self.data}/jetstream", max_file_store: 64GB }}
tls {{
  cert_file: "{self.logins}/server.crt"
  key_file: "{self.logins}/server.key"
  ca_file: "{self.logins}/ca.crt"
  verify: true
  handshake_first: true
}}
include "logins/accounts.conf"
""")
        binary = Path(sys.executable).with_name("nats-server")
        process = subprocess.Popen([binary, "-c", config], stderr=subprocess.DEVNULL)
        self.processes["nats"] = process
        ports = self.data / f"nats-server_{process.pid}.ports"
        wait_until(lambda: ports.exists() and bool(ports.read_text().strip()), what="nats-server")
        self.nats_url = f"tls://{HOST}:{json.loads(ports.read_text())['nats'][0].rsplit(':', 1)[1]}"

    def _start(self, name: str, module: str, settings: Mapping[str, str]) -> None:
        with (self.data / "logs" / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-P", "-m", module],
                env=self.environment() | FRUGAL | settings,
                stdout=log,
                stderr=log,
            )

    def _qdrant_settings(self) -> dict[str, str]:
        return {
            "PRISM_QDRANT_LOCAL_DATA_DIR": str(self.data / "qdrant"),
            "PRISM_QDRANT_LOCAL_PORT": "0",
            "PRISM_QDRANT_LOCAL_API_KEY": QDRANT_KEY,
        }

    def _port(self, service: str) -> int:
        return int(json.loads((self.data / "run" / f"{service}.json").read_text())["port"])

    def _is_ready(self, service: str) -> bool:
        assert self.processes[service].poll() is None, self.logs()
        if not (self.data / "run" / f"{service}.json").exists():
            return False
        try:
            return httpx2.get(f"http://{HOST}:{self._port(service)}/readyz", timeout=5).status_code == 200
        except httpx2.TransportError:  # while ten processes start, an answer may take longer
            return False
