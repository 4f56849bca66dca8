"""Several copies of each service, as an orchestrator runs them: what ends unasked is started again, and counted."""

import hashlib
import os
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from prism_cli.stack.probes import HOST, free_port

SERVICES = ("ingest", "chunker", "embedder", "indexer", "search", "atlas", "gateway")
WORKERS = ("ingest", "chunker", "embedder", "indexer", "atlas")
STORE = "qdrant"
COPIES = 2
TOKEN = "prism_bench_of_copies"
WEBHOOK_SECRET = "benchmark-webhook-secret"
STORE_KEY = "key of the store"
READY_S_MAX = 240.0
# Kubernetes' terminationGracePeriodSeconds of deployments that drain.
GRACE_S = 60.0
RESTART_PAUSE_S = 0.5
POLL_S = 0.1
ANSWER_S_MAX = 3.0
# What many processes on few cores need.
FRUGAL = {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Copy(NamedTuple):
    """One process: a service and its number, from 0."""

    service: str
    number: int = 0

    def __str__(self) -> str:
        return f"{self.service}-{self.number}"


class Exit(NamedTuple):
    """A process that ended unasked, or had to be killed after the grace period."""

    copy: str
    code: int


@dataclass
class Copies:
    """All copies of all services, and the store. A context manager.

    `python` is the interpreter of the checkout whose services run; it may be another one than this.
    """

    folder: Path
    nats_urls: str
    nats_token: str
    python: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    # Copies by service; COPIES for a service that is not listed.
    numbers: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.exits: list[Exit] = []
        self._processes: dict[Copy, subprocess.Popen[bytes]] = {}
        self._is_expected: dict[Copy, bool] = {}
        self._ports = {copy: free_port() for copy in self.all}
        self._ports[Copy(STORE)] = free_port()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        for name in ("logs", "run"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    @property
    def all(self) -> list[Copy]:
        """Every copy of a service, in the order of the start."""
        return [
            Copy(service, number)
            for service in SERVICES
            for number in range(self.numbers.get(service, COPIES))
        ]

    def of(self, service: str) -> list[Copy]:
        """The copies of a service, or the store."""
        return [Copy(STORE)] if service == STORE else [copy for copy in self.all if copy.service == service]

    def port(self, copy: Copy) -> int:
        """The port of a gateway, of another service's health, or of the store."""
        return self._ports[copy]

    @property
    def store_url(self) -> str:
        """The URL of the store."""
        return f"http://{HOST}:{self._ports[Copy(STORE)]}"

    def start(self, copy: Copy) -> None:
        """Start a process; `wait_ready` waits for it."""
        with self._lock:
            self._launch(copy)

    def kill(self, copy: Copy) -> None:
        """End a process with SIGKILL. It stays down until `start`."""
        with self._lock:
            self._is_expected[copy] = False
        self._processes[copy].kill()
        self._processes[copy].wait()

    def stop(self, copy: Copy) -> None:
        """End a process with SIGTERM; SIGKILL after the grace period, which counts as an exit."""
        with self._lock:
            self._is_expected[copy] = False
        process = self._processes[copy]
        process.terminate()
        try:
            code = process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        if code:
            self.exits.append(Exit(str(copy), code))

    def restart(self, copy: Copy) -> None:
        """Stop a process, start it, and wait until it is ready."""
        self.stop(copy)
        self.start(copy)
        self.wait_ready(copy)

    def wait_ready(self, *copies: Copy, seconds: float = READY_S_MAX) -> None:
        """Wait until the copies, or all, are ready. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        for copy in copies or self.all:
            while not self.is_ready(copy):
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{copy} is not ready: {self.tail(copy)}")
                time.sleep(POLL_S)

    def is_ready(self, copy: Copy) -> bool:
        """Whether /readyz of a process answers 200."""
        return self.readiness(copy)[0] == HTTPStatus.OK

    def readiness(self, copy: Copy) -> tuple[int, str]:
        """The status and the body of /readyz; 0 without an answer."""
        try:
            with urllib.request.urlopen(
                f"http://{HOST}:{self._ports[copy]}/readyz", timeout=ANSWER_S_MAX
            ) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def busiest(self, service: str, cpu_s: Callable[[int], float]) -> Copy:
        """The copy of a service that has used most of something, by its process id."""
        return max(self.of(service), key=lambda copy: cpu_s(self._processes[copy].pid))

    def tail(self, copy: Copy, characters: int = 1_000) -> str:
        """The end of a process' log."""
        return (self.folder / "logs" / f"{copy}.log").read_text(errors="replace")[-characters:]

    def __enter__(self) -> Self:
        try:
            self.launch_all()
            self.wait_ready()
        except BaseException:
            self.stop_all()
            raise
        return self

    def launch_all(self) -> None:
        """Start the store, then every copy of every service at once."""
        self.start(Copy(STORE))
        self.wait_ready(Copy(STORE))
        for copy in self.all:
            self.start(copy)
        self._keeper.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_all()

    def stop_all(self) -> None:
        """End every process."""
        self._done.set()
        with self._lock:
            self._is_expected = {}
        for process in self._processes.values():
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + GRACE_S
        for process in self._processes.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def run(self, module: str, environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
        """Start `python -m MODULE`, whose output is appended to a file."""
        with log.open("ab") as written:
            return subprocess.Popen(
                [str(self.python), "-P", "-m", module], env=environment, stdout=written, stderr=written
            )

    def _launch(self, copy: Copy) -> None:
        package = "prism_qdrant_local" if copy.service == STORE else f"prism_{copy.service}"
        log = self.folder / "logs" / f"{copy}.log"
        self._processes[copy] = self.run(f"{package}.main", self._environment(copy), log)
        self._is_expected[copy] = True

    def _environment(self, copy: Copy) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
        port = str(self._ports[copy])
        if copy.service == STORE:
            own = {
                "DATA_DIR": str(self.folder / "store"), "HOST": HOST, "PORT": port, "API_KEY": STORE_KEY,
            }  # fmt: skip
            return kept | FRUGAL | {f"PRISM_QDRANT_LOCAL_{name}": value for name, value in own.items()}
        return {
            **kept,
            **FRUGAL,
            "PRISM_CONFIG": os.devnull,
            "PRISM_NATS_URL": self.nats_urls,
            "PRISM_NATS_TOKEN": self.nats_token,
            "PRISM_QDRANT_URL": self.store_url,
            "PRISM_QDRANT_API_KEY": STORE_KEY,
            "PRISM_GATEWAY_PORT" if copy.service == "gateway" else "PRISM_HEALTH_PORT": port,
            "PRISM_BOOTSTRAP_TOKEN_SHA256": hashlib.sha256(TOKEN.encode()).hexdigest(),
            "PRISM_SECRETS_KEY": "k" * 40,
            "PRISM_WEBHOOK_SECRET": WEBHOOK_SECRET,
            "PRISM_CACHE_DIR": str(self.folder / f"cache-{copy}"),
            # Repositories are folders on this machine, and only pushes change them.
            "PRISM_CLONE_SCHEMES": "file",
            "PRISM_CLONE_ALLOW_PRIVATE": "true",
            "PRISM_POLL_INTERVAL_S": "0",
            **self.settings,
        }

    def _keep(self) -> None:
        """Restart what ends unasked, as an orchestrator does."""
        while not self._done.wait(RESTART_PAUSE_S):
            with self._lock:
                for copy, is_expected in self._is_expected.items():
                    code = self._processes[copy].poll()
                    if is_expected and code is not None:
                        self.exits.append(Exit(str(copy), code))
                        self._launch(copy)
