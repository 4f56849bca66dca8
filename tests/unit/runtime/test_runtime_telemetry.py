"""Log lines: JSON for programs, text for people, with fields and without secrets of the process."""

import json
import subprocess
import sys

SCRIPT = """
import logging
from prism_runtime.telemetry import line_fields, set_up_logging
set_up_logging("search", "INFO", {format!r})
log = logging.getLogger("prism_search.main")
log.info("call", extra=line_fields(tool="search_code", total_ms=1.5))
def fail(token):
    raise ValueError("it broke")
try:
    fail("prism_" + "secret" * 3)
except ValueError:
    log.exception("failed")
"""


def logged(log_format: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(format=log_format)], capture_output=True, text=True, check=True
    )
    assert not done.stdout
    return done.stderr


def test_a_line_is_json_with_its_fields_unless_a_person_reads_it() -> None:
    for log_format in ("json", "auto"):  # a pipe is no terminal
        call, failed = map(json.loads, logged(log_format).splitlines())
        assert (call["event"], call["tool"], call["total_ms"]) == ("call", "search_code", 1.5)
        assert (call["service"], call["level"], call["logger"]) == ("search", "info", "prism_search.main")
        assert failed["exception"][0]["exc_value"] == "it broke"


def test_lines_for_people_are_text_with_the_same_fields() -> None:
    text = logged("console")
    assert "tool=search_code" in text
    assert "ValueError: it broke" in text
    assert not text.startswith("{")


def test_no_format_shows_local_variables() -> None:
    for log_format in ("json", "console"):
        assert "secretsecret" not in logged(log_format)
