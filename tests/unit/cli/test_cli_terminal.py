import json
from datetime import UTC, datetime, timedelta

import pytest

from prism_cli import terminal
from prism_cli.exits import CommandError


@pytest.mark.parametrize(
    "hostile", ["\x1b[2J", "\x07", "\x9b31m", "a\rb", "\u202e", "\u2066", "\x7f", "\x00"]
)
def test_control_sequences_are_removed(hostile: str):
    shown = terminal.printable(hostile)
    assert "\ufffd" in shown
    assert not set(shown) & set("\x1b\x07\x9b\r\u202e\u2066\x7f\x00")


def test_ordinary_text_is_unchanged():
    assert terminal.printable("def f():\r\n\treturn 'é漢'\n") == "def f():\n\treturn 'é漢'\n"


def test_markup_in_an_error_is_text(capsys: pytest.CaptureFixture[str]):
    terminal.show_error(
        CommandError("[/red] [bold]x", "do [y]", code="c", details={"known": ["a/b", "c/d"]}), as_json=False
    )
    shown = capsys.readouterr().err
    assert "[/red] [bold]x" in shown
    assert "do [y]" in shown
    assert "[c]" in shown
    assert "known: a/b, c/d" in shown


def test_an_error_as_json_is_one_object_on_standard_output(capsys: pytest.CaptureFixture[str]):
    terminal.show_error(CommandError("m", "n", code="c", details={"k": 1}), as_json=True)
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {
        "error": {"code": "c", "message": "m", "next_action": "n", "details": {"k": 1}}
    }
    assert captured.err == ""


def test_ago():
    now = datetime.now(UTC)
    assert terminal.ago(None) == "never"
    assert terminal.ago(now + timedelta(seconds=5)) == "0 s ago"
    assert terminal.ago(now - timedelta(minutes=3)) == "3 min ago"
    assert terminal.ago(now - timedelta(days=2, hours=1)) == "2 d ago"


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (2048, "2 KiB"), (5 * 1024**2, "5 MiB"), (1.5 * 1024**3, "1.5 GiB")]
)
def test_size(count: float, text: str):
    assert terminal.size(count) == text
