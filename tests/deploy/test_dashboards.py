"""The committed dashboards are those of the code, and their queries name what exists."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from deploy.checks.manifests import ROOT, TOOLS, Manifests

FOLDER = ROOT / "deploy" / "grafana" / "dashboards"
RUNBOOKS = ROOT / "docs" / "runbooks"
FILES = sorted(FOLDER.glob("*.json"))
PYTHON = TOOLS / "python"
COLUMNS = 24


def panels() -> list:
    return [
        pytest.param(panel, id=f"{file.stem}: {panel['title']}") for file in FILES for panel in read(file)
    ]


def read(file: Path) -> list[dict]:
    return json.loads(file.read_text())["panels"]


def check_queries(*queries: str) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, "-m", "deploy.checks.queries", *queries]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)


def test_the_committed_dashboards_are_those_of_the_code(tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-m", "deploy.dashboards.write", tmp_path], cwd=ROOT, check=True)
    written = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert written == {file.name: file.read_text() for file in FILES}, "Run `make dashboards`."


def test_every_query_names_metrics_and_labels_that_exist() -> None:
    done = check_queries()
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("sum(", "unclosed left parenthesis"),
        ("prism_no_such_thing", "no metric is called prism_no_such_thing"),
        ("rate(prism_dead_letters[5m])", "no metric is called prism_dead_letters"),
        ('prism_ready{chek="nats"}', "prism_ready has no label chek"),
        ("sum by (lane) (rate(prism_dead_letters_total[5m]))", "nothing below has the label lane"),
    ],
)
def test_a_wrong_query_is_found(query: str, problem: str) -> None:
    done = check_queries(query)
    assert done.returncode == 1
    assert problem in done.stdout


@pytest.mark.parametrize("panel", panels())
def test_a_panel_says_what_it_shows_and_links_to_runbooks_that_exist(panel: dict) -> None:
    assert panel["title"]
    assert panel["description"]
    assert panel["fieldConfig"]["defaults"]["unit"]
    for name in re.findall(r"/docs/runbooks/([\w-]+)\.md", panel["description"]):
        assert (RUNBOOKS / f"{name}.md").exists(), name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_panels_fill_their_rows(file: Path) -> None:
    rows: dict[int, int] = {}
    for panel in read(file):
        place = panel["gridPos"]
        rows[place["y"]] = rows.get(place["y"], 0) + place["w"]
    assert set(rows.values()) == {COLUMNS}


def test_ids_of_panels_and_dashboards_are_unique() -> None:
    boards = [json.loads(file.read_text()) for file in FILES]
    assert len({board["uid"] for board in boards}) == len(boards)
    for board in boards:
        assert [panel["id"] for panel in board["panels"]] == list(range(1, len(board["panels"]) + 1))


def test_kubernetes_gets_every_dashboard(overlays: dict[str, Manifests]) -> None:
    (item,) = [
        one for one in overlays["production"].of("ConfigMap") if "prism-dashboards" in one["metadata"]["name"]
    ]
    assert item["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert {name.removeprefix("prism-"): text for name, text in item["data"].items()} == {
        file.name: file.read_text() for file in FILES
    }
