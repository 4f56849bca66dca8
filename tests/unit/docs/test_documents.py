"""The documents say what is: generated pages are up to date, links lead somewhere, named tests exist."""

import importlib.util
import re
from pathlib import Path

import click
import pytest
import typer

from prism_cli.main import app

ROOT = Path(__file__).parents[3]
WRITTEN = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("training/*.md"),
        *ROOT.glob("services/**/*.md"),
    ]
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
PLACE = re.compile(r"`((?:libs|services|cli|tests|docs|training|bench|deploy)/[\w./*-]+)`")
METRIC = re.compile(r"(?:Counter|Gauge|Histogram|MetricFamily|of_\w+)\(\s*\"(\w+)\"")
TARGET = re.compile(r"(?:`|^)make ([a-z][a-z-]*)", re.MULTILINE)
COMMAND = re.compile(r"(?:`|^(?:\$ )?)prism ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", re.MULTILINE)
# What `make compose-secrets` writes, and git ignores.
UNTRACKED = "deploy/compose/secrets"


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["settings.md", "events.md", "tools.md", "metrics.md", "languages.md"])
def test_a_generated_page_is_what_the_code_says(generate, name) -> None:
    assert generate.pages()[name] == (ROOT / "docs" / name).read_text(encoding="utf-8"), "run `make docs`"


def test_every_metric_is_documented() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    declared = {
        name
        for part in ("libs", "services")
        for file in (ROOT / part).rglob("*.py")
        for name in METRIC.findall(file.read_text(encoding="utf-8"))
    }
    assert {name for name in declared if f"| `{name}` |" not in page} == set()


def test_both_pages_name_the_same_shares_of_confidence(generate) -> None:
    shares = generate.first_right_shares()
    assert set(shares) == {"high", "medium", "low"}
    tools = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    for level, share in shares.items():
        assert re.search(rf"^- `{level}`: [^.]*for {re.escape(share)}", tools, re.MULTILINE)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_places_exist(page) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    missing += [
        place
        for place in PLACE.findall(text)
        if not place.startswith(UNTRACKED) and not list(ROOT.glob(place.rstrip("/")))
    ]
    assert not missing


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_tests_and_targets_exist(page) -> None:
    text = page.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    missing = [
        f"{file}::{name}"
        for file, name in TEST.findall(text)
        if not (ROOT / file).exists()
        or not re.search(rf"\bdef {name}\b", (ROOT / file).read_text(encoding="utf-8"))
    ]
    missing += [
        f"make {target}"
        for target in TARGET.findall(text)
        if not re.search(rf"^{target}:", makefile, re.MULTILINE)
    ]
    assert not missing


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_commands_exist(page) -> None:
    commands = typer.main.get_command(app).commands
    for name, further in COMMAND.findall(page.read_text(encoding="utf-8")):
        assert name in commands, f"prism {name}"
        if further and isinstance(commands[name], click.Group):
            assert further in commands[name].commands, f"prism {name} {further}"


def test_every_guide_is_listed() -> None:
    guides = ROOT / "docs" / "guides"
    listed = set(LINK.findall((guides / "README.md").read_text(encoding="utf-8")))
    assert {page.name for page in guides.glob("*.md")} - {"README.md"} == {
        link for link in listed if "/" not in link
    }


def test_comments_of_deployments_name_existing_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for suffix in ("yaml", "sh", "py"):
        for file in (ROOT / "deploy").rglob(f"*.{suffix}"):
            if "node_modules" not in file.parts:
                for target in TARGET.findall(file.read_text(encoding="utf-8")):
                    assert re.search(rf"^{target}:", makefile, re.MULTILINE), (file, target)


def test_requirements_name_no_host() -> None:
    for file in (ROOT / "requirements").iterdir():
        assert "://" not in file.read_text(encoding="utf-8"), file.name
