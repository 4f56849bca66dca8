"""Processes of services that are started with settings that they cannot use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS_MAX = 240


def start(module: str, **settings: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
    return subprocess.run(
        [sys.executable, "-m", module],
        env=kept | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_MAX,
    )


@pytest.mark.parametrize("module", ["prism_chunker.main", "prism_qdrant_local.main"])
def test_invalid_value_ends_the_process_with_one_line(module: str, tmp_path: Path):
    config = tmp_path / "prism.toml"
    config.write_text("nats_replicas = 9\nqdrant_local_port = 70000\n")
    done = start(module, PRISM_CONFIG=str(config), PRISM_QDRANT_LOCAL_DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == os.EX_CONFIG
    (line,) = done.stderr.splitlines()
    assert line.startswith((f"{config}:1: PRISM_NATS_REPLICAS: ", f"{config}:2: PRISM_QDRANT_LOCAL_PORT: "))


@pytest.mark.parametrize(
    ("module", "variable", "missing"),
    [
        ("prism_gateway.main", "PRISM_GATEWAY_HOST", ["PRISM_NATS_TOKEN", "PRISM_SECRETS_KEY"]),
        ("prism_search.main", "PRISM_HEALTH_HOST", ["PRISM_NATS_TOKEN", "PRISM_QDRANT_API_KEY"]),
        ("prism_ingest.main", "PRISM_HEALTH_HOST", ["PRISM_NATS_TOKEN", "PRISM_SECRETS_KEY"]),
        ("prism_qdrant_local.main", "PRISM_QDRANT_LOCAL_HOST", ["PRISM_QDRANT_LOCAL_API_KEY"]),
    ],
)
def test_missing_secret_ends_a_service_that_others_reach(
    module: str, variable: str, missing: list[str], tmp_path: Path
):
    settings = {
        variable: "0.0.0.0",
        "PRISM_CONFIG": os.devnull,
        "PRISM_QDRANT_LOCAL_DATA_DIR": str(tmp_path / "data"),
    }
    done = start(module, **settings)
    assert done.returncode == os.EX_CONFIG
    lines = done.stderr.splitlines()
    assert len(lines) == len(missing)
    for name, line in zip(missing, lines, strict=True):
        assert f"{name}: It is required, because the service listens on 0.0.0.0." in line
