"""Rules about pods: what runs, how it is probed, stopped, limited and confined."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry

from deploy.checks.manifests import ROOT, Manifests, Object, Workload
from deploy.checks.settings_rules import own_settings
from prism_cli.stack.watchdog import BUS, INGEST, SERVICE, STORE
from prism_runtime.health import READY_TIMEOUT_S, health_routes

# Each service of Prism is a folder; the local store of `prism up` has no place beside Qdrant.
SERVICES = sorted(
    folder.name for folder in (ROOT / "services").iterdir() if (folder / f"prism_{folder.name}").is_dir()
)
NOT_DEPLOYED = {"qdrant_local"}
# What docs/operations.md gives a service after SIGTERM, in seconds, beyond PRISM_DRAIN_S.
GATEWAY_STOP_S, STOP_S = 25, 20
# `lame_duck_duration` of nats.conf, and the time to close JetStream.
LAME_DUCK_S = 30 + 10
SILENT_S = {"ingest": INGEST.silent_s_max, "nats": BUS.silent_s_max, "qdrant": STORE.silent_s_max}
STARTUP_S_MIN = 60
PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
# Paths of NATS (monitoring) and of Qdrant; those of services come from the code.
FOREIGN_PATHS = {"nats": {"/healthz"}, "qdrant": {"/livez", "/readyz"}}
UNITS = {"": 1, "m": 0.001, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "k": 1e3, "M": 1e6, "G": 1e9}


def quantity(text: str | float) -> float:
    """Returns a quantity of Kubernetes as a number: bytes, or CPUs. Raises ValueError."""
    found = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text))
    if not found or found[2] not in UNITS:
        raise ValueError(f"{text} is not a quantity")
    return float(found[1]) * UNITS[found[2]]


def every_service_runs(manifests: Manifests) -> Iterator[str]:
    """Each folder of `services` has one workload, which runs its `main`."""
    for service in SERVICES:
        running = [w for w in manifests.services if w.container.get("args") == [f"prism_{service}.main"]]
        wanted = 0 if service in NOT_DEPLOYED else 1
        if len(running) != wanted:
            yield f"{service}: {len(running)} workloads run it, instead of {wanted}"
        if any(workload.component != service for workload in running):
            yield f"{service}: its workload has another label"


def probes_are_answered(manifests: Manifests) -> Iterator[str]:
    """Each probe asks a port that the container has and listens on, and a path that it answers."""
    paths = {route.path for route in health_routes("any", {}, CollectorRegistry())}
    for workload in manifests.workloads:
        answered = FOREIGN_PATHS.get(workload.component, paths)
        for probe, http in _probes(workload):
            if http.get("port") not in workload.ports:
                yield f"{workload.name}: {probe} asks the port {http.get('port')}, which the container does not have"
            if str(http.get("path")).partition("?")[0] not in answered:
                yield f"{workload.name}: {probe} asks for {http.get('path')}, which is not answered"
        if workload.is_prism and workload.ports != {"http": _listens_on(workload)}:
            yield f"{workload.name}: ports {workload.ports}, but it listens on {_listens_on(workload)}"


def _probes(workload: Workload) -> Iterator[tuple[str, Object]]:
    for probe in PROBES:
        yield probe, workload.container.get(probe, {}).get("httpGet", {})


def _listens_on(workload: Workload) -> int:
    variable = "PRISM_GATEWAY_PORT" if workload.component == "gateway" else "PRISM_HEALTH_PORT"
    return int(workload.environment.get(variable, "0"))


def probes_are_patient(manifests: Manifests) -> Iterator[str]:
    """Nothing is killed for less silence than docs/operations.md allows, and /readyz has time for its checks."""
    for workload in manifests.workloads:
        startup, liveness, readiness = (workload.container.get(probe, {}) for probe in PROBES)
        silent_s = liveness.get("timeoutSeconds", 1) * liveness.get("failureThreshold", 3)
        allowed_s = SILENT_S.get(workload.component, SERVICE.silent_s_max)
        if silent_s < allowed_s:
            yield f"{workload.name}: it is killed after {silent_s} s of silence, and may be silent for {allowed_s:g} s"
        if readiness.get("timeoutSeconds", 1) <= READY_TIMEOUT_S:
            yield f"{workload.name}: readinessProbe gives up before the checks of /readyz"
        startup_s = startup.get("periodSeconds", 10) * startup.get("failureThreshold", 3)
        if startup_s < STARTUP_S_MIN:
            yield f"{workload.name}: it has only {startup_s} s to start"


def stops_have_time(manifests: Manifests) -> Iterator[str]:
    """The grace period is longer than everything that happens after SIGTERM."""
    for workload in manifests.workloads:
        grace_s = workload.pod.get("terminationGracePeriodSeconds", 30)
        before_s = (
            workload.container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        )
        needed_s = float(before_s)
        if workload.is_prism:
            settings = own_settings(workload)
            needed_s += float(getattr(settings, "drain_s", 0))
            needed_s += GATEWAY_STOP_S if workload.component == "gateway" else STOP_S
        elif workload.component == "nats":
            needed_s += LAME_DUCK_S
        if grace_s <= needed_s:
            yield f"{workload.name}: {grace_s} s of grace, but stopping takes up to {needed_s:g} s"


def rolls_lose_no_copy(manifests: Manifests) -> Iterator[str]:
    """A rolling update adds a copy before it removes one."""
    for workload in manifests.workloads:
        rolling = workload.item["spec"].get("strategy", {}).get("rollingUpdate", {})
        if workload.item["kind"] == "Deployment" and rolling.get("maxUnavailable") != 0:
            yield f"{workload.name}: maxUnavailable is not 0"


def resources_are_bounded(manifests: Manifests) -> Iterator[str]:
    """Each container requests CPU and memory, has a limit of memory, and requests no more than its limits."""
    for workload in manifests.workloads:
        resources = workload.container.get("resources", {})
        requests, limits = resources.get("requests", {}), resources.get("limits", {})
        for name in ("cpu", "memory"):
            if name not in requests:
                yield f"{workload.name}: no request of {name}"
        if "memory" not in limits:
            yield f"{workload.name}: no limit of memory"
        for name, limit in limits.items():
            if quantity(requests.get(name, 0)) > quantity(limit):
                yield f"{workload.name}: it requests more {name} than its limit"


def pods_are_restricted(manifests: Manifests) -> Iterator[str]:
    """The pod security standard `restricted`, a read-only root, and no token of the API."""
    for workload in manifests.workloads:
        pod, container = workload.pod, workload.container
        context, own = pod.get("securityContext", {}), container.get("securityContext", {})
        wanted = {
            "runAsNonRoot": context.get("runAsNonRoot") is True,
            "a user other than root": context.get("runAsUser", 0) > 0,
            "the default seccomp profile": context.get("seccompProfile") == {"type": "RuntimeDefault"},
            "no escalation of privileges": own.get("allowPrivilegeEscalation") is False,
            "a read-only root": own.get("readOnlyRootFilesystem") is True,
            "no capabilities": own.get("capabilities") == {"drop": ["ALL"]},
            "no token": pod.get("automountServiceAccountToken") is False,
            "its service account": pod.get("serviceAccountName") == "prism",
            "no network, processes or IPC of the host": not any(
                pod.get(f"host{what}") for what in ("Network", "PID", "IPC")
            ),
            "no path of the host": not any("hostPath" in volume for volume in pod.get("volumes", [])),
        }
        for what, holds in wanted.items():
            if not holds:
                yield f"{workload.name}: the pod lacks {what}"


def volumes_are_bounded(manifests: Manifests) -> Iterator[str]:
    """What is mounted exists, an emptyDir has a limit, and caches are smaller than theirs."""
    for workload in manifests.workloads:
        claims = workload.item["spec"].get("volumeClaimTemplates", [])
        volumes = {volume["name"]: volume for volume in workload.pod.get("volumes", [])}
        names = set(volumes) | {claim["metadata"]["name"] for claim in claims}
        for mount in workload.container.get("volumeMounts", []):
            if mount["name"] not in names:
                yield f"{workload.name}: the volume {mount['name']} does not exist"
        for name, volume in volumes.items():
            if "emptyDir" in volume and "sizeLimit" not in volume["emptyDir"]:
                yield f"{workload.name}: the volume {name} has no limit"
        needed = _cache_bytes(workload)
        if needed and quantity(volumes.get("cache", {}).get("emptyDir", {}).get("sizeLimit", 0)) < needed:
            yield f"{workload.name}: the cache needs {needed / 2**30:.1f} GiB"


def _cache_bytes(workload: Workload) -> int:
    """The largest cache of a service: its limit, and what may arrive before something is deleted."""
    if workload.component not in {"ingest", "atlas"}:
        return 0
    settings: Any = own_settings(workload)
    if workload.component == "ingest":
        return int(settings.cache_bytes_max + settings.clone_bytes_max + settings.scip_unpacked_bytes_max)
    return int(settings.atlas_kept_bytes_max + settings.atlas_layers_bytes_max)


def images_are_pinned(manifests: Manifests) -> Iterator[str]:
    """An image has a tag other than `latest`, or a digest."""
    for workload in manifests.workloads:
        image = workload.container.get("image", "")
        tag = image.rpartition("/")[2].partition(":")[2]
        if "@sha256:" not in image and tag in {"", "latest"}:
            yield f"{workload.name}: the image {image} has no tag"


RULES: tuple[Callable[[Manifests], Iterator[str]], ...] = (
    every_service_runs,
    probes_are_answered,
    probes_are_patient,
    stops_have_time,
    rolls_lose_no_copy,
    resources_are_bounded,
    pods_are_restricted,
    volumes_are_bounded,
    images_are_pinned,
)
