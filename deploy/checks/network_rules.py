"""Rules about the network: each pod reaches what it calls, and nothing else reaches it.

NetworkPolicies are evaluated as Kubernetes does: a pod that no policy selects is open; else a connection needs a
rule of the caller's egress and one of the callee's ingress.
"""

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from deploy.checks.manifests import Manifests, Object, Workload, matches, name_of

NATS_PORT, NATS_ROUTES, NATS_MONITOR = 4222, 6222, 8222
QDRANT_PORT, QDRANT_PEERS = 6333, 6335
# Where connections come from, or go to, that are not to another pod of Prism.
OUTSIDE = {"kubernetes.io/metadata.name": "default"}
MONITORING = {"kubernetes.io/metadata.name": "monitoring"}
PRIVATE_ADDRESSES = (
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "127.0.0.1",
    "fd00::1",
)
GIT_SERVER = "140.82.112.3"
CLIENTS_OF_GIT = ("ingest", "workspace")


class Peer(NamedTuple):
    """One end of a connection: a pod of this namespace by its labels, a pod of another one, or an address."""

    labels: Mapping[str, str] | None = None
    namespace: Mapping[str, str] | None = None
    address: str = ""


def is_allowed(manifests: Manifests, caller: Workload | Peer, callee: Workload | Peer, port: int) -> bool:
    """Whether the policies let a caller connect to a TCP port of a callee."""
    ports = callee.ports if isinstance(callee, Workload) else {}
    out = [rule for rule in _rules(manifests, caller, "Egress") if _has_port(rule, port, ports)]
    into = [rule for rule in _rules(manifests, callee, "Ingress") if _has_port(rule, port, ports)]
    return any(_names(rule, "to", _peer(callee)) for rule in out) and any(
        _names(rule, "from", _peer(caller)) for rule in into
    )


def _peer(end: Workload | Peer) -> Peer:
    return Peer(labels=end.labels) if isinstance(end, Workload) else end


def _rules(manifests: Manifests, end: Workload | Peer, direction: str) -> list[Object]:
    """The rules that hold for one end, any of which suffices; one without conditions if no policy selects it."""
    policies = [
        policy["spec"]
        for policy in manifests.of("NetworkPolicy")
        if isinstance(end, Workload)
        and direction in policy["spec"]["policyTypes"]
        and matches(policy["spec"]["podSelector"], end.labels)
    ]
    return [rule for policy in policies for rule in policy.get(direction.lower(), [])] if policies else [{}]


def _has_port(rule: Object, port: int, names: Mapping[str, int]) -> bool:
    return "ports" not in rule or any(
        wanted.get("protocol", "TCP") == "TCP" and names.get(str(wanted["port"]), wanted["port"]) == port
        for wanted in rule["ports"]
    )


def _names(rule: Object, side: str, peer: Peer) -> bool:
    return side not in rule or any(_is(peer, selector) for selector in rule[side])


def _is(peer: Peer, selector: Mapping[str, Any]) -> bool:
    if "ipBlock" in selector:
        return bool(peer.address) and _within(peer.address, selector["ipBlock"])
    if "namespaceSelector" in selector:
        return peer.namespace is not None and matches(selector["namespaceSelector"], peer.namespace)
    return (
        peer.labels is not None and peer.namespace is None and matches(selector["podSelector"], peer.labels)
    )


def _within(address: str, block: Mapping[str, Any]) -> bool:
    parsed = ipaddress.ip_address(address)

    def is_in(cidr: str) -> bool:
        return parsed in ipaddress.ip_network(cidr)

    return is_in(block["cidr"]) and not any(is_in(cidr) for cidr in block.get("except", []))


def calls_are_let_through(manifests: Manifests) -> Iterator[str]:
    """Every address in the settings of a pod is a Service, whose pods the policies let it reach."""
    for caller in manifests.services:
        for variable in _addresses(caller):
            for url in caller.environment[variable].split(","):
                yield from _unreached(manifests, caller, f"{caller.name}: {variable}", url.strip())
    for component, port in (("nats", NATS_ROUTES), ("qdrant", QDRANT_PEERS)):
        for peer in _of(manifests, component):
            if not is_allowed(manifests, peer, peer, port):
                yield f"{peer.name}: its copies do not reach each other on {port}"


def _addresses(caller: Workload) -> Iterator[str]:
    """The variables with addresses of NATS, which every service calls, and of Qdrant, if it has the key."""
    yield "PRISM_NATS_URL"
    if "PRISM_QDRANT_API_KEY_FILE" in caller.environment:
        yield "PRISM_QDRANT_URL"


def _unreached(manifests: Manifests, caller: Workload, place: str, url: str) -> Iterator[str]:
    host, port = urlsplit(url).hostname or "", urlsplit(url).port
    service = manifests.find("Service", host) or manifests.find("Service", host.partition(".")[2])
    if service is None:
        yield f"{place}: {host} is not a Service"
        return
    callees = manifests.selected({"matchLabels": service["spec"]["selector"]})
    for callee in callees:
        if host != service["metadata"]["name"] and host.partition(".")[0] not in _pods(callee):
            yield f"{place}: {host} is not a pod of {callee.name}"
        target = _target(service, callee, port)
        if target is None:
            yield f"{place}: {name_of(service)} has no port {port}"
        elif not is_allowed(manifests, caller, callee, target):
            yield f"{place}: the policies do not let it reach {callee.name}"


