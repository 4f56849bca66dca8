"""The processes of the stack: for each its command, its environment, and its readiness check."""

import hashlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from prism_cli.stack import nats, probes, watchdog
from prism_cli.stack.layout import DataDir, read_json
from prism_cli.stack.probes import Probe
from prism_cli.stack.watchdog import Limits

# Every process of a stack, and its descendants, has this variable with the path of the data folder.
MARKER = "PRISM_SUPERVISED_BY"

NATS = "nats"
QDRANT = "qdrant"
QDRANT_MODULE = "prism_qdrant_local.main"
GATEWAY = "gateway"
DEEP = "embedder-deep"
INGEST = "ingest"
SEARCH = "search"
WORKERS = (INGEST, "chunker", "embedder", "indexer", SEARCH, "atlas", "workspace", "scribe")
LIMITS = {INGEST: watchdog.INGEST, DEEP: watchdog.DEEP}

# glibc arenas and BLAS thread pools cost tens of megabytes per process, without a gain on few cores.
FRUGAL = {
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


@dataclass(frozen=True, slots=True)
class Spec:
    """One process of the stack."""

    name: str
    argv: tuple[str, ...]
    env: dict[str, str]
    # Process id -> the port on which that process listens, None before it does.
    find_port: Callable[[int], int | None]
    # Port and path of a health check -> the probe, sent.
    ask: Callable[[int, str], Probe]
    # When to replace it although it runs.
    limits: Limits
    # Called with the first port: the process keeps it for the rest of the run, so that clients find it again.
    pin: Callable[["Spec", int], "Spec"] = lambda spec, _: spec
    # The file in which the process announces its port; removed before each start, because an old one is
    # wrong.
    announced_in: tuple[Path, ...] = ()
    # What a fork may run instead of `argv`; empty if it needs a process of its own.
    module: str = ""
    # Without these it cannot be ready, so it is not replaced for that.
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Door:
    """The address of the stack, and its token."""

    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://{probes.HOST}:{self.port}"

    @property
    def mcp_url(self) -> str:
        return f"{self.url}/mcp"


def nats_spec(data: DataDir) -> Spec:
    """Returns the bus. Writes its configuration file, and writes it again when its port is known."""
    config = nats.write_config(data, nats.ANY_PORT)

    def pin(spec: Spec, port: int) -> Spec:
        nats.write_config(data, port)
        return spec

    return Spec(
        name=NATS,
        argv=(str(nats.binary()), "-c", str(config)),
        env=nats.FRUGAL | base_env(data),
        find_port=lambda pid: nats.port_of(data, pid),
        ask=probes.nats_probe,
        limits=watchdog.BUS,
        pin=pin,
    )


def qdrant_spec(data: DataDir) -> Spec:
    """Returns the store: the local server over Qdrant's own engine."""
    env = base_env(data) | {
        "PRISM_QDRANT_LOCAL_DATA_DIR": str(data.qdrant),
        "PRISM_QDRANT_LOCAL_HOST": probes.HOST,
        "PRISM_QDRANT_LOCAL_PORT": "0",
        "PRISM_QDRANT_LOCAL_API_KEY": data.secret("qdrant"),
    }
    if floor := os.environ.get("PRISM_DISK_FREE_BYTES_MIN"):
        env["PRISM_QDRANT_LOCAL_DISK_FREE_BYTES_MIN"] = floor

    port_file = data.qdrant / "qdrant.port"

    def find_port(_: int) -> int | None:
        try:
            return int(port_file.read_text())
        except (OSError, ValueError):
            return None

    def pin(spec: Spec, port: int) -> Spec:
        return replace(spec, env=spec.env | {"PRISM_QDRANT_LOCAL_PORT": str(port)})

    return Spec(
        name=QDRANT,
        argv=_python(QDRANT_MODULE),
        env=env,
        find_port=find_port,
        ask=probes.http_probe,
        limits=watchdog.STORE,
        pin=pin,
        announced_in=(port_file,),
        module=QDRANT_MODULE,
    )


def service_specs(data: DataDir, nats_port: int, qdrant_port: int, door: Door) -> tuple[Spec, ...]:
    """Returns the services, the gateway last."""
    env = base_env(data) | {
        "PRISM_NATS_URL": f"nats://{probes.HOST}:{nats_port}",
        "PRISM_NATS_TOKEN": data.secret("nats"),
        "PRISM_QDRANT_URL": f"http://{probes.HOST}:{qdrant_port}",
        "PRISM_QDRANT_API_KEY": data.secret("qdrant"),
        "PRISM_SECRETS_KEY": data.secret("secrets"),
        "PRISM_RUN_DIR": str(data.run),
        "PRISM_DISK_DIR": str(data.root),
        "PRISM_ATLAS_DIR": str(data.atlas),
        "PRISM_HEALTH_HOST": probes.HOST,
        "PRISM_HEALTH_PORT": "0",
    }
    gateway_env = {
        "PRISM_GATEWAY_HOST": probes.HOST,
        "PRISM_GATEWAY_PORT": str(door.port),
        "PRISM_PUBLIC_URL": env.get("PRISM_PUBLIC_URL") or door.url,
        "PRISM_BOOTSTRAP_TOKEN_SHA256": hashlib.sha256(door.token.encode()).hexdigest(),
    }
    private = {INGEST: {"PRISM_CACHE_DIR": str(data.cache)}}
    deep_env = {"PRISM_EMBEDDER_TIER": "deep", "OMP_NUM_THREADS": str(os.cpu_count() or 1)}
    deep = _service(data, DEEP, env | deep_env, module_of("embedder"))
    return (
        *(_service(data, name, env | private.get(name, {})) for name in WORKERS),
        # Its libraries read the number of threads when they are loaded.
        *((replace(deep, module=""),) if is_deep_wanted() else ()),
        _service(data, GATEWAY, env | gateway_env),
    )


def is_deep_wanted() -> bool:
    """Whether the environment turns the deep tier on. The indexer reads the same variable."""
    return os.environ.get("PRISM_DEEP_ENABLED", "").lower() in {"1", "true", "yes", "on"}


def forked_modules() -> tuple[str, ...]:
    """Returns the modules that forks run, in start order."""
    return (QDRANT_MODULE, *map(module_of, (*WORKERS, GATEWAY)))


def module_of(service: str) -> str:
    """Returns the program of a service."""
    return f"prism_{service}.main"


def base_env(data: DataDir) -> dict[str, str]:
    """Returns the environment of every process of a stack."""
    return FRUGAL | dict(os.environ) | {MARKER: str(data.root)}


def _service(data: DataDir, name: str, env: dict[str, str], module: str = "") -> Spec:
    run_file = data.run / f"{name}.json"

    def find_port(pid: int) -> int | None:
        found = read_json(run_file)
        return int(found["port"]) if found and found.get("pid") == pid else None

    program = module or module_of(name)
    return Spec(
        name=name,
        argv=_python(program),
        env=env,
        find_port=find_port,
        ask=probes.http_probe,
        limits=LIMITS.get(name, watchdog.SERVICE),
        needs=(NATS, QDRANT, SEARCH) if name == GATEWAY else (NATS, QDRANT),
        announced_in=(run_file,),
        module=program,
    )


def _python(module: str) -> tuple[str, ...]:
    # -P: the current folder must not provide modules.
    return (sys.executable, "-P", "-m", module)
