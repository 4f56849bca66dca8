"""The overlays keep every rule, and each rule finds what it is for: one object is changed at a time."""

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from deploy.checks.manifests import Manifests
from deploy.checks.rules import RULES, problems

Spec = dict[str, Any]


def pod(item: Spec) -> Spec:
    return item["spec"]["template"]["spec"]


def container(item: Spec) -> Spec:
    return pod(item)["containers"][0]


def set_variable(name: str, value: str) -> Callable[[Spec], object]:
    return lambda item: container(item)["env"].append({"name": name, "value": value})


def without_variable(name: str) -> Callable[[Spec], object]:
    def edit(item: Spec) -> None:
        container(item)["env"] = [entry for entry in container(item)["env"] if entry["name"] != name]

    return edit


def note(key: str, value: str) -> Callable[[Spec], object]:
    return lambda item: item["metadata"]["annotations"].update({key: value})


def into(*path: str | int, value: object) -> Callable[[Spec], object]:
    def edit(item: Spec) -> None:
        place: Any = item
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return edit


def out_of(*path: str | int) -> Callable[[Spec], object]:
    def edit(item: Spec) -> None:
        place: Any = item
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return edit


def _volume(name: str, key: str, value: object) -> Callable[[Spec], object]:
    def edit(item: Spec) -> None:
        (found,) = (volume for volume in pod(item)["volumes"] if volume["name"] == name)
        found["secret"][key] = value

    return edit


IN_POD = ("spec", "template", "spec")
IN_CONTAINER = (*IN_POD, "containers", 0)
NGINX = "nginx.ingress.kubernetes.io"
OPEN = [{"podSelector": {}}]

