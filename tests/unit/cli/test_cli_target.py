import json
from pathlib import Path

import pytest

from prism_cli.exits import CommandError, Exit
from prism_cli.stack.lock import UpLock
from prism_cli.target import find_target


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRISM_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("PRISM_URL", raising=False)
    monkeypatch.delenv("PRISM_TOKEN", raising=False)
    return tmp_path


def run_locally(data: Path) -> None:
    (data / "up.json").write_text(json.dumps({"url": "http://127.0.0.1:1", "token": "local"}))


def test_the_local_stack_is_found_automatically(data: Path):
    run_locally(data)
    target = find_target()
    assert (target.url, target.token) == ("http://127.0.0.1:1", "local")
    assert target.mcp_url == "http://127.0.0.1:1/mcp"
    assert target.local
    assert target.local.root == data


def test_remote_url_never_gets_the_local_token(data: Path, monkeypatch: pytest.MonkeyPatch):
    run_locally(data)
    monkeypatch.setenv("PRISM_URL", "https://prism.example/")
    target = find_target()
    assert (target.url, target.token, target.local) == ("https://prism.example", "", None)
    monkeypatch.setenv("PRISM_TOKEN", "theirs")
    assert find_target().token == "theirs"


def test_the_address_of_the_local_stack_is_the_local_stack(data: Path, monkeypatch: pytest.MonkeyPatch):
    run_locally(data)
    monkeypatch.setenv("PRISM_URL", "http://127.0.0.1:1")
    assert find_target().token == "local"


def test_a_stack_that_does_not_run_is_an_error(data: Path):
    with pytest.raises(CommandError) as caught:
        find_target()
    assert caught.value.exit_code is Exit.NOT_RUNNING
    assert "prism up" in caught.value.next_action


def test_a_stack_that_is_still_starting_is_an_error(data: Path):
    lock = UpLock(data / "up.lock")
    assert lock.take()
    with pytest.raises(CommandError) as caught:
        find_target()
    assert "starting" in caught.value.message
    lock.release()
