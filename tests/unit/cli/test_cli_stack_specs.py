import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prism_cli.stack import specs
from prism_cli.stack.layout import DataDir
from prism_cli.stack.specs import Door, Spec


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    data = DataDir(tmp_path)
    data.create()
    return data


def services(data: DataDir) -> dict[str, Spec]:
    return {spec.name: spec for spec in specs.service_specs(data, 1111, 2222, Door(8780, "prism_t"))}


def test_services_find_the_bus_and_the_store(data: DataDir):
    for spec in services(data).values():
        assert spec.env["PRISM_NATS_URL"] == "nats://127.0.0.1:1111"
        assert spec.env["PRISM_NATS_TOKEN"] == data.secret("nats")
        assert spec.env["PRISM_QDRANT_URL"] == "http://127.0.0.1:2222"
        assert spec.env["PRISM_HEALTH_PORT"] == "0"
        assert spec.env["MALLOC_ARENA_MAX"] == "2"
        assert spec.env[specs.MARKER] == str(data.root)


def test_only_the_gateway_gets_the_port_and_no_one_the_token(data: DataDir):
    found = services(data)
    gateway = found.pop("gateway")
    assert gateway.env["PRISM_GATEWAY_PORT"] == "8780"
    assert gateway.env["PRISM_BOOTSTRAP_TOKEN_SHA256"] == hashlib.sha256(b"prism_t").hexdigest()
    assert "prism_t" not in gateway.env.values()
    assert not any("PRISM_GATEWAY_PORT" in spec.env for spec in found.values())


def test_modules_of_the_current_folder_are_not_run(data: DataDir):
    assert all("-P" in spec.argv for spec in services(data).values())


def test_a_users_own_setting_is_kept(data: DataDir, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert services(data)["embedder"].env["OMP_NUM_THREADS"] == "4"


def test_the_public_url_is_the_own_address_or_the_users(data: DataDir, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("PRISM_PUBLIC_URL", raising=False)
    assert services(data)["gateway"].env["PRISM_PUBLIC_URL"] == "http://127.0.0.1:8780"
    monkeypatch.setenv("PRISM_PUBLIC_URL", "https://prism.example.com")
    assert services(data)["gateway"].env["PRISM_PUBLIC_URL"] == "https://prism.example.com"


def test_a_run_file_of_another_process_is_ignored(data: DataDir):
    chunker = services(data)["chunker"]
    assert chunker.find_port(7) is None
    chunker.announced_in[0].write_text(json.dumps({"pid": 7, "host": "127.0.0.1", "port": 5000}))
    assert chunker.find_port(7) == 5000
    assert chunker.find_port(8) is None


def test_the_store_and_the_bus_keep_their_first_port(data: DataDir):
    qdrant = specs.qdrant_spec(data)
    assert qdrant.env["PRISM_QDRANT_LOCAL_PORT"] == "0"
    assert qdrant.pin(qdrant, 5123).env["PRISM_QDRANT_LOCAL_PORT"] == "5123"
    bus = specs.nats_spec(data)
    bus.pin(bus, 5124)
    assert '"127.0.0.1:5124"' in (data.nats / "nats.conf").read_text()


def test_loading_a_service_starts_nothing():
    """A fork has one thread only, and inherits open files."""
    code = (
        "import importlib, os, sys, threading\n"
        "before = set(os.listdir('/proc/self/fd'))\n"
        "for module in sys.argv[1:]: importlib.import_module(module)\n"
        "print(len(os.listdir('/proc/self/task')), len(set(os.listdir('/proc/self/fd')) - before))\n"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code, *specs.forked_modules()],
        env=os.environ | specs.FRUGAL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.split() == ["1", "0"]
