"""A test that waits for ever is ended, and says so. Each case is a process of its own: a watchdog ends its children."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CASE_S_MAX = 60
COMMAND = """
import subprocess, sys
from watchdog import Watchdog
with Watchdog({seconds}).watching() as watchdog:
    done = subprocess.run([sys.executable, "-c", "import time; time.sleep({sleeps})"])
print(done.returncode, watchdog.has_bitten)
"""
PAGE = """
from playwright.sync_api import Error, sync_playwright
from bench.pictures.browsing import launched
from watchdog import Watchdog
try:
    with sync_playwright() as playwright, Watchdog(2).watching() as watchdog:
        launched(playwright).new_page().evaluate("new Promise(() => {})")
except Error:
    print(watchdog.has_bitten)
"""


def test_a_command_that_never_ends_is_killed() -> None:
    assert _printed(COMMAND.format(seconds=0.5, sleeps=3_600)) == "-9 True"


def test_a_command_that_ends_in_time_is_left_alone() -> None:
    assert _printed(COMMAND.format(seconds=CASE_S_MAX, sleeps=0)) == "0 False"


def test_a_page_that_never_answers_is_ended() -> None:
    assert _printed(PAGE) == "True"


def _printed(program: str) -> str:
    """Returns what a program prints."""
    path = os.pathsep.join(map(str, (HERE, HERE.parents[1])))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=CASE_S_MAX,
    )
    return done.stdout.strip() or done.stderr
