import json
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from prism_cli import environment
from prism_cli.connect.clients import CLIENTS
from prism_cli.exits import CommandError, Exit
from prism_cli.main import app

URL, TOKEN = "http://127.0.0.1:1/mcp", "prism_secret_of_this_test"
SETTINGS = '{\n  // my servers\n  "mcpServers": {\n    "other": {"url": "http://o"}, // keep\n  },\n}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, and a stack that runs."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "up.json").write_text(json.dumps({"url": URL.removesuffix("/mcp"), "token": TOKEN}))
    for name in ("PRISM_URL", "PRISM_TOKEN", "XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(environment, "_given", {})
    monkeypatch.setenv("PRISM_CONFIG", str(tmp_path / "prism.toml"))
    monkeypatch.setenv("PRISM_DATA_DIR", str(data))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def cursor_file(home: Path, text: str) -> Path:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(0o644)
    return path


def run(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(app, ["connect", *arguments], input=answer)


def error_of(result: Result) -> CommandError:
    assert isinstance(result.exception, CommandError), result.output
    return result.exception


def listed() -> dict[str, str]:
    shown = run("--list", "--json")
    return {one["client"]: one["prism"] for one in json.loads(shown.stdout)}


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_is_connected_and_a_second_time_changes_nothing(client: str, home: Path):
    first = run(client, "--write", "--yes")
    assert first.exit_code == 0, first.output
    files = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert listed()[client] == (URL if CLIENTS[client].url_key else listed()[client])
    assert listed()[client] not in {"no file", "not connected"}
    assert "connected already" in run(client, "--write").stdout
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == files


@pytest.mark.parametrize("client", CLIENTS)
def test_no_one_else_can_read_the_token(client: str, home: Path):
    run(client, "--write", "--yes")
    for path in home.rglob("*"):
        if path.is_file() and path.name != "up.json" and TOKEN in path.read_text():
            assert not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO), path


def test_the_change_is_shown_without_the_token_and_the_rest_is_kept(home: Path):
    path = cursor_file(home, SETTINGS)
    shown = run("cursor", "--write", "--yes").stdout
    assert '+    "prism": {' in shown
    assert "Bearer prism_…" in shown
    assert "mode 644 → 600" in shown
    assert TOKEN not in shown
    text = path.read_text()
    assert text.startswith(
        '{\n  // my servers\n  "mcpServers": {\n    "other": {"url": "http://o"}, // keep\n'
    )
    assert TOKEN in text
    [backup] = path.parent.glob("*.bak")
    assert backup.read_text() == SETTINGS
    assert str(backup) in shown


def test_a_file_that_others_can_read_is_closed_even_if_it_is_complete(home: Path):
    path = cursor_file(home, SETTINGS)
    run("cursor", "--write", "--yes")
    path.chmod(0o644)
    assert run("cursor", "--write", "--yes").exit_code == 0
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_without_a_confirmation(home: Path):
    path = cursor_file(home, SETTINGS)
    refused = run("cursor", "--write", answer="")
    assert error_of(refused).code == "confirmation_required"
    assert '+    "prism": {' in refused.stdout
    assert path.read_text() == SETTINGS
    assert list(path.parent.iterdir()) == [path]


def test_the_user_is_asked_on_a_terminal(home: Path, monkeypatch: pytest.MonkeyPatch):
    path = cursor_file(home, SETTINGS)
    monkeypatch.setattr("prism_cli.connect.command._is_terminal", lambda: True)
    assert error_of(run("cursor", "--write", answer="n\n")).code == "declined"
    assert path.read_text() == SETTINGS
    assert run("cursor", "--write", answer="y\n").exit_code == 0
    assert TOKEN in path.read_text()


def test_a_command_keeps_the_token_out_of_the_file_and_its_mode(home: Path):
    path = cursor_file(home, SETTINGS)
    assert run("cursor", "--write", "--yes", "--stdio").exit_code == 0
    assert TOKEN not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o644
    assert '"PRISM_DATA_DIR"' in path.read_text()
    assert Path(listed()["cursor"].removesuffix(" mcp")).is_file()


def test_a_token_of_the_environment_goes_into_a_private_file(home: Path, monkeypatch: pytest.MonkeyPatch):
    path = cursor_file(home, SETTINGS)
    monkeypatch.setenv("PRISM_URL", "https://prism.example")
    monkeypatch.setenv("PRISM_TOKEN", TOKEN)
    assert run("cursor", "--write", "--yes", "--stdio").exit_code == 0
    assert TOKEN in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_token_is_not_written_into_a_file_that_git_tracks(home: Path):
    path = cursor_file(home, SETTINGS)
    subprocess.run(["git", "init", "-q", home], check=True)
    subprocess.run(["git", "-C", home, "add", path], check=True)
    refused = error_of(run("cursor", "--write", "--yes"))
    assert refused.code == "client_file_tracked"
    assert "--stdio" in refused.next_action
    assert path.read_text() == SETTINGS
    assert run("cursor", "--write", "--yes", "--stdio").exit_code == 0


@pytest.mark.parametrize("text", ['{"mcpServers": [', '{"mcpServers": []}', "{a: 1}"])
def test_a_file_that_cannot_be_edited_stays(text: str, home: Path):
    path = cursor_file(home, text)
    refused = error_of(run("cursor", "--write", "--yes"))
    assert refused.code == "client_file_unusable"
    assert str(path) in refused.message
    assert path.read_text() == text
    assert listed()["zed"] == "no file"


def test_the_clients_are_listed_with_their_files(home: Path):
    cursor_file(home, SETTINGS)
    assert listed() == {key: "not connected" if key == "cursor" else "no file" for key in CLIENTS}
    assert ".cursor/mcp.json" in run("--list").stdout


def test_snippets_are_valid_in_their_language(home: Path):
    def snippet(*arguments: str) -> str:
        return run(*arguments).stdout.split("\n", 2)[2].partition("\nEvery tool")[0]

    assert json.loads(snippet("cursor"))["mcpServers"]["prism"]["url"] == URL
    assert json.loads(snippet("vscode"))["servers"]["prism"]["type"] == "http"
    assert json.loads(snippet("claude-desktop"))["mcpServers"]["prism"]["args"] == ["mcp"]
    codex = tomllib.loads(snippet("codex"))
    assert codex["mcp_servers"]["prism"]["http_headers"]["Authorization"] == f"Bearer {TOKEN}"
    assert snippet("claude").startswith(f"claude mcp add --transport http prism {URL} --header")
    assert snippet("claude", "--stdio").startswith("claude mcp add prism --env PRISM_")


def test_the_output_explains_how_to_search_uncommitted_changes(home: Path):
    shown = run().stdout
    assert all(client.title in shown for client in CLIENTS.values())
    assert "`ref`" in shown
    assert "prism watch" in shown


@pytest.mark.parametrize(
    "arguments", [("emacs",), ("emacs", "--write"), ("--write",), ("agents-md", "--write")]
)
def test_an_unknown_client_is_answered_with_the_known_ones(arguments: tuple[str, ...], home: Path):
    refused = error_of(run(*arguments))
    assert refused.exit_code is Exit.USAGE
    assert "claude" in refused.next_action