# Which rule finds it, in which object, and the change.
CHANGES: list[tuple[str, str, Callable[[Spec], object]]] = [
    ("every_service_runs", "Deployment/atlas", into(*IN_CONTAINER, "args", value=["prism_search.main"])),
    (
        "every_service_runs",
        "Deployment/atlas",
        into("spec", "template", "metadata", "labels", "app.kubernetes.io/component", value="x"),
    ),
    (
        "probes_are_answered",
        "Deployment/search",
        into(*IN_CONTAINER, "readinessProbe", "httpGet", "port", value="web"),
    ),
    (
        "probes_are_answered",
        "Deployment/search",
        into(*IN_CONTAINER, "readinessProbe", "httpGet", "path", value="/ready"),
    ),
    (
        "probes_are_answered",
        "Deployment/search",
        into(*IN_CONTAINER, "ports", 0, "containerPort", value=8082),
    ),
    ("probes_are_answered", "Deployment/gateway", set_variable("PRISM_GATEWAY_PORT", "8000")),
    ("probes_are_answered", "Deployment/search", out_of(*IN_CONTAINER, "livenessProbe")),
    (
        "probes_are_patient",
        "Deployment/search",
        into(*IN_CONTAINER, "livenessProbe", "timeoutSeconds", value=3),
    ),
    (
        "probes_are_patient",
        "Deployment/ingest",
        into(*IN_CONTAINER, "livenessProbe", "timeoutSeconds", value=13),
    ),
    (
        "probes_are_patient",
        "Deployment/search",
        into(*IN_CONTAINER, "readinessProbe", "timeoutSeconds", value=1),
    ),
    (
        "probes_are_patient",
        "Deployment/search",
        into(*IN_CONTAINER, "startupProbe", "failureThreshold", value=5),
    ),
    ("stops_have_time", "Deployment/gateway", into(*IN_POD, "terminationGracePeriodSeconds", value=20)),
    (
        "stops_have_time",
        "Deployment/gateway",
        into(*IN_CONTAINER, "lifecycle", value={"preStop": {"sleep": {"seconds": 50}}}),
    ),
    ("stops_have_time", "StatefulSet/nats", into(*IN_POD, "terminationGracePeriodSeconds", value=30)),
    (
        "rolls_lose_no_copy",
        "Deployment/search",
        into("spec", "strategy", "rollingUpdate", "maxUnavailable", value=1),
    ),
    (
        "resources_are_bounded",
        "Deployment/search",
        into(*IN_CONTAINER, "resources", "limits", "memory", value="64Mi"),
    ),
    (
        "resources_are_bounded",
        "Deployment/search",
        into(*IN_CONTAINER, "resources", "limits", "cpu", value="50m"),
    ),
    ("resources_are_bounded", "Deployment/search", out_of(*IN_CONTAINER, "resources", "limits")),
    ("resources_are_bounded", "StatefulSet/nats", out_of(*IN_CONTAINER, "resources", "requests", "cpu")),
    ("pods_are_restricted", "Deployment/search", out_of(*IN_CONTAINER, "securityContext", "capabilities")),
    ("pods_are_restricted", "Deployment/search", into(*IN_POD, "securityContext", "runAsUser", value=0)),
    ("pods_are_restricted", "Deployment/search", into(*IN_POD, "hostNetwork", value=True)),
    ("pods_are_restricted", "StatefulSet/qdrant", into(*IN_POD, "automountServiceAccountToken", value=True)),
    (
        "volumes_are_bounded",
        "Deployment/search",
        lambda item: pod(item)["volumes"].append({"name": "x", "emptyDir": {}}),
    ),
    (
        "volumes_are_bounded",
        "Deployment/ingest",
        lambda item: pod(item)["volumes"].append({"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}}),
    ),
    ("volumes_are_bounded", "Deployment/ingest", set_variable("PRISM_CACHE_BYTES_MAX", str(2**40))),
    (
        "volumes_are_bounded",
        "Deployment/search",
        lambda item: container(item)["volumeMounts"].append({"name": "y", "mountPath": "/y"}),
    ),
    (
        "images_are_pinned",
        "Deployment/search",
        into(*IN_CONTAINER, "image", value="registry.example.com/prism:latest"),
    ),
    ("images_are_pinned", "StatefulSet/nats", into(*IN_CONTAINER, "image", value="localhost:5000/nats")),
    ("settings_exist", "Deployment/search", set_variable("PRISM_SERCH_DEADLINE_S", "8")),
    ("settings_exist", "Deployment/search", set_variable("PRISM_CACHE_DIR", "/tmp")),
    ("settings_exist", "Deployment/search", set_variable("PRISM_LOG_LEVEL_FILE", "/tmp")),
    ("settings_exist", "ConfigMap/prism", into("data", "PRISM_NATS_URLS", value="nats://nats:4222")),
    ("settings_suffice", "ConfigMap/prism", out_of("data", "PRISM_QDRANT_URL")),
    ("settings_suffice", "ConfigMap/prism", out_of("data", "PRISM_HEALTH_PORT")),
    ("settings_suffice", "Deployment/ingest", without_variable("PRISM_CACHE_DIR")),
    ("settings_suffice", "Deployment/ingest", without_variable("PRISM_SECRETS_KEY_FILE")),
    ("settings_suffice", "Deployment/search", without_variable("PRISM_QDRANT_API_KEY_FILE")),
    ("settings_suffice", "Deployment/search", without_variable("PRISM_NATS_NKEY_FILE")),
    ("settings_are_valid", "Deployment/search", set_variable("PRISM_SEARCH_DEADLINE_S", "0")),
    ("settings_are_valid", "ConfigMap/prism", into("data", "PRISM_NATS_URL", value="nats://nats:4222")),
    ("replicas_exist", "ConfigMap/prism", into("data", "PRISM_NATS_REPLICAS", value="1")),
    ("replicas_exist", "StatefulSet/nats", into("spec", "replicas", value=1)),
    ("no_secret_is_written_down", "Deployment/search", set_variable("PRISM_QDRANT_API_KEY", "letmein")),
    (
        "no_secret_is_written_down",
        "StatefulSet/qdrant",
        set_variable("QDRANT__SERVICE__READ_ONLY_API_KEY", "letmein"),
    ),
    ("no_secret_is_written_down", "ConfigMap/prism", into("data", "PRISM_WEBHOOK_SECRET", value="letmein")),
    (
        "no_secret_is_written_down",
        "ConfigMap/nats",
        into("data", "key.pem", value="-----BEGIN EC PRIVATE KEY-----"),
    ),
    ("no_secret_is_written_down", "ConfigMap/nats", into("kind", value="Secret")),
    (
        "selectors_match_one_workload",
        "Service/gateway",
        into("spec", "selector", value={"app.kubernetes.io/name": "prism"}),
    ),
    ("selectors_match_one_workload", "Service/nats", into("spec", "selector", value={"app": "nats"})),
    (
        "selectors_match_one_workload",
        "PodDisruptionBudget/search",
        into("spec", "selector", "matchLabels", "app.kubernetes.io/component", value="serch"),
    ),
    ("everything_has_a_budget", "PodDisruptionBudget/search", into("kind", value="Budget")),
    ("everything_has_a_budget", "PodDisruptionBudget/search", into("spec", "maxUnavailable", value=0)),
    (
        "selectors_name_what_exists",
        "PodMonitor/prism",
        into("spec", "selector", "matchLabels", value={"app.kubernetes.io/name": "prsm"}),
    ),
    (
        "selectors_name_what_exists",
        "NetworkPolicy/nats",
        into("spec", "ingress", 0, "from", 0, "podSelector", value={"matchLabels": {"app": "prism"}}),
    ),
    (
        "selectors_name_what_exists",
        "NetworkPolicy/clients-of-qdrant",
        into(
            "spec",
            "podSelector",
            "matchExpressions",
            0,
            "values",
            value=["indexer", "search", "atlas", "worker"],
        ),
    ),
    (
        "selectors_match_one_workload",
        "Deployment/search",
        into("spec", "selector", "matchLabels", value={"app.kubernetes.io/name": "prism"}),
    ),
    ("ports_exist", "Service/gateway", into("spec", "ports", 0, "targetPort", value="web")),
    ("ports_exist", "Service/nats-headless", into("spec", "clusterIP", value="10.0.0.1")),
    ("scaling_fits", "Deployment/search", into("spec", "replicas", value=2)),
    ("scaling_fits", "ScaledObject/chunker", into("spec", "scaleTargetRef", "name", value="chunkr")),
    ("scaling_fits", "ScaledObject/chunker", into("spec", "scaleTargetRef", "name", value="embedder")),
    ("scaling_fits", "ScaledObject/chunker", into("spec", "minReplicaCount", value=0)),
    ("scaling_fits", "ScaledObject/chunker", into("spec", "triggers", 0, "type", value="nats-jetstream")),
    (
        "scaling_fits",
        "ScaledObject/chunker",
        into("spec", "triggers", 0, "metadata", "query", value='sum(prism_queue_pending{stage="indexer"})'),
    ),
    (
        "scaling_fits",
        "ScaledObject/chunker",
        into(
            "spec",
            "triggers",
            0,
            "metadata",
            "query",
            value='sum(prism_queue_pending{stage="chunker", lane="slow"})',
        ),
    ),
    ("production_has_copies", "Deployment/atlas", into("spec", "replicas", value=1)),
    (
        "secrets_are_known",
        "Deployment/search",
        into(*IN_POD, "volumes", value=[{"name": "nats", "secret": {"secretName": "nats"}}]),
    ),
    (
        "secrets_are_known",
        "StatefulSet/qdrant",
        lambda item: container(item)["env"].append(
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "prism-qdrant", "key": "apikey"}}}
        ),
    ),
    ("secrets_are_known", "Certificate/prism-nats-tls", into("spec", "secretName", value="nats-tls")),
    ("secrets_are_known", "ExternalSecret/prism-nats", into("spec", "target", "name", value="nats")),
    ("streams_fit", "ConfigMap/prism", into("data", "PRISM_NATS_STORAGE_SCALE", value="10")),
    ("streams_fit", "ConfigMap/nats", into("data", "nats.conf", value="jetstream { max_file_store: 9GB }")),
    (
        "streams_fit",
        "StatefulSet/nats",
        into("spec", "volumeClaimTemplates", 0, "spec", "resources", "requests", "storage", value="10Gi"),
    ),
    ("logins_are_own", "Deployment/search", _volume("nats", "items", [{"key": "ingest.nk", "path": "nkey"}])),
    ("logins_are_own", "Deployment/search", _volume("nats", "items", [])),
    ("logins_are_own", "StatefulSet/nats", _volume("accounts", "items", [{"key": "search.nk", "path": "a"}])),
    ("labels_are_shared", "Service/gateway", into("metadata", "namespace", value="default")),
    ("labels_are_shared", "Certificate/prism-tls", out_of("metadata", "labels")),
    ("calls_are_let_through", "NetworkPolicy/services", out_of("spec", "egress", 0)),
    (
        "calls_are_let_through",
        "NetworkPolicy/clients-of-qdrant",
        into("spec", "podSelector", "matchExpressions", 0, "values", value=["indexer", "search"]),
    ),
    (
        "calls_are_let_through",
        "NetworkPolicy/nats",
        into("spec", "ingress", 0, "ports", 0, "port", value=4223),
    ),
    ("calls_are_let_through", "NetworkPolicy/nats", out_of("spec", "ingress", 1)),
    (
        "calls_are_let_through",
        "ConfigMap/prism",
        into("data", "PRISM_QDRANT_URL", value="https://qdrant:6334"),
    ),
    (
        "calls_are_let_through",
        "ConfigMap/prism",
        into("data", "PRISM_QDRANT_URL", value="https://store:6333"),
    ),
    (
        "calls_are_let_through",
        "ConfigMap/prism",
        into("data", "PRISM_NATS_URL", value="tls://nats-3.nats-headless:4222"),
    ),
    ("others_are_kept_out", "NetworkPolicy/nats", into("spec", "ingress", 0, "from", value=OPEN)),
    ("others_are_kept_out", "NetworkPolicy/nats", out_of("spec", "ingress", 0, "from")),
    (
        "others_are_kept_out",
        "NetworkPolicy/qdrant",
        into("spec", "ingress", 1, "from", 0, "podSelector", value={}),
    ),
    ("others_are_kept_out", "NetworkPolicy/default-deny", into("spec", "policyTypes", value=["Egress"])),
    (
        "others_are_kept_out",
        "NetworkPolicy/prometheus-to-services",
        into("spec", "ingress", 0, "from", 0, "namespaceSelector", value={}),
    ),
    ("egress_is_for_git", "NetworkPolicy/clients-of-git-servers", into("spec", "podSelector", value={})),
    (
        "egress_is_for_git",
        "NetworkPolicy/clients-of-git-servers",
        out_of("spec", "egress", 0, "to", 0, "ipBlock", "except"),
    ),
    ("egress_is_for_git", "NetworkPolicy/clients-of-git-servers", out_of("spec", "egress", 0, "ports", 1)),
    ("metrics_are_read", "NetworkPolicy/prometheus-to-qdrant", out_of("spec", "ingress", 0)),
    ("metrics_are_read", "PodMonitor/prism", into("spec", "podMetricsEndpoints", 0, "port", value="metrics")),
    ("names_are_resolved", "NetworkPolicy/dns", out_of("spec", "egress", 0, "ports", 1)),
    ("routes_are_public", "HTTPRoute/prism", out_of("spec", "rules", 0, "matches", 1)),
    (
        "routes_are_public",
        "HTTPRoute/prism",
        into("spec", "rules", 0, "matches", 0, "path", value={"type": "PathPrefix", "value": "/"}),
    ),
    (
        "routes_are_public",
        "Ingress/prism",
        into("spec", "rules", 0, "http", "paths", 1, "path", value="/api/v2"),
    ),
    (
        "routes_are_public",
        "Ingress/prism",
        into("spec", "rules", 0, "http", "paths", 0, "backend", "service", "name", value="web"),
    ),
    ("bodies_pass", "Ingress/prism", note(f"{NGINX}/proxy-body-size", "64m")),
    ("bodies_pass", "Ingress/prism", note(f"{NGINX}/proxy-request-buffering", "on")),
    ("bodies_pass", "Ingress/prism", note("nginx.org/client-max-body-size", "1m")),
    ("bodies_pass", "ConfigMap/prism", into("data", "PRISM_SCIP_BYTES_MAX", value=str(2**30))),
    (
        "requests_have_time",
        "HTTPRoute/prism",
        into("spec", "rules", 0, "timeouts", "backendRequest", value="60s"),
    ),
    ("requests_have_time", "Ingress/prism", note(f"{NGINX}/proxy-read-timeout", "60")),
    ("requests_have_time", "Ingress/prism", note("nginx.org/proxy-read-timeout", "4m")),
    ("hosts_agree", "HTTPRoute/prism", into("spec", "hostnames", value=["prism.example.org"])),
    ("hosts_agree", "Ingress/prism", into("spec", "tls", 0, "secretName", value="tls")),
    ("hosts_agree", "Certificate/prism-tls", into("spec", "dnsNames", value=["example.com"])),
    ("the_proxy_is_let_in", "NetworkPolicy/proxy-to-gateway", into("spec", "ingress", value=[])),
    (
        "the_proxy_is_let_in",
        "NetworkPolicy/proxy-to-gateway",
        into("spec", "podSelector", value={"matchLabels": {"app.kubernetes.io/name": "prism"}}),
    ),
]


