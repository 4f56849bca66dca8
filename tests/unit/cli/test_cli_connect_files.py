import os
import subprocess
from pathlib import Path

import pytest

from prism_cli.connect import files
from prism_cli.exits import CommandError


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_mode_is_kept_and_the_previous_file_is_beside_it(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_text("old")
    path.chmod(0o640)
    read = files.read(path)
    backup = files.replace(read, b"new", read.mode)
    assert (path.read_text(), mode(path)) == ("new", 0o640)
    assert backup
    assert (backup.read_text(), mode(backup), backup.parent) == ("old", 0o640, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_backups_do_not_replace_each_other(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_text("0")
    for number in range(1, 4):
        files.replace(files.read(path), str(number).encode(), 0o600)
    assert sorted(backup.read_text() for backup in tmp_path.glob("*.bak")) == ["0", "1", "2"]


def test_a_new_file_and_its_folder_are_made_readable_by_the_owner(tmp_path: Path):
    path = tmp_path / "a" / "b" / "settings.json"
    assert files.replace(files.read(path), b"{}", files.read(path).mode) is None
    assert (path.read_text(), mode(path)) == ("{}", 0o600)


def test_the_new_file_is_private_before_it_has_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "mcp.json"
    path.write_text("old")
    modes = []
    monkeypatch.setattr(os, "fsync", lambda handle: modes.append(os.fstat(handle).st_mode & 0o777))
    files.replace(files.read(path), b"secret", files.private_mode(files.read(path)))
    assert modes == [0o600, 0o600]


def test_a_link_is_followed_and_kept(tmp_path: Path):
    target = tmp_path / "dotfiles" / "mcp.json"
    target.parent.mkdir()
    target.write_text("old")
    link = tmp_path / "mcp.json"
    link.symlink_to(target)
    files.replace(files.read(link), b"new", 0o600)
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_file_that_changed_meanwhile_is_not_replaced(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_text("old")
    read = files.read(path)
    path.write_text("theirs")
    with pytest.raises(CommandError) as caught:
        files.replace(read, b"new", 0o600)
    assert "changed meanwhile" in caught.value.message
    assert [file.read_text() for file in tmp_path.iterdir()] == ["theirs"]


def test_a_failed_write_leaves_the_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "mcp.json"
    path.write_text("old")
    read = files.read(path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CommandError) as caught:
        files.replace(read, b"new", 0o600)
    assert "No space left" in caught.value.message
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_unreadable_files_are_reported(tmp_path: Path):
    (tmp_path / "latin").write_bytes(b"\xff")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(files.FILE_BYTES_MAX + 1)
    (tmp_path / "folder").mkdir()
    for name in ("latin", "loop", "large", "folder"):
        with pytest.raises(CommandError) as caught:
            files.read(tmp_path / name)
        assert caught.value.code == "client_file_unusable", name
        assert caught.value.next_action


def test_files_that_git_tracks_are_known(tmp_path: Path):
    path = tmp_path / "mcp.json"
    assert not files.is_tracked(path)
    path.write_text("{}")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert not files.is_tracked(path)
    subprocess.run(["git", "-C", tmp_path, "add", path.name], check=True)
    assert files.is_tracked(path)
