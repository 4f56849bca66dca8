"""The files of Docker Compose, against the services, the settings and the secrets that they name."""

import hashlib
import re
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.compose.make_secrets import contents, write
from prism_cli.config.known import PARTS
from prism_runtime.settings import is_secret

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
LOCAL_STORE = yaml.safe_load((DEPLOY / "compose.local-store.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
IMAGE = "${PRISM_IMAGE:-localhost/prism:dev}"
OF_PRISM = {name: service for name, service in SERVICES.items() if service["image"] == IMAGE}
SETTINGS = {variable: field for part in PARTS for variable, field in part.settings().variables().items()}
BUILT_IN = [name for name in SERVICES if name != "keycloak"]


def variables(service: dict[str, Any]) -> dict[str, str]:
    files = [Path(file).name for file in service.get("env_file", [])]
    lines = [line for file in files for line in contents({})[file].splitlines()]
    return {**service.get("environment", {}), **dict(line.split("=", 1) for line in lines)}


def secret_names(service: dict[str, Any]) -> set[str]:
    return {item if isinstance(item, str) else item["source"] for item in service.get("secrets", [])}


def test_every_service_of_prism_is_there_with_its_command() -> None:
    folders = {path.name for path in (ROOT / "services").iterdir() if path.is_dir()} - {"qdrant_local"}
    commands = {name: service["command"] for name, service in OF_PRISM.items() if name != "nats-volume"}
    assert commands == {name: [f"prism_{name}.main"] for name in folders}


def test_the_local_store_is_the_last_service() -> None:
    assert LOCAL_STORE["services"]["qdrant"]["command"] == ["prism_qdrant_local.main"]


@pytest.mark.parametrize("compose", [COMPOSE, LOCAL_STORE], ids=["compose", "local-store"])
def test_every_variable_is_a_setting(compose: dict[str, Any]) -> None:
    named = {
        name
        for service in compose["services"].values()
        for name in variables(service)
        if name.startswith("PRISM_")
    }
    known = set(SETTINGS) | {f"{name}_FILE" for name, field in SETTINGS.items() if is_secret(field)}
    assert named
    assert named - known == set()


def test_no_secret_is_a_value_in_the_files() -> None:
    for name, service in [*SERVICES.items(), *LOCAL_STORE["services"].items()]:
        secrets = {v for v in service.get("environment", {}) if v in SETTINGS and is_secret(SETTINGS[v])}
        assert not secrets, name


def test_a_service_gets_each_secret_that_its_variables_name() -> None:
    for name, service in [*SERVICES.items(), *LOCAL_STORE["services"].items()]:
        named = {
            str(value).removeprefix("/run/secrets/")
            for value in service.get("environment", {}).values()
            if str(value).startswith("/run/secrets/")
        }
        mounted = {item if isinstance(item, str) else item["target"] for item in service.get("secrets", [])}
        assert named <= mounted, name


def test_every_secret_that_is_mounted_is_written_by_the_command(tmp_path: Path) -> None:
    written = set(write(tmp_path / "secrets"))
    files = {name: secret["file"].partition("}/")[2] for name, secret in COMPOSE["secrets"].items()}
    assert set(files.values()) <= written
    assert set().union(*map(secret_names, SERVICES.values())) == set(files)


def test_each_service_has_its_own_login_and_no_other() -> None:
    keys = {
        name: [item["source"] for item in service["secrets"] if not isinstance(item, str)]
        for name, service in OF_PRISM.items()
        if name != "nats-volume"
    }
    assert keys == {name: [f"nats-{name}"] for name in keys}
    assert all(COMPOSE["secrets"][f"nats-{name}"]["file"].endswith(f"/nats/{name}.nk") for name in keys)


def test_only_ingest_and_the_gateway_create_streams() -> None:
    declaring = {
        name
        for name, service in OF_PRISM.items()
        if service.get("environment", {}).get("PRISM_NATS_DECLARE") == "true"
    }
    assert declaring == {"gateway", "ingest"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_containers_have_no_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("cap_add", []) == (["CHOWN"] if name == "nats-volume" else [])
    assert service["pids_limit"] > 0


@pytest.mark.parametrize("name", [name for name in OF_PRISM if name != "nats-volume"])
def test_prism_runs_as_the_user_of_its_image(name: str) -> None:
    assert OF_PRISM[name]["user"] == "10001:10001"
    assert "USER 10001:10001" in (DEPLOY / "Dockerfile").read_text()


@pytest.mark.parametrize("name", SERVICES)
def test_memory_of_everything_that_stays_is_limited(name: str) -> None:
    assert name == "nats-volume" or SERVICES[name]["mem_limit"]


@pytest.mark.parametrize("name", sorted(set(SERVICES) - set(OF_PRISM)))
def test_other_images_have_a_version(name: str) -> None:
    assert re.search(r":v?\d+\.\d+\.\d+[\w.-]*$", SERVICES[name]["image"])


def test_kubernetes_runs_the_same_versions() -> None:
    images = yaml.safe_load((DEPLOY / "k8s/base/kustomization.yaml").read_text())["images"]
    versions = {f"{image['newName']}:{image['newTag']}" for image in images}
    assert {SERVICES["nats"]["image"], SERVICES["qdrant"]["image"]} <= versions


def test_the_network_of_nats_and_qdrant_reaches_nothing_outside() -> None:
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert SERVICES["nats"]["networks"] == SERVICES["qdrant"]["networks"] == ["inside"]
    outside = {name for name, service in SERVICES.items() if "outside" in service.get("networks", [])}
    assert outside == {"gateway", "ingest", "workspace", "prometheus", "grafana", "keycloak"}


def test_ports_are_open_to_this_machine_only() -> None:
    ports = {port for service in SERVICES.values() for port in service.get("ports", [])}
    assert all(port.startswith(("127.0.0.1:", "${PRISM_BIND:-127.0.0.1}:")) for port in ports)


def test_secrets_that_are_there_are_kept_and_missing_ones_are_added(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    everything = write(folder)
    before = {path: path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert write(folder) == []
    (folder / "qdrant.yaml").unlink()
    (folder / "nats/accounts.conf").unlink()
    assert write(folder) == ["nats/accounts.conf", "qdrant.yaml"]
    assert {path: path.read_text() for path in folder.rglob("*") if path.is_file()} == before
    assert everything == sorted(str(path.relative_to(folder)) for path in before)


def test_containers_can_read_what_they_mount_and_only_the_owner_reaches_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    write(folder)
    modes = {path.relative_to(folder): stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    mounted = {Path(secret["file"].partition("}/")[2]) for secret in COMPOSE["secrets"].values()}
    assert {modes[path] for path in mounted} == {0o444}


def test_keys_that_are_above_every_service_are_not_mounted_and_private(tmp_path: Path) -> None:
    write(tmp_path)
    for name in ("ca.key", "operator.nk", "system.nk"):
        assert stat.S_IMODE((tmp_path / "nats" / name).stat().st_mode) == 0o600
        assert not any(secret["file"].endswith(f"/{name}") for secret in COMPOSE["secrets"].values())


def test_files_that_repeat_a_secret_follow_it() -> None:
    files = contents({"bootstrap-token": "prism_abc", "qdrant-api-key": "store-key"})
    assert hashlib.sha256(b"prism_abc").hexdigest() in files["gateway.env"]
    assert yaml.safe_load(files["qdrant.yaml"])["service"]["api_key"] == "store-key"


def test_the_folder_of_secrets_is_never_committed_and_never_in_the_image() -> None:
    assert "deploy/compose/secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[lines.index("*") + 1 :]
    assert "!deploy" not in lines
    assert "!deploy/compose" not in lines


def test_prometheus_reads_every_service() -> None:
    jobs = yaml.safe_load((DEPLOY / "compose/prometheus.yaml").read_text())["scrape_configs"]
    names = {name for job in jobs for config in job.get("dns_sd_configs", []) for name in config["names"]}
    assert names == set(OF_PRISM) - {"nats-volume"}


def test_grafana_reads_the_dashboards_and_its_data_source() -> None:
    folder = DEPLOY / "grafana/provisioning"
    (provider,) = yaml.safe_load((folder / "dashboards/prism.yaml").read_text())["providers"]
    (source,) = yaml.safe_load((folder / "datasources/prism.yaml").read_text())["datasources"]
    targets = dict(volume.split(":")[:2] for volume in SERVICES["grafana"]["volumes"])
    assert targets["./grafana/dashboards"] == provider["options"]["path"]
    assert source["url"] == "http://prometheus:9090"