def test_an_overlay_keeps_every_rule(manifests: Manifests) -> None:
    assert problems(manifests) == {}


@pytest.mark.parametrize(
    ("rule", "place", "edit"),
    CHANGES,
    ids=[f"{rule}-{place}-{number}" for number, (rule, place, _) in enumerate(CHANGES)],
)
def test_a_broken_manifest_is_found(
    overlays: dict[str, Manifests], rule: str, place: str, edit: Callable[[Spec], object]
) -> None:
    (check,) = (one for one in RULES if one.__name__ == rule)
    broken = list(_changed(overlays.values(), place, edit))
    assert broken
    assert any(list(check(manifests)) for manifests in broken)


def _changed(
    overlays: Iterable[Manifests], place: str, edit: Callable[[Spec], object]
) -> Iterator[Manifests]:
    """Copies of the overlays that have the object, after a change of it."""
    kind, name = place.split("/")
    # Kustomize ends the name of a generated ConfigMap with a hash.
    named = re.compile(rf"{name}-[a-z0-9]{{10}}" if kind == "ConfigMap" else name)
    for manifests in overlays:
        for item in manifests.of(kind):
            if named.fullmatch(item["metadata"]["name"]):
                changed = copy.deepcopy(item)
                with suppress(KeyError, IndexError):  # the overlay does not have this field
                    edit(changed)
                    yield Manifests([changed if other is item else other for other in manifests.objects])


def test_every_rule_is_seen_to_fail() -> None:
    assert {rule.__name__ for rule in RULES} == {rule for rule, _, _ in CHANGES}
