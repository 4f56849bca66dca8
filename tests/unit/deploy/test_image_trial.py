"""What `make image-test` compares and looks for, without a container."""

import json
import os
from pathlib import Path

import pytest
import yaml

from deploy.image import inside, trial
from deploy.image.engine import Engine
from prism_chunker.core.file import chunk_file

ROOT = Path(__file__).parents[3]


def test_the_trial_looks_at_every_container_that_stays() -> None:
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
    elsewhere = {"nats-volume", "prometheus", "grafana", "keycloak"}
    assert set(trial.SERVICES) == set(services) - elsewhere


@pytest.mark.parametrize("name", ["sample.py", "sample.md", "Makefile"])
def test_a_golden_file_says_what_the_image_must_find_in_a_sample(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    parsed = chunk_file(name, (trial.SAMPLES / name).read_text())
    assert trial._expected(name) == (parsed.language, parsed.parse, len(parsed.symbols))


def test_a_machine_without_the_programs_of_podman_is_told_their_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(trial, "LIBRARIES", (str(tmp_path),))
    assert trial.missing_programs(Engine("podman")) == list(trial.PODMAN_NEEDS)
    (tmp_path / "runc").touch(mode=0o755)
    assert "runc" not in trial.missing_programs(Engine("podman"))
    assert trial.missing_programs(Engine("docker")) == []


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder that takes the place of a good image's file system."""
    (tmp_path / "file").write_text("text")
    bill = tmp_path.with_suffix(".json")
    bill.write_text(json.dumps({"components": [{"name": name} for name in inside.LISTED]}))
    found = [tmp_path / "file"]
    monkeypatch.setattr(inside, "BILL", bill)
    monkeypatch.setattr(inside, "TOOLS", ())
    monkeypatch.setattr(inside, "MODULES", ())
    monkeypatch.setattr("os.getuid", lambda: inside.USER)
    monkeypatch.setattr("os.access", lambda _, mode, **__: mode != os.W_OK)
    monkeypatch.setattr(inside, "files", lambda: iter(found))
    return tmp_path


def test_a_good_image_has_no_problem(image: Path) -> None:
    assert list(inside.problems(b"marker")) == []


def test_a_secret_of_the_build_is_found(image: Path) -> None:
    (image / "file").write_text("index-url = https://user:marker@host")
    assert list(inside.problems(b"marker")) == [f"{image / 'file'} has a secret of the build"]


def test_a_file_that_a_service_can_change_is_found(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_, **__: True)
    assert list(inside.problems(b"marker")) == [f"{image / 'file'} can be changed"]


def test_root_an_installer_and_a_wrong_bill_are_found(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getuid", lambda: 0)
    monkeypatch.setattr(inside, "TOOLS", ("sh",))
    monkeypatch.setattr(inside, "MODULES", ("json",))
    inside.BILL.write_text(json.dumps({"components": [{"name": "git"}, {"name": "pip"}]}))
    assert list(inside.problems(b"marker")) == [
        "it runs as user 0",
        "sh is installed",
        "json can be imported",
        *(f"the bill of materials lacks {name}" for name in sorted(inside.LISTED - {"git"})),
        "the bill of materials lists pip",
    ]
