"""Doctor and the alerts say the same, by the same limits."""

import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

from prism_cli import signals
from prism_cli.signals import SIGNALS, Samples, Signal, read_metrics, seen_in, span

ROOT = Path(__file__).parents[3]
RULES = yaml.safe_load((ROOT / "deploy/prometheus/rules/prism.yaml").read_text())
ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"] if "alert" in rule}
WELL = """
prism_queue_oldest_seconds{stage="chunker",lane="live"} 60
prism_queue_oldest_seconds{stage="chunker",lane="bulk"} 3600
prism_stream_has_leader{stream="PRISM_FILES"} 1
prism_stream_replicas{stream="PRISM_FILES"} 3
prism_stream_replicas_current{stream="PRISM_FILES"} 3
prism_ready{check="nats"} 1
"""


def without_template(summary: str) -> str:
    """Prometheus' template as the fields of a sentence."""
    summary = re.sub(r"\{\{ \$labels\.(\w+) \}\}", r"{\1}", summary)
    # humanize1024 ends with the prefix of the unit.
    return re.sub(r"\{\{ \$value[^}]*\}\}B?", "{value}", summary)


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.alert)
def test_a_signal_says_what_its_alert_says(signal: Signal) -> None:
    annotations = ALERTS[signal.alert]["annotations"]
    assert without_template(annotations["summary"]) == signal.sentence
    assert annotations["runbook_url"].endswith(f"/docs/runbooks/{signal.runbook}.md")
    assert (ROOT / "docs" / "runbooks" / f"{signal.runbook}.md").exists()


def test_limits_are_those_of_the_alerts() -> None:
    for signal in SIGNALS:
        if signal.above is not None:
            assert ALERTS[signal.alert]["expr"].endswith(f"> {signal.above}")
    expr = ALERTS[signals.CERTIFICATE_EXPIRES.alert]["expr"]
    assert expr.count(f"< {signals.CERTIFICATE_SECONDS_MIN // signals.DAY_S} * {signals.DAY_S}") == 2


def seen(**texts: str) -> list[tuple[str, str]]:
    return [(one.check, one.text) for one in seen_in({name: Samples(text) for name, text in texts.items()})]


def test_a_healthy_stack_shows_nothing() -> None:
    assert seen(ingest=WELL, atlas='prism_graph_builds_total{lane="live",outcome="built"} 3') == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"chunker",lane="live"} 60', '"chunker",lane="live"} 61',
         ("queues", "The oldest live message of chunker has waited 61 s.")),
        ('lane="bulk"} 3600', 'lane="bulk"} 9000',
         ("queues", "The oldest bulk message of chunker has waited 2 h.")),
        ('leader{stream="PRISM_FILES"} 1', 'leader{stream="PRISM_FILES"} 0',
         ("streams", "The stream PRISM_FILES has no leader.")),
        ('current{stream="PRISM_FILES"} 3', 'current{stream="PRISM_FILES"} 2',
         ("streams", "1 copies of the stream PRISM_FILES are behind.")),
        ('prism_ready{check="nats"} 1', 'prism_ready{check="nats"} 0',
         ("readiness", "A copy of ingest is not ready: nats fails.")),
    ],
)  # fmt: skip
def test_one_condition_is_seen(old: str, new: str, said: tuple[str, str]) -> None:
    assert old in WELL
    assert seen(ingest=WELL.replace(old, new)) == [said]


def test_queues_without_a_reader_are_unknown() -> None:
    assert seen(ingest="prism_dead_letters_kept NaN") == [("queues", "Nothing is known about the queues.")]


def test_failed_builds_are_counted_over_both_lanes() -> None:
    text = "".join(
        f'prism_graph_builds_total{{lane="{lane}",outcome="failed"}} 2\n' for lane in ("live", "bulk")
    )
    assert seen(atlas=text) == [("graphs", "4 builds of graphs failed.")]


def test_only_https_has_a_certificate() -> None:
    assert signals.certificate_seconds("http://127.0.0.1:1") is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5, "5 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (13.5 * 86_400, "14 days")],
)
def test_spans_are_short(seconds: float, text: str) -> None:
    assert span(seconds) == text


class _OtherProgram(BaseHTTPRequestHandler):
    """Answers every path with JSON."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"checks": {"nats": "ok"}}')

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_a_port_that_another_program_took_shows_nothing() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _OtherProgram) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        assert read_metrics({"search": server.server_address[1]}) == {}
        server.shutdown()
