"""A day of a user, from outside: up, index, search, status, doctor, a crash, down; and the demo."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forked_processes import run_prism

pytestmark = pytest.mark.system

PRISM = str(Path(sys.executable).with_name("prism"))
COMMAND_SECONDS_MAX = 240

PAYMENT = '''"""Payments."""


def charge_credit_card(card: str, cents: int) -> str:
    """Charge a card and return the receipt number."""
    return f"{card}:{cents}"
'''
TIDES = """package tides

// HighWater returns the hour at which the sea is highest.
func HighWater(day int) int { return day * 24 }
"""


class User:
    """A user at a terminal, with a data folder and a project."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.project = folder / "shop"
        self.project.mkdir()
        (self.project / ".gitignore").write_text("secret.txt\n")
        (self.project / "secret.txt").write_text("hidden")
        (self.project / "payment.py").write_text(PAYMENT)
        (self.project / "tides.go").write_text(TIDES)
        (self.project / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
        return kept | {"PRISM_CONFIG": os.devnull, "PRISM_DATA_DIR": str(self.data)}

    def prism(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_prism(arguments, self.environment() | environment, COMMAND_SECONDS_MAX)

    def on_terminal(self, columns: int, *arguments: str | Path) -> list[str]:
        """Returns the lines that a terminal of this width shows, one after another, without their colours."""
        main_end, child_end = os.openpty()
        fcntl.ioctl(child_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = self.environment() | {"TERM": "xterm-256color"}
        environment.pop("COLUMNS", None)
        with subprocess.Popen(
            [PRISM, *arguments], env=environment, stdin=child_end, stdout=child_end, stderr=child_end
        ) as process:
            os.close(child_end)
            written = b""
            with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
                while part := os.read(main_end, 65_536):
                    written += part
        os.close(main_end)
        assert process.returncode == 0, written
        return re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode()))

    def json(self, *arguments: str | Path) -> dict[str, Any]:
        done = self.prism(*arguments, "--json")
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    def index(self) -> dict[str, Any]:
        return self.json("index", self.project, "--name", "me/shop", "--wait")


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    user = User(tmp_path_factory.mktemp("journey"))
    user.json("up", "--port", "0", "--detach")
    try:
        user.index()
        yield user
    finally:
        assert user.prism("down").returncode == 0
        shutil.rmtree(user.data, ignore_errors=True)


def test_a_folder_becomes_searchable(user: User):
    reply = user.json("search", "charge a credit card", "--repo", "me/shop")
    best = reply["results"][0]
    assert (best["file_path"], best["repo"]) == ("payment.py", "me/shop")
    assert any("charge_credit_card" in line["text"] for line in best["lines"])
    assert reply["receipt"]["files_indexed"] == 3
    assert not any("secret" in hit["file_path"] for hit in reply["results"])


def test_search_output_shows_file_line_score_and_receipt(user: User):
    shown = user.prism("search", "HighWater").stdout
    assert "tides.go:" in shown
    assert "score" in shown
    assert "confidence" in shown
    assert "me/shop @" in shown


def test_a_second_run_indexes_only_what_changed(user: User):
    again = user.index()
    assert again["nothing_changed"]
    assert again["sent"]["files"] == 0
    (user.project / "payment.py").write_text(PAYMENT.replace("charge_credit_card", "debit_account"))
    changed = user.index()
    assert changed["job"]["counts"]["indexed"] == 1
    assert changed["sent"]["files"] == 1
    best = user.json("search", "debit_account")["results"][0]
    assert best["file_path"] == "payment.py"
    assert "nothing changed" in user.prism("index", user.project, "--name", "me/shop", "--wait").stdout


def test_an_import_is_readable_on_a_narrow_terminal(user: User, tmp_path: Path):
    folder = tmp_path / "a-folder-with-a-long-name" / "inside-another-one-with-a-long-name"
    folder.mkdir(parents=True)
    (folder / "payment.py").write_text(PAYMENT)
    name = "an-owner-with-a-long-name/a-repository-with-a-long-name"
    screen = user.on_terminal(70, "index", folder, "--name", name, "--wait")
    lines = [line for line in screen if line.strip()]
    assert max(map(len, lines)) <= 70, lines
    assert any("Reading" in line for line in lines)
    summary = " ".join(line.strip() for line in lines[-2:])
    assert f"{name}: complete: 1 files: 1 indexed" in summary


def test_a_removed_file_is_no_longer_found(user: User):
    extra = user.project / "obsolete.py"
    extra.write_text("def obsolete_zebra():\n    pass\n")
    assert user.index()["job"]["counts"]["indexed"] == 1
    extra.unlink()
    assert user.index()["job"]["counts"]["removed"] == 1
    hits = user.json("search", "obsolete_zebra")["results"]
    assert not any(hit["file_path"] == "obsolete.py" for hit in hits)


def test_status_reports_every_part(user: User):
    report = user.json("status")
    assert {"services", "repositories", "jobs", "streams", "dead_letters", "points", "memory"} <= set(report)
    assert report["errors"] == {}
    assert {"nats", "qdrant", "gateway", "indexer"} <= {facts["name"] for facts in report["services"]}
    assert not [facts for facts in report["services"] if not facts["ready"]]
    assert report["points"]["total"] > 0
    assert report["memory"]["rss_bytes"] > 0
    assert "me/shop" in user.prism("status").stdout


def test_logs_name_the_service_of_each_line(user: User):
    assert "gateway is running on port" in user.prism("logs", "gateway").stdout
    names = {line.split()[1] for line in user.prism("logs", "-n", "1000").stdout.splitlines()}
    assert names >= {"nats", "qdrant", "gateway", "supervisor"}


def test_doctor_finds_nothing_wrong(user: User):
    done = user.prism("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0, report
    assert report["ok"]


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (("search", ""), "empty_query", ""),
        (("search", "x", "--repo", "no/such"), "repo_not_found", "me/shop"),
        (("index", "/nonexistent/folder"), "source_not_found", "/nonexistent/folder"),
        (("index", "https://127.0.0.1/a/b", "--wait"), "clone_refused", ""),
        (("index", ".", "--name", "no slash"), "invalid_argument", "owner/repo"),
    ],
)
def test_bad_input_gets_a_code_and_a_next_action(
    user: User, arguments: tuple[str, ...], code: str, shown: str
):
    done = user.prism(*arguments)
    assert done.returncode != 0
    assert f"[{code}]" in done.stderr
    assert "→" in done.stderr
    assert shown in done.stderr
    assert "Traceback" not in done.stderr
    error = json.loads(user.prism(*arguments, "--json").stdout)["error"]
    assert error["code"] == code
    assert error["next_action"]


def test_an_empty_folder_is_refused(user: User, tmp_path: Path):
    done = user.prism("index", tmp_path)
    assert done.returncode == 1
    assert "source_empty" in done.stderr


def test_a_wrong_token_is_refused(user: User):
    done = user.prism("search", "x", PRISM_TOKEN="prism_wrong")
    assert done.returncode == 1
    assert "unauthenticated" in done.stderr


def test_the_demo_answers_over_mcp_and_leaves_nothing(user: User, tmp_path: Path):
    done = subprocess.run(
        [PRISM, "demo", "--repo", user.project, "--query", "when is the sea highest"],
        env=user.environment() | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_SECONDS_MAX,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "tides.go:" in done.stdout
    assert "answer" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_demo_leaves_nothing(user: User, tmp_path: Path):
    process = subprocess.Popen(
        [PRISM, "demo", "--repo", user.project],
        env=user.environment() | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts background commands with SIGINT ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
    )
    assert process.stderr
    for line in process.stderr:
        if "is ready" in line:
            break
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=COMMAND_SECONDS_MAX)
    assert process.returncode == 130, errors
    assert list(tmp_path.iterdir()) == []
