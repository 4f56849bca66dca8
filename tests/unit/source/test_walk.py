"""Which folders of a plain folder are not listed."""

import os
from pathlib import Path

import pytest

from prism_source.walk import walk_folder


def listed(root: Path) -> set[str]:
    return {file.path.decode() for file in walk_folder(os.fsencode(root))}


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n")


@pytest.mark.parametrize("folder", ["node_modules", "__pycache__", ".tox", ".mypy_cache", "lib/node_modules"])
def test_folders_of_tools_are_left_out(tmp_path, folder) -> None:
    write(tmp_path, f"{folder}/a.js", "src/a.js")
    assert listed(tmp_path) == {"src/a.js"}


def test_a_virtual_environment_is_left_out_whatever_its_name(tmp_path) -> None:
    write(tmp_path, "env/pyvenv.cfg", "env/lib/a.py", "app/a.py")
    assert listed(tmp_path) == {"app/a.py"}
    assert listed(tmp_path / "env") == {"pyvenv.cfg", "lib/a.py"}


def test_a_file_with_the_name_of_such_a_folder_is_listed(tmp_path) -> None:
    write(tmp_path, "node_modules")
    assert listed(tmp_path) == {"node_modules"}


def test_gitignore_can_keep_such_a_folder(tmp_path) -> None:
    write(tmp_path, "node_modules/a.js")
    (tmp_path / ".gitignore").write_text("!node_modules\n")
    assert listed(tmp_path) == {".gitignore", "node_modules/a.js"}
