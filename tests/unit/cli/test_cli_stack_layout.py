from pathlib import Path

import pytest

from prism_cli.exits import CommandError
from prism_cli.stack.layout import DataDir, data_dir, read_json, write_private


def test_secrets_are_made_once_and_for_the_owner(tmp_path: Path):
    data = DataDir(tmp_path / "d")
    data.create()
    assert data.token().startswith("prism_")
    assert data.token() == data.token()
    assert data.secret("nats") != data.secret("qdrant")
    assert (data.root / "token").stat().st_mode & 0o777 == 0o600
    assert data.root.stat().st_mode & 0o777 == 0o700


def test_file_readable_by_others_is_replaced_by_a_private_one(tmp_path: Path):
    file = tmp_path / "token"
    file.write_text("old")
    file.chmod(0o644)
    write_private(file, "new")
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_data_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError) as caught:
        DataDir(tmp_path / "file" / "data").create()
    assert caught.value.code == "data_dir_unusable"


@pytest.mark.parametrize("text", ["", "{", "[1]", "null"])
def test_a_partly_written_file_is_ignored(tmp_path: Path, text: str):
    (tmp_path / "x.json").write_text(text)
    assert read_json(tmp_path / "x.json") is None
    assert read_json(tmp_path / "missing.json") is None


def test_the_option_wins_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PRISM_DATA_DIR", str(tmp_path / "env"))
    assert data_dir().root == tmp_path / "env"
    assert data_dir(tmp_path / "option").root == tmp_path / "option"
    monkeypatch.delenv("PRISM_DATA_DIR")
    assert data_dir().root.name == "prism"


def test_one_folder_has_one_spelling(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert data_dir(tmp_path / "link") == data_dir(tmp_path / "real" / ".." / "real")


@pytest.mark.parametrize("chosen", ["", " "])
def test_an_empty_data_folder_is_refused(chosen: str):
    with pytest.raises(CommandError) as caught:
        data_dir(chosen)
    assert caught.value.code == "data_dir_unusable"


def test_a_secret_that_prism_did_not_write_is_a_clear_error(tmp_path: Path):
    data = DataDir(tmp_path / "d")
    data.create()
    (data.root / "token").write_bytes(b"\xff\xfe\x00binary")
    with pytest.raises(CommandError) as caught:
        data.token()
    assert caught.value.code == "data_dir_unusable"
