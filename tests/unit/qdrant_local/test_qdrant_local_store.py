"""The store on a folder, without HTTP."""

import pytest

from prism_qdrant_local.errors import Refusal
from prism_qdrant_local.state import CollectionState, State, load_state, save_state
from prism_qdrant_local.store import Store

VECTORS = {"fast": {"size": 4, "distance": "Cosine"}}


def alias(name: str, collection: str) -> tuple[str, dict[str, str]]:
    return "create_alias", {"alias_name": name, "collection_name": collection}


def test_saved_state_is_loaded_unchanged(tmp_path) -> None:
    state = State({"c": CollectionState(VECTORS, {"path": {"type": "keyword"}}, {"model": "m"})}, {"a": "c"})
    save_state(tmp_path / "state.json", state)
    assert load_state(tmp_path / "state.json") == state
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_state_of_a_later_format_is_not_guessed_at(tmp_path) -> None:
    (tmp_path / "state.json").write_text('{"version": 2}')
    with pytest.raises(RuntimeError, match="format 2"):
        load_state(tmp_path / "state.json")


def test_collections_and_aliases_survive_a_restart(tmp_path) -> None:
    store = Store(tmp_path)
    store.create("c", VECTORS, None)
    store.change_aliases([alias("now", "c")])
    store.close()
    again = Store(tmp_path)
    assert again.get("now").name == "c"
    again.close()


def test_deleting_a_collection_deletes_its_folder_and_aliases(tmp_path) -> None:
    store = Store(tmp_path)
    store.create("c", VECTORS, None)
    store.change_aliases([alias("now", "c")])
    assert store.drop("c")
    assert (store.aliases, list((tmp_path / "collections").iterdir())) == ({}, [])
    assert not store.drop("c")


def test_alias_actions_apply_together_or_not_at_all(tmp_path) -> None:
    store = Store(tmp_path)
    store.create("c", VECTORS, None)
    with pytest.raises(Refusal):
        store.change_aliases([alias("now", "c"), alias("next", "missing")])
    assert store.aliases == {}
    store.close()


def test_a_name_is_either_a_collection_or_an_alias(tmp_path) -> None:
    store = Store(tmp_path)
    store.create("c", VECTORS, None)
    store.change_aliases([alias("now", "c")])
    with pytest.raises(Refusal):
        store.create("now", VECTORS, None)
    with pytest.raises(Refusal):
        store.change_aliases([alias("c", "c")])
    store.close()


@pytest.mark.parametrize("name", ["", ".", "..", "../c", "a/b", "a\\b", "a\0", "x" * 256, "ü" * 128])
def test_invalid_names_are_refused(tmp_path, name) -> None:
    with pytest.raises(Refusal):
        Store(tmp_path).create(name, VECTORS, None)


@pytest.mark.parametrize("name", ["c", "prism_tenant_model", "ü" * 127, "a b", "%2e"])
def test_valid_names_are_accepted(tmp_path, name) -> None:
    store = Store(tmp_path)
    store.create(name, VECTORS, None)
    assert store.get(name).name == name
    store.close()
