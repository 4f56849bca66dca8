"""Rules about the way in: what is public, how large a body and how long a request may be."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from deploy.checks.manifests import Manifests, Object, name_of
from deploy.checks.network_rules import Peer, is_allowed
from deploy.checks.settings_rules import own_settings
from prism_gateway.settings import GatewaySettings

# What clients and forges call, by one example each; and what stays inside the cluster.
PUBLIC = (
    "/mcp",
    "/api/v1/search",
    "/api/v1/ingest/webhook",
    "/.well-known/oauth-protected-resource/mcp",
    "/openapi.json",
    "/docs",
)
INSIDE = ("/metrics", "/livez", "/readyz")
NGINX, F5 = "nginx.ingress.kubernetes.io/", "nginx.org/"
PROXIES = ("envoy-gateway-system", "ingress-nginx", "nginx-ingress")
SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def routes_are_public(manifests: Manifests) -> Iterator[str]:
    """Every path that clients call is routed to the gateway; metrics and probes are not."""
    for item in manifests.of("HTTPRoute", "Ingress"):
        for path in PUBLIC:
            if not any(_routes(kind, value, path) for kind, value in _paths(item)):
                yield f"{name_of(item)}: {path} is not routed"
        for path in INSIDE:
            if any(_routes(kind, value, path) for kind, value in _paths(item)):
                yield f"{name_of(item)}: {path} is public"
        for service, port in _backends(item):
            found = manifests.find("Service", service)
            if found is None or not any(port in (one["port"], one["name"]) for one in found["spec"]["ports"]):
                yield f"{name_of(item)}: there is no Service {service} with the port {port}"


def _paths(item: Object) -> Iterator[tuple[str, str]]:
    for rule in item["spec"]["rules"]:
        for match in rule.get("matches", []):
            yield match["path"]["type"].removeprefix("Path"), match["path"]["value"]
        for path in rule.get("http", {}).get("paths", []):
            yield path["pathType"], path["path"]


def _routes(kind: str, value: str, path: str) -> bool:
    """Whether a path is matched: `Prefix` compares whole elements, in Ingress and Gateway API alike."""
    prefix = value.rstrip("/")
    return path == value or (kind == "Prefix" and (path == prefix or path.startswith(f"{prefix}/")))


def _backends(item: Object) -> Iterator[tuple[str, int | str]]:
    for rule in item["spec"]["rules"]:
        for backend in rule.get("backendRefs", []):
            yield backend["name"], backend["port"]
        for path in rule.get("http", {}).get("paths", []):
            service = path["backend"]["service"]
            yield service["name"], service["port"].get("name", service["port"].get("number"))


def bodies_pass(manifests: Manifests) -> Iterator[str]:
    """The proxy takes the largest body that the gateway takes, and passes bodies and answers as they come."""
    settings = _gateway(manifests)
    largest = max(value for name, value in settings.model_dump().items() if name in _body_limits(settings))
    for item in manifests.of("Ingress"):
        notes = item["metadata"].get("annotations", {})
        for key in (f"{NGINX}proxy-body-size", f"{F5}client-max-body-size"):
            if _nginx_bytes(notes.get(key, "1m")) < largest:
                yield f"{name_of(item)}: {key} is smaller than the gateway's limit of {largest} bytes"
        wanted = {
            f"{NGINX}proxy-request-buffering": "off",
            f"{NGINX}proxy-buffering": "off",
            f"{F5}proxy-buffering": "False",
        }
        for key, value in wanted.items():
            if notes.get(key) != value:
                yield f"{name_of(item)}: {key} is not {value}"


def _gateway(manifests: Manifests) -> GatewaySettings:
    gateway = next(workload for workload in manifests.services if workload.component == "gateway")
    settings = own_settings(gateway)
    assert isinstance(settings, GatewaySettings)
    return settings


def _body_limits(settings: GatewaySettings) -> set[str]:
    """The settings that say how large a body is as it is sent."""
    fields = type(settings).model_fields.items()
    return {
        name
        for name, field in fields
        if re.match("Largest .*(body|as sent|pack|edit|webhook)", field.description or "")
    }


def _nginx_bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)([kmg]?)", text.lower())
    return int(found[1]) * 1024 ** " kmg".index(found[2] or " ") if found else 0


def requests_have_time(manifests: Manifests) -> Iterator[str]:
    """The proxy waits longer than the gateway waits for a service."""
    needed_s = _gateway(manifests).rpc_scip_timeout_s
    for item in manifests.of("HTTPRoute"):
        for rule in item["spec"]["rules"]:
            for name in ("request", "backendRequest"):
                if _seconds(rule.get("timeouts", {}).get(name, "0s")) <= needed_s:
                    yield f"{name_of(item)}: the time-out {name} is shorter than {needed_s:g} s"
    for item in manifests.of("Ingress"):
        for prefix in (NGINX, F5):
            for name in ("proxy-read-timeout", "proxy-send-timeout"):
                given = item["metadata"].get("annotations", {}).get(prefix + name, "60")
                if _seconds(given) <= needed_s:
                    yield f"{name_of(item)}: {prefix}{name} is shorter than {needed_s:g} s"


def _seconds(text: str) -> float:
    return sum(float(number) * SECONDS[unit or "s"] for number, unit in re.findall(r"(\d+)(ms|[smh]?)", text))


def hosts_agree(manifests: Manifests) -> Iterator[str]:
    """The host of PRISM_PUBLIC_URL is that of routes and certificates; the certificate's secret is the one used."""
    host = _gateway(manifests).public_url.partition("://")[2].partition("/")[0]
    certificates = {
        item["spec"]["secretName"]: item["spec"]["dnsNames"]
        for item in manifests.of("Certificate")
        if "dnsNames" in item["spec"]
    }
    for item in manifests.of("HTTPRoute", "Ingress", "Gateway"):
        for name in _hosts(item["spec"]):
            if name != host:
                yield f"{name_of(item)}: the host {name}, but clients use {host}"
        for secret in _tls_secrets(item["spec"]):
            if host not in certificates.get(secret, []):
                yield f"{name_of(item)}: no Certificate of {host} makes the Secret {secret}"


