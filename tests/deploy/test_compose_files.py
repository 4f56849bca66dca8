"""The files of Docker Compose, against the schema of the Compose specification and a real reader of them."""

import json
import subprocess
from pathlib import Path
from typing import Any, Protocol

import jsonschema
import pytest
import yaml

from deploy.checks.manifests import ROOT, TOOLS
from deploy.compose.make_secrets import FOLDER, write

SCHEMA = ROOT / "deploy/checks/node_modules/dclint/schemas/compose.schema.json"
WHOLE = ["deploy/compose.yaml"]
LOCAL = [*WHOLE, "deploy/compose.local-store.yaml"]
NAMES = {
    "gateway",
    "ingest",
    "chunker",
    "embedder",
    "indexer",
    "search",
    "atlas",
    "workspace",
    "scribe",
    "nats-volume",
    "nats",
    "qdrant",
}


@pytest.fixture(autouse=True)
def secrets() -> None:
    """Writes the secrets that are missing: readers refuse a file of variables that is not there."""
    write(ROOT / FOLDER)


class Reader(Protocol):
    def __call__(self, files: list[str], *options: str) -> dict[str, Any]:
        """Returns what podman-compose makes of the files together."""


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    """Reads files by podman-compose, on a machine with Podman and on one without.

    podman-compose asks Podman for its version before it does anything. To print a configuration it needs no more.
    """
    podman = tmp_path / "podman"
    podman.write_text("#!/bin/sh\necho podman version 4.3.1\n")
    podman.chmod(0o755)

    def read_files(files: list[str], *options: str) -> dict[str, Any]:
        selected = [option for file in files for option in ("--file", file)]
        command: list[str | Path] = [
            TOOLS / "podman-compose",
            "--podman-path",
            podman,
            *selected,
            *options,
            "config",
        ]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
        return dict(yaml.safe_load(done.stdout))

    return read_files


@pytest.mark.parametrize("file", LOCAL)
def test_a_file_matches_the_schema_of_the_specification(file: str) -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft7Validator(schema).validate(yaml.safe_load(Path(ROOT / file).read_text()))


def test_the_whole_stack_has_every_service(read: Reader) -> None:
    assert set(read(WHOLE)["services"]) == NAMES | {"prometheus", "grafana"}


def test_the_profile_adds_the_identity_provider(read: Reader) -> None:
    found = read(WHOLE, "--env-file", "deploy/compose/oidc.env", "--profile", "oidc")["services"]
    assert set(found) == NAMES | {"prometheus", "grafana", "keycloak"}
    (issuer,) = json.loads(found["gateway"]["environment"]["PRISM_JWT_ISSUERS"])
    assert issuer["issuer"] == found["keycloak"]["environment"]["KC_HOSTNAME"] + "/realms/prism"


def test_the_local_store_needs_no_image_but_prisms_own(read: Reader) -> None:
    services = read(LOCAL)["services"]
    assert set(services) == NAMES
    assert len({service["image"] for service in services.values()}) == 1


def test_the_dockerfile_passes_its_linter() -> None:
    done = subprocess.run(
        [TOOLS / "hadolint", ROOT / "deploy/Dockerfile"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
