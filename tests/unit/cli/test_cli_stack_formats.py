"""The format of a data folder is checked before anything reads it."""

import json

import pytest

from prism_cli.exits import CommandError
from prism_cli.stack import formats
from prism_cli.stack.layout import DataDir
from prism_cli.stack.lock import UpLock
from prism_store import schema


@pytest.fixture
def data(tmp_path) -> DataDir:
    data = DataDir(tmp_path / "data")
    data.create()
    return data


def collection(data: DataDir, name: str) -> None:
    (data.qdrant / "collections" / name).mkdir(parents=True)


def refusal(data: DataDir) -> str:
    with pytest.raises(CommandError) as caught:
        formats.check(data)
    return caught.value.code


def test_the_layout_is_that_of_the_store():
    assert formats.LAYOUT == schema.LAYOUT
    assert formats._COLLECTION.fullmatch(schema.collection("a-team", "35bda3ca8c93"))


def test_a_new_folder_is_marked(data):
    formats.check(data)
    assert json.loads((data.root / formats.MARKER).read_text()) == {"format": 1, "layout": schema.LAYOUT}
    formats.check(data)


def test_a_current_folder_without_a_mark_is_marked(data):
    collection(data, schema.collection("default", "35bda3ca8c93"))
    formats.check(data)
    assert (data.root / formats.MARKER).exists()


def test_a_newer_folder_is_refused_and_unchanged(data):
    marker = data.root / formats.MARKER
    marker.write_text('{"format": 999, "layout": 3}')
    assert refusal(data) == "data_dir_newer"
    assert json.loads(marker.read_text())["format"] == 999


def test_an_unreadable_mark_is_refused(data):
    (data.root / formats.MARKER).write_text("{")
    assert refusal(data) == "data_dir_unusable"


@pytest.mark.parametrize("known_by", ["its folder", "the state file"])
def test_an_index_of_another_layout_is_refused(data, known_by):
    name = f"prism_default_35bda3ca8c93_{schema.LAYOUT - 1}"
    if known_by == "its folder":
        collection(data, name)
    else:
        (data.qdrant / "state.json").write_text(json.dumps({"version": 1, "collections": {name: {}}}))
    assert refusal(data) == "data_dir_outdated"
    assert not (data.root / formats.MARKER).exists()


def test_an_old_index_is_set_aside_and_kept(data):
    name = f"prism_default_35bda3ca8c93_{schema.LAYOUT - 1}"
    collection(data, name)
    aside = formats.set_index_aside(data)
    assert aside is not None
    assert (aside / "collections" / name).is_dir()
    data.create()
    formats.check(data)
    assert formats.set_index_aside(data) is None


def test_the_index_of_a_running_stack_is_not_set_aside(data):
    collection(data, schema.collection("default", "35bda3ca8c93"))
    lock = UpLock(data.lock_file)
    assert lock.take()
    with pytest.raises(CommandError) as caught:
        formats.set_index_aside(data)
    lock.release()
    assert caught.value.code == "already_running"
