"""Each alert has a test, a runbook and a link to it, and fires on what Prism exposes."""

import re
import subprocess

import pytest
import yaml
from alert_cases import CASES
from typer.testing import CliRunner

from deploy.checks.manifests import ROOT, Manifests
from deploy.prometheus.for_kubernetes import RULES, manifest
from prism_cli.main import app
from prism_contracts.errors import ErrorCode, http_status

GROUPS = yaml.safe_load(RULES.read_text())["groups"]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"] if "alert" in rule}
RUNBOOKS = ROOT / "docs" / "runbooks"
SECTIONS = ["What it means", "What users notice", "Look", "Do"]


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_what_it_means_and_how_urgent_it_is(name: str) -> None:
    rule = ALERTS[name]
    assert name.startswith("Prism")
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    assert "{{" not in rule["annotations"]["description"]
    assert rule["annotations"]["summary"].endswith(".")


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_has_a_runbook_that_names_it(name: str) -> None:
    page = RUNBOOKS / ALERTS[name]["annotations"]["runbook_url"].rpartition("/")[2]
    text = page.read_text(encoding="utf-8")
    assert f"`{name}`" in text
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[: len(SECTIONS)] == SECTIONS
    assert "```" in text, "exact commands"


def test_every_runbook_belongs_to_an_alert() -> None:
    linked = {rule["annotations"]["runbook_url"].rpartition("/")[2] for rule in ALERTS.values()}
    assert {page.name for page in RUNBOOKS.glob("*.md")} == linked | {"README.md"}


def commands() -> list[str]:
    """The commands of `prism` in runbooks, without arguments."""
    text = "".join(page.read_text(encoding="utf-8") for page in RUNBOOKS.glob("*.md"))
    return sorted(
        set(re.findall(r"(?<!-n )\bprism ((?:repos|jobs|tenants|tokens) [a-z]+|[a-z]+)(?=[ `])", text))
    )


@pytest.mark.parametrize("command", commands())
def test_a_command_of_a_runbook_exists(command: str) -> None:
    done = CliRunner().invoke(app, [*command.split(), "--help"])
    assert done.exit_code == 0, done.output


def test_every_alert_has_a_test_that_it_fires_and_that_it_does_not() -> None:
    assert {case.alert for case in CASES} == set(ALERTS)
    assert all(case.quiet_at for case in CASES)


def test_failures_are_the_errors_of_the_server() -> None:
    """Without those that other alerts count: git servers fail, and the graph of a new repository is on its way."""
    codes = {code.value for code in ErrorCode if http_status(code) >= 500} - {
        "clone_failed",
        "git_error",
        "graph_not_built",
    }
    found = re.findall(r'outcome=~"([^"]+)"', RULES.read_text())
    assert {frozenset(text.split("|")) for text in found} == {frozenset(codes)}


def test_kubernetes_gets_the_same_rules(overlays: dict[str, Manifests]) -> None:
    committed = ROOT / "deploy" / "k8s" / "components" / "monitoring" / "prometheus-rule.yaml"
    assert committed.read_text() == manifest(), "Run `make dashboards`."
    (item,) = overlays["production"].of("PrometheusRule")
    assert item["spec"]["groups"] == GROUPS


def test_docker_compose_reads_the_rules() -> None:
    config = yaml.safe_load((ROOT / "deploy/compose/prometheus.yaml").read_text())
    assert config["rule_files"] == ["/etc/prometheus/rules/*.yaml"]


def rule_tests() -> dict:
    return {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [as_rule_test(case) for case in CASES],
    }


def as_rule_test(case) -> dict:
    rule = ALERTS[case.alert]["annotations"]
    fired = {"exp_labels": case.labels, "exp_annotations": {**rule, "summary": case.summary}}
    times = [(time, []) for time in case.quiet_at] + [(case.fires_at, [fired])]
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in case.series.items()],
        "alert_rule_test": [
            {"eval_time": time, "alertname": case.alert, "exp_alerts": alerts} for time, alerts in times
        ],
    }


@pytest.mark.promtool
def test_alerts_fire_when_they_should_and_only_then(tmp_path) -> None:
    file = tmp_path / "rules_test.yaml"
    file.write_text(yaml.safe_dump(rule_tests()))
    done = subprocess.run(["promtool", "test", "rules", file], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
