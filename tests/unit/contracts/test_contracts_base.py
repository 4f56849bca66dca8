import uuid

from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.base import chunk_id, file_id, generation, repo_id

REPO = "437031e3-faf3-5147-8e2a-46881d3cd581"
names = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=3)
files = st.tuples(names, names, names)  # tenant, layer, path


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_a_repository_id_is_the_uuid5_of_the_lower_case_name(name):
    assert repo_id(name) == str(uuid.uuid5(uuid.NAMESPACE_DNS, name.lower()))


def test_a_repository_is_the_same_in_any_case():
    assert repo_id("Acme/Parcel-Tracker") == repo_id("acme/parcel-tracker") == REPO


@given(files, files)
def test_files_differ_if_tenant_layer_or_path_differ(one, other):
    """No name holds a NUL: paths, layers and tenants are checked where they come in."""
    assert (file_id(one[0], REPO, *one[1:]) == file_id(other[0], REPO, *other[1:])) == (one == other)


def test_what_an_index_holds_is_a_function_of_content_chunker_and_model():
    address = generation("b" * 40, "1", "m")
    assert len(address) == 16
    assert address == generation("b" * 40, "1", "m")
    changed = {generation("c" * 40, "1", "m"), generation("b" * 40, "2", "m"), generation("b" * 40, "1", "n")}
    assert len(changed | {address}) == 4


def test_ids_are_pinned():
    """They are in people's indexes: another derivation would orphan every point."""
    file = file_id("default", REPO, "base", "tracker/routes.py")
    assert file == "86db41ec-0937-53ac-ba12-07295bd24cea"
    assert generation("b" * 40, "1", "m") == "5ee81c91c7eacba8"
    assert chunk_id(file, "5ee81c91c7eacba8", 3) == "64efe2e8-f145-57c6-aeec-6ba5bd7b032d"