def _hosts(spec: dict[str, Any]) -> Iterator[str]:
    yield from spec.get("hostnames", [])
    yield from (listener["hostname"] for listener in spec.get("listeners", []))
    yield from (rule["host"] for rule in spec.get("rules", []) if "host" in rule)
    yield from (host for entry in spec.get("tls", []) for host in entry["hosts"])


def _tls_secrets(spec: dict[str, Any]) -> Iterator[str]:
    yield from (entry["secretName"] for entry in spec.get("tls", []))
    for listener in spec.get("listeners", []):
        yield from (reference["name"] for reference in listener.get("tls", {}).get("certificateRefs", []))


def the_proxy_is_let_in(manifests: Manifests) -> Iterator[str]:
    """Where there is a route, a policy lets the proxy reach the gateway, and only the gateway."""
    routes = list(manifests.of("HTTPRoute", "Ingress"))
    for workload in manifests.services:
        for port in workload.ports.values():
            let_in = [
                name
                for name in PROXIES
                if is_allowed(
                    manifests, Peer(namespace={"kubernetes.io/metadata.name": name}), workload, port
                )
            ]
            if workload.component == "gateway" and routes and not let_in:
                yield f"{workload.name}: no proxy is let in"
            if workload.component != "gateway" and let_in:
                yield f"{workload.name}: {', '.join(let_in)} reaches it"


RULES: tuple[Callable[[Manifests], Iterator[str]], ...] = (
    routes_are_public,
    bodies_pass,
    requests_have_time,
    hosts_agree,
    the_proxy_is_let_in,
)