def _pods(workload: Workload) -> set[str]:
    """The names of the pods of a StatefulSet."""
    name = workload.item["metadata"]["name"]
    return {f"{name}-{index}" for index in range(workload.item["spec"].get("replicas", 1))}


def _target(service: Object, callee: Workload, port: int | None) -> int | None:
    found = [entry for entry in service["spec"]["ports"] if entry["port"] == port]
    return callee.ports.get(found[0]["targetPort"]) if found else None


def _of(manifests: Manifests, *components: str) -> Iterator[Workload]:
    return (workload for workload in manifests.workloads if workload.component in components)


def others_are_kept_out(manifests: Manifests) -> Iterator[str]:
    """No pod reaches what it does not call, and nothing from outside reaches a pod, but by the proxy."""
    if not any(_denies_everything(policy["spec"]) for policy in manifests.of("NetworkPolicy")):
        yield "no NetworkPolicy denies everything that the others do not allow"
    for callee in manifests.workloads:
        for port in callee.ports.values():
            for caller in manifests.workloads:
                if not _calls(caller, callee, port) and is_allowed(manifests, caller, callee, port):
                    yield f"{caller.name}: it reaches {callee.name} on {port}, which it does not call"
            for stranger in (Peer(labels={"app": "other"}, namespace=OUTSIDE), Peer(labels={"app": "other"})):
                if is_allowed(manifests, stranger, callee, port):
                    yield f"{callee.name}: any pod reaches it on {port}"
            if is_allowed(manifests, Peer(address=GIT_SERVER), callee, port):
                yield f"{callee.name}: every address reaches it on {port}"
        if is_allowed(manifests, Peer(namespace=MONITORING), callee, NATS_MONITOR):
            yield f"{callee.name}: Prometheus reaches the monitoring port of NATS, which shows subjects"


def _denies_everything(policy: Mapping[str, Any]) -> bool:
    return policy == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def _calls(caller: Workload, callee: Workload, port: int) -> bool:
    if callee.component == "nats":
        return port == (NATS_PORT if caller.is_prism else NATS_ROUTES if caller.component == "nats" else -1)
    if callee.component == "qdrant":
        has_key = "PRISM_QDRANT_API_KEY_FILE" in caller.environment
        return port == (QDRANT_PORT if has_key else QDRANT_PEERS if caller.component == "qdrant" else -1)
    return False


def egress_is_for_git(manifests: Manifests) -> Iterator[str]:
    """Ingest and workspace reach public addresses, on the ports of git servers, and nothing reaches private ones.

    With the component of sign-on, the gateway reaches identity providers by HTTPS; with those of the reranker
    and the language model, search and scribe reach them.
    """
    for caller in manifests.workloads:
        reached = {
            port
            for port in (22, 80, 443, 9418)
            if is_allowed(manifests, caller, Peer(address=GIT_SERVER), port)
        }
        if caller.component in CLIENTS_OF_GIT and not {22, 443} <= reached:
            yield f"{caller.name}: it does not reach git servers"
        if reached - _public_ports(caller):
            yield f"{caller.name}: it reaches public addresses on {sorted(reached - _public_ports(caller))}"
        for address in PRIVATE_ADDRESSES:
            if is_allowed(manifests, caller, Peer(address=address), 443):
                yield f"{caller.name}: it reaches the private address {address}"


def _public_ports(caller: Workload) -> set[int]:
    reached = {client: {22, 443, 9418} for client in CLIENTS_OF_GIT}
    reached |= {client: {443} for client in ("gateway", "search", "scribe")}
    return reached.get(caller.component, set())


def metrics_are_read(manifests: Manifests) -> Iterator[str]:
    """Prometheus is let in to each port that a PodMonitor names."""
    for monitor in manifests.of("PodMonitor"):
        for workload in manifests.selected(monitor["spec"]["selector"]):
            for endpoint in monitor["spec"]["podMetricsEndpoints"]:
                port = workload.ports.get(endpoint["port"])
                if port is None:
                    yield f"{name_of(monitor)}: {workload.name} has no port {endpoint['port']}"
                elif not is_allowed(manifests, Peer(namespace=MONITORING), workload, port):
                    yield f"{name_of(monitor)}: the policies keep Prometheus out of {workload.name}"


def names_are_resolved(manifests: Manifests) -> Iterator[str]:
    """Every pod reaches DNS, over TCP too."""
    dns = Peer(labels={}, namespace={"kubernetes.io/metadata.name": "kube-system"})
    for workload in manifests.workloads:
        if not is_allowed(manifests, workload, dns, 53):
            yield f"{workload.name}: it does not reach DNS"


RULES: tuple[Callable[[Manifests], Iterable[str]], ...] = (
    calls_are_let_through,
    others_are_kept_out,
    egress_is_for_git,
    metrics_are_read,
    names_are_resolved,
)
