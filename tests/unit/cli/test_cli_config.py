import json
import os
import re
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism_cli import environment, up
from prism_cli.config import known
from prism_cli.exits import CommandError, Exit
from prism_cli.main import app
from prism_cli.stack import specs
from prism_cli.stack.layout import DataDir
from prism_cli.target import find_target


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the configuration file, which does not exist yet."""
    path = tmp_path / "folder" / "prism.toml"
    monkeypatch.setenv("PRISM_CONFIG", str(path))
    monkeypatch.setattr(environment, "_given", {})
    return path


def prism(*arguments: str, stdin: str | None = None) -> str:
    done = CliRunner().invoke(app, ["config", *arguments], input=stdin, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout.rstrip("\n")


def refused(*arguments: str) -> CommandError:
    with pytest.raises(CommandError) as caught:
        CliRunner().invoke(app, ["config", *arguments], catch_exceptions=False)
    return caught.value


def test_set_value_is_kept_in_the_file(config: Path):
    prism("set", "log_level", "DEBUG")
    prism("set", "nats_replicas", "3")
    prism("set", "clone_allow_private", "true")
    assert config.read_text() == 'log_level = "DEBUG"\nnats_replicas = 3\nclone_allow_private = true\n'
    assert prism("get", "nats_replicas") == "3"
    prism("unset", "nats_replicas")
    assert prism("get", "nats_replicas") == "1"


def test_comments_and_other_keys_are_kept(config: Path):
    config.parent.mkdir()
    config.write_text("# mine\nnats_replicas = 2  # two\n\n[plans.small]\nrepositories = 1\n")
    prism("set", "log_level", "DEBUG")
    text = config.read_text()
    assert "# mine\nnats_replicas = 2  # two\n" in text
    assert "[plans.small]\nrepositories = 1" in text
    prism("unset", "log_level")
    assert prism("get", "log_level") == "INFO"


def test_only_the_owner_can_read_the_file(config: Path):
    prism("set", "log_level", "DEBUG")
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("nats_replicas", "9", "nats_replicas: Input should be less than or equal to 5"),
        ("nats_replicas", "many", "nats_replicas: Input should be a valid integer"),
        ("plans", '{"a": {"b": 1}}', "plans: a: b: "),
        ("plans", "{", "plans: It is not JSON"),
        ("log_levle", "DEBUG", "There is no setting 'log_levle'"),
    ],
)
def test_invalid_value_is_refused_and_changes_nothing(config: Path, key: str, value: str, message: str):
    prism("set", "log_level", "DEBUG")
    before = config.read_text()
    assert message in refused("set", key, value).message
    assert config.read_text() == before
    assert list(config.parent.iterdir()) == [config]


@pytest.mark.parametrize("written", ["log_levle", "PRISM_LOG_LEVEL", "LOG_LEVEL"])
def test_unknown_key_names_the_nearest_one(config: Path, written: str):
    assert refused("get", written).next_action == "Did you mean log_level?"


def test_environment_takes_precedence_and_is_named(config: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PRISM_LOG_LEVEL", "WARNING")
    prism("set", "log_level", "DEBUG")
    prism("set", "nats_replicas", "3")
    assert prism("get", "log_level") == "WARNING"
    shown = {one["key"]: one for one in json.loads(prism("list", "--json"))["settings"]}
    assert shown["log_level"]["source"] == "environment"
    assert shown["nats_replicas"]["source"] == f"{config}:2"
    assert "silent_s_max" not in shown
    assert "silent_s_max" in prism("list", "--all")


def test_secrets_are_read_from_standard_input_and_masked(config: Path):
    prism("set", "token", stdin="prism_secret\n")
    assert config.read_text() == 'token = "prism_secret"\n'
    assert "prism_secret" not in prism("list") + prism("get", "token") + prism("list", "--json")
    assert prism("get", "token", "--reveal") == "prism_secret"


def test_every_secret_may_be_in_a_file(config: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("s" * 40)
    secrets = [one for one in known.settings().values() if one.is_secret]
    assert len(secrets) >= 6
    for one in secrets:
        key = f"{one.variable.removeprefix('PRISM_').lower()}_file"
        prism("set", key, str(secret))
        prism("unset", key)  # some exclude each other
    assert refused("set", "log_level_file", "x").code == "setting_unknown"


def test_broken_file_is_reported_with_its_line_and_can_be_found(config: Path):
    config.parent.mkdir()
    config.write_text("log_level = \n")
    assert "line 1" in refused("list").message
    assert prism("path") == str(config)
    with pytest.raises(CommandError, match="line 1"):
        CliRunner().invoke(app, ["status"], catch_exceptions=False)


def test_commands_use_the_file(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("PRISM_URL", "PRISM_TOKEN", "PRISM_DATA_DIR"):
        monkeypatch.setenv(name, "")  # restored after the test
        monkeypatch.delenv(name)
    (tmp_path / "token").write_text("prism_t\n")
    config.parent.mkdir()
    config.write_text(f'url = "https://prism.example/"\ntoken_file = "{tmp_path}/token"\n')
    monkeypatch.setenv("PRISM_TOKEN_FILE", "")
    monkeypatch.delenv("PRISM_TOKEN_FILE")
    environment.merge_configuration()
    try:
        target = find_target()
        assert (target.url, target.token) == ("https://prism.example", "prism_t")
    finally:
        os.environ.pop("PRISM_URL")
        os.environ.pop("PRISM_TOKEN_FILE")


def test_up_refuses_a_file_with_mistakes_and_names_their_lines(config: Path):
    config.parent.mkdir()
    config.write_text('nats_replicas = 9\n# mine\nlog_levle = "DEBUG"\nclone_schemes = ["https"]\n')
    with pytest.raises(CommandError) as caught:
        up.check_configuration()
    assert caught.value.exit_code is Exit.USAGE
    first, second = caught.value.message.split("\n")
    assert first.startswith(f"{config}:3: There is no setting log_levle. Did you mean log_level?")
    assert second.startswith(f"{config}:4: clone_schemes is a text")
    config.write_text("nats_replicas = 9\n")
    with pytest.raises(CommandError, match=f"{re.escape(str(config))}:1: nats_replicas: "):
        up.check_configuration()
    config.write_text("nats_replicas = 3\n")
    up.check_configuration()


def test_settings_that_up_chooses_are_listed(tmp_path: Path):
    data = DataDir(tmp_path)
    data.create()
    services = specs.service_specs(data, 1, 2, specs.Door(3, "prism_t"))
    chosen = {
        name
        for spec in (*services, specs.qdrant_spec(data))
        for name in spec.env.keys() - specs.base_env(data).keys()
        if name.startswith("PRISM_")
    }
    assert chosen - known.SET_BY_UP == {"PRISM_GATEWAY_PORT", "PRISM_PUBLIC_URL"}
    assert known.SET_BY_UP - chosen == set()
    assert known.settings().keys() >= known.SET_BY_UP


def test_every_variable_has_one_meaning():
    """A variable that several classes read has the same type in each."""
    types: dict[str, set[object]] = {}
    for part in known.PARTS:
        for variable, field in part.settings().variables().items():
            types.setdefault(variable, set()).add(str(field.annotation))
    assert {variable: found for variable, found in types.items() if len(found) > 1} == {}
