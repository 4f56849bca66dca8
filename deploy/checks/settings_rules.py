"""Rules about settings: what containers set exists, is valid, and suffices in a cluster; secrets are references."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from unittest.mock import patch

from deploy.checks.manifests import Manifests, Workload, name_of
from prism_runtime.configuration import PREFIX, SECRET_FILE
from prism_runtime.settings import InvalidSettingsError, PrismSettings, ServiceSettings, is_secret

LOOPBACK = "127.0.0.1"
# Defaults that work on one machine and not in a cluster, with the reason; addresses of loopback come on top.
NEEDED = {
    "PRISM_HEALTH_PORT": "the probes need a port that they know",
    "PRISM_PUBLIC_URL": "MCP refuses hosts that it does not know",
    "PRISM_CACHE_DIR": "mirrors do not fit into /tmp",
    "PRISM_ATLAS_DIR": "graphs do not fit into /tmp",
    "PRISM_SECRETS_KEY": "the service listens to other hosts",
    "PRISM_QDRANT_API_KEY": "Qdrant listens to other hosts",
}
# The host of PRISM_PUBLIC_URL is added to it.
SUFFICIENT = {"PRISM_ALLOWED_HOSTS"}
# One of these is enough.
LOGINS = {"PRISM_NATS_TOKEN", "PRISM_NATS_NKEY", "PRISM_NATS_CREDENTIALS", "PRISM_NATS_TLS_CERT_FILE"}
# A value with a secret's name has to come from a secret. A hash, a path or a public certificate may be read.
SECRET_NAME = re.compile(r"(TOKEN|SECRET|PASSWORD|API_KEY|NKEY|CREDENTIALS|SECRETS_KEY|SEED)$")
# Names of metrics begin like tokens, and have neither digits nor capitals.
SECRET_VALUE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY|\bS[UAON][A-Z2-7]{56}\b|\bprism_(?=\w*[0-9A-Z])\w{24,}\b"
)
# What the guide's command makes, with the keys of each; what cert-manager makes has three.
CERTIFICATE_KEYS = frozenset({"ca.crt", "tls.crt", "tls.key"})


def settings_of(service: str) -> list[type[PrismSettings]]:
    """Returns the settings classes that a service reads: those that its `main` imports."""
    main = import_module(f"prism_{service}.main")
    found = (value for value in vars(main).values() if isinstance(value, type))
    return [value for value in found if issubclass(value, PrismSettings)]


def own_settings(workload: Workload) -> ServiceSettings:
    """Returns the settings of the service itself, as its container would read them."""
    (settings,) = (one for one in settings_of(workload.component) if issubclass(one, ServiceSettings))
    found = read_settings(workload, settings)
    assert isinstance(found, ServiceSettings)
    return found


def read_settings(workload: Workload, settings: type[PrismSettings]) -> PrismSettings:
    """Returns the settings that the container would read, with made-up secrets. Raises InvalidSettingsError."""
    with patch.dict(os.environ, _with_secrets(workload.environment, settings), clear=True):
        return settings()


def _with_secrets(environment: Mapping[str, str], settings: type[PrismSettings]) -> dict[str, str]:
    secrets = {name for name, field in settings.variables().items() if is_secret(field)}
    files = {name + SECRET_FILE: name for name in secrets}
    made_up = "0" * 64
    return {
        files.get(name, name): made_up if name in files or value == "<secret>" else value
        for name, value in environment.items()
    }


def settings_exist(manifests: Manifests) -> Iterator[str]:
    """Every variable is a setting of the service that gets it, or in the shared ConfigMap of some service."""
    services = list(manifests.services)
    known = {workload.component: _variables(workload.component) for workload in services}
    for workload in services:
        for entry in workload.container.get("env", []):
            if entry["name"].startswith(PREFIX) and entry["name"] not in known[workload.component]:
                yield f"{workload.name}: {entry['name']} is not a setting of {workload.component}"
    everything = set[str]().union(*known.values())
    for config in manifests.of("ConfigMap"):
        for name in config["data"]:
            if name.startswith(PREFIX) and name not in everything:
                yield f"{name_of(config)}: {name} is not a setting of any service"


def _variables(service: str) -> set[str]:
    """The variables of a service, and the names under which its secrets may be files."""
    fields = {
        name: field for settings in settings_of(service) for name, field in settings.variables().items()
    }
    return set(fields) | {name + SECRET_FILE for name, field in fields.items() if is_secret(field)}


def settings_suffice(manifests: Manifests) -> Iterator[str]:
    """Every setting whose default does not work in a cluster is set."""
    for workload in manifests.services:
        given = {name.removesuffix(SECRET_FILE) for name in workload.environment} | set(workload.environment)
        for settings in settings_of(workload.component):
            for name, field in settings.variables().items():
                reason = NEEDED.get(name)
                if LOOPBACK in str(field.default) and name not in SUFFICIENT:
                    reason = f"its default is {field.default}"
                if reason and name not in given:
                    yield f"{workload.name}: {name} is not set; {reason}"
        if not given & LOGINS:
            yield f"{workload.name}: no login for NATS is set"


def settings_are_valid(manifests: Manifests) -> Iterator[str]:
    """Every service would start with its settings."""
    for workload in manifests.services:
        for settings in settings_of(workload.component):
            try:
                read_settings(workload, settings)
            except InvalidSettingsError as error:
                yield f"{workload.name}: {error}"


def replicas_exist(manifests: Manifests) -> Iterator[str]:
    """NATS has a server for every replica of a stream."""
    servers = next(workload for workload in manifests.workloads if workload.component == "nats")
    for workload in manifests.services:
        settings = own_settings(workload)
        if settings.nats_replicas != servers.item["spec"]["replicas"]:
            yield f"{workload.name}: {settings.nats_replicas} replicas on {servers.item['spec']['replicas']} servers"


def no_secret_is_written_down(manifests: Manifests) -> Iterator[str]:
    """No Secret, and no value of one, is in a manifest."""
    for item in manifests.of("Secret"):
        yield f"{name_of(item)}: a Secret in the manifests"
    for workload in manifests.workloads:
        for entry in workload.container.get("env", []):
            if SECRET_NAME.search(entry["name"]) and "value" in entry:
                yield f"{workload.name}: {entry['name']} has a value"
    for item in manifests.objects:
        if SECRET_VALUE.search(str(item)):
            yield f"{name_of(item)}: it contains a key or a token"
    for config in manifests.of("ConfigMap"):
        for name in config["data"]:
            if SECRET_NAME.search(name):
                yield f"{name_of(config)}: {name} belongs into a Secret"


RULES: tuple[Callable[[Manifests], Iterator[str]], ...] = (
    settings_exist,
    settings_suffice,
    settings_are_valid,
    replicas_exist,
    no_secret_is_written_down,
)
