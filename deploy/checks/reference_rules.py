"""Rules about names: what an object refers to exists, once."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from deploy.checks.manifests import WORKLOADS, Manifests, name_of
from deploy.checks.pod_rules import SERVICES, quantity
from deploy.checks.settings_rules import CERTIFICATE_KEYS, own_settings
from prism_contracts import names, topics
from prism_contracts.base import Lane

# The metric of queues, with the label of its stage: what autoscalers ask for.
QUEUE = re.compile(r"prism_queue_[a-z]+\{(?P<labels>[^}]*)\}")
LABEL = re.compile(r'(\w+)="([^"]*)"')
FILE_STORE = re.compile(r"max_file_store: (\d+[MG])B")
COPIES_MIN = 2
LOGINS_OF_NATS = "prism-nats"


def selectors_match_one_workload(manifests: Manifests) -> Iterator[str]:
    """A Service, a disruption budget and a workload itself select the pods of exactly one workload."""
    for item in manifests.of("Service", "PodDisruptionBudget"):
        selector = item["spec"]["selector"]
        found = manifests.selected({"matchLabels": selector} if item["kind"] == "Service" else selector)
        if len(found) != 1:
            yield f"{name_of(item)}: it selects {len(found)} workloads"
    for workload in manifests.workloads:
        if manifests.selected(workload.item["spec"]["selector"]) != [workload]:
            yield f"{workload.name}: its selector matches other pods"


def everything_has_a_budget(manifests: Manifests) -> Iterator[str]:
    """Each workload has a PodDisruptionBudget, which a node can be drained with."""
    budgets = [item["spec"] for item in manifests.of("PodDisruptionBudget")]
    for workload in manifests.workloads:
        if not any(workload in manifests.selected(budget["selector"]) for budget in budgets):
            yield f"{workload.name}: it has no PodDisruptionBudget"
    for budget in budgets:
        if budget.get("maxUnavailable") != 1:
            yield f"{budget}: not one at a time"


def selectors_name_what_exists(manifests: Manifests) -> Iterator[str]:
    """Each selector of a policy or a monitor matches pods, by each of its values."""
    for item in manifests.of("NetworkPolicy", "PodMonitor"):
        for selector in _pod_selectors(item["spec"]):
            if not manifests.selected(selector):
                yield f"{name_of(item)}: {selector} selects nothing"
            for rule in selector.get("matchExpressions", []):
                for value in rule.get("values", []):
                    if not manifests.selected({"matchLabels": {rule["key"]: value}}):
                        yield f"{name_of(item)}: nothing has {rule['key']}={value}"


def _pod_selectors(spec: Mapping[str, object]) -> Iterator[dict[str, list[dict[str, list[str]]]]]:
    """The selectors of pods in this namespace, at any depth of a policy or monitor."""
    for key, value in spec.items():
        if key in {"podSelector", "selector"} and isinstance(value, dict):
            yield value
        for inner in value if isinstance(value, list) else [value]:
            if (
                isinstance(inner, dict)
                and key not in {"podSelector", "selector"}
                and "namespaceSelector" not in inner
            ):
                yield from _pod_selectors(inner)


def ports_exist(manifests: Manifests) -> Iterator[str]:
    """A Service forwards to a port of its pods, and a route to a port of its Service."""
    for service in manifests.of("Service"):
        for workload in manifests.selected({"matchLabels": service["spec"]["selector"]}):
            for port in service["spec"]["ports"]:
                if port["targetPort"] not in workload.ports:
                    yield f"{name_of(service)}: {workload.name} has no port {port['targetPort']}"
    for workload in manifests.workloads:
        headless = workload.item["spec"].get("serviceName")
        if (
            headless
            and (manifests.find("Service", headless) or {"spec": {}})["spec"].get("clusterIP") != "None"
        ):
            yield f"{workload.name}: {headless} is not a headless Service"


def scaling_fits(manifests: Manifests) -> Iterator[str]:
    """An autoscaler scales one workload, whose manifest leaves the number of copies to it, by a metric that exists."""
    scaled: dict[str, int] = {}
    for item in manifests.of("HorizontalPodAutoscaler", "ScaledObject"):
        name = item["spec"]["scaleTargetRef"]["name"]
        scaled[name] = scaled.get(name, 0) + 1
        targets = [manifests.find(kind, name) for kind in WORKLOADS]
        for target in targets:
            if target and "replicas" in target["spec"]:
                yield f"{name_of(item)}: {name} has a number of copies of its own"
        if not any(targets):
            yield f"{name_of(item)}: {name} does not exist"
        least = item["spec"].get("minReplicas", item["spec"].get("minReplicaCount", 0))
        most = item["spec"].get("maxReplicas", item["spec"].get("maxReplicaCount", 0))
        if not COPIES_MIN <= least < most:
            yield f"{name_of(item)}: between {least} and {most} copies"
        for trigger in item["spec"].get("triggers", []):
            yield from (f"{name_of(item)}: {problem}" for problem in _query_problems(trigger, name))
    for name, count in scaled.items():
        if count > 1:
            yield f"{name}: {count} autoscalers"


def _query_problems(trigger: Mapping[str, object], stage: str) -> Iterator[str]:
    metadata = trigger["metadata"]
    assert isinstance(metadata, dict)
    query = str(metadata.get("query", ""))
    found = QUEUE.search(query)
    if trigger["type"] != "prometheus" or not found:
        yield f"it does not ask Prometheus for a queue, but {query or trigger['type']}"
        return
    labels = dict(LABEL.findall(found["labels"]))
    if labels.get("stage") != stage:
        yield f"it asks for the queue of {labels.get('stage')}"
    if "lane" in labels and labels["lane"] not in set(Lane):
        yield f"there is no lane {labels['lane']}"
    if not consumers_of(stage):
        yield f"{stage} consumes nothing"


def consumers_of(stage: str) -> list[str]:
    """Returns the durable consumers of a stage of an import, by the contracts."""
    heard = {
        "chunker": topics.FILES_STREAM,
        "embedder": topics.CHUNKED_STREAM,
        "indexer": topics.EMBEDDED_STREAM,
    }.get(stage)
    return [
        topic.durable(stage, lane) for topic in (topics.topics_of(heard) if heard else []) for lane in Lane
    ]


def production_has_copies(manifests: Manifests) -> Iterator[str]:
    """Where autoscalers run, everything has at least two copies."""
    scaled = {
        item["spec"]["scaleTargetRef"]["name"]
        for item in manifests.of("HorizontalPodAutoscaler", "ScaledObject")
    }
    for workload in manifests.workloads:
        name = workload.item["metadata"]["name"]
        if scaled and name not in scaled and workload.item["spec"].get("replicas", 1) < COPIES_MIN:
            yield f"{workload.name}: one copy only"


def secrets_are_known(manifests: Manifests) -> Iterator[str]:
    """Each key of a Secret that a pod reads is made by the documented command, or by a Certificate."""
    made = {item["spec"]["secretName"] for item in manifests.of("Certificate")}
    for workload in manifests.workloads:
        for secret, keys in _secrets(workload.pod):
            unknown = keys - (CERTIFICATE_KEYS if secret in made else DOCUMENTED.get(secret, frozenset()))
            if secret not in made and secret not in DOCUMENTED:
                yield f"{workload.name}: nothing makes the Secret {secret}"
            elif unknown:
                yield f"{workload.name}: {secret} has no {', '.join(sorted(unknown))}"
    for item in manifests.of("ExternalSecret"):
        if item["spec"]["target"]["name"] not in DOCUMENTED:
            yield f"{name_of(item)}: no pod reads {item['spec']['target']['name']}"


def streams_fit(manifests: Manifests) -> Iterator[str]:
    """NATS may store what the streams reserve, and as much again for buckets without a limit; the disk has that."""
    nats = next(workload for workload in manifests.workloads if workload.component == "nats")
    (config,) = (volume["configMap"]["name"] for volume in nats.pod["volumes"] if "configMap" in volume)
    text = (manifests.find("ConfigMap", config) or {"data": {}})["data"].get("nats.conf", "")
    found = FILE_STORE.search(text)
    store = quantity(found[1]) if found else 0
    (claim,) = nats.item["spec"]["volumeClaimTemplates"]
    disk = quantity(claim["spec"]["resources"]["requests"]["storage"])
    needed = 2 * _reserved_bytes(manifests)
    if store < needed:
        yield f"{nats.name}: max_file_store is {store / 1e9:.0f} GB, and the streams need {needed / 1e9:.0f}"
    if disk < store:
        yield f"{nats.name}: its volume is smaller than max_file_store"


def _reserved_bytes(manifests: Manifests) -> float:
    settings: Any = own_settings(next(one for one in manifests.services if one.component == "gateway"))
    accounting = settings.usage_bytes_max + settings.audit_bytes_max + 2 * settings.search_history_bytes_max
    queues = sum(stream.max_bytes for stream in topics.STREAMS) * settings.nats_storage_scale
    return float(queues + accounting + names.DEAD_LETTERS_MAX_BYTES + names.REQUESTS_MAX_BYTES)


def logins_are_own(manifests: Manifests) -> Iterator[str]:
    """Each service gets its own key for NATS, and no other pod gets it."""
    for workload in manifests.workloads:
        own = {f"{workload.component}.nk"} if workload.is_prism else set()
        given = {key for secret, keys in _secrets(workload.pod) if secret == LOGINS_OF_NATS for key in keys}
        keys = {key for key in given if key.endswith(".nk")}
        if keys != own:
            yield f"{workload.name}: it gets {sorted(keys)}, instead of {sorted(own)}"
        whole = [volume for volume in workload.pod.get("volumes", []) if _is_whole(volume)]
        if whole:
            yield f"{workload.name}: it gets all keys"


def _is_whole(volume: Mapping[str, dict[str, object]]) -> bool:
    secret = volume.get("secret", {})
    return secret.get("secretName") == LOGINS_OF_NATS and not secret.get("items")


DOCUMENTED = {
    LOGINS_OF_NATS: frozenset({"accounts.conf", *(f"{service}.nk" for service in SERVICES)}),
    "prism-qdrant": frozenset({"api-key"}),
    "prism-gateway": frozenset({"secrets-key", "webhook-secret", "bootstrap-token-sha256"}),
    "prism-reranker": frozenset({"api-key"}),
    "prism-language-model": frozenset({"openai", "anthropic", "openrouter", "gateway", "endpoint"}),
}


def _secrets(pod: Mapping[str, object]) -> Iterator[tuple[str, frozenset[str]]]:
    volumes, containers = pod.get("volumes", []), pod["containers"]
    assert isinstance(volumes, list)
    assert isinstance(containers, list)
    for volume in volumes:
        if "secret" in volume:
            keys = frozenset(item["key"] for item in volume["secret"].get("items", []))
            yield volume["secret"]["secretName"], keys
    for container in containers:
        for entry in container.get("env", []):
            reference = entry.get("valueFrom", {}).get("secretKeyRef")
            if reference:
                yield reference["name"], frozenset({reference["key"]})


def labels_are_shared(manifests: Manifests) -> Iterator[str]:
    """Everything is in the namespace, and is part of Prism."""
    for item in manifests.objects:
        if item["kind"] != "Namespace" and item["metadata"].get("namespace") != "prism":
            yield f"{name_of(item)}: it is not in the namespace"
        if item["metadata"].get("labels", {}).get("app.kubernetes.io/part-of") != "prism":
            yield f"{name_of(item)}: it lacks the label part-of"


RULES: tuple[Callable[[Manifests], Iterator[str]], ...] = (
    selectors_match_one_workload,
    everything_has_a_budget,
    selectors_name_what_exists,
    ports_exist,
    scaling_fits,
    production_has_copies,
    secrets_are_known,
    streams_fit,
    logins_are_own,
    labels_are_shared,
)
