import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.base import (
    CHUNKS_MAX,
    chunk_id,
    file_id,
    file_of,
    generation,
    is_of_generation,
    ordinal_of,
    repo_id,
)

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
    """Names contain no NUL: paths, layers and tenants are validated at the boundary."""
    assert (file_id(one[0], REPO, *one[1:]) == file_id(other[0], REPO, *other[1:])) == (one == other)


def test_a_generation_depends_on_content_chunker_and_model():
    address = generation("b" * 40, "1", "m")
    assert len(address) == 16
    assert address == generation("b" * 40, "1", "m")
    changed = {generation("c" * 40, "1", "m"), generation("b" * 40, "2", "m"), generation("b" * 40, "1", "n")}
    assert len(changed | {address}) == 4


def test_a_chunk_id_holds_file_generation_and_position():
    file, address = file_id("t", REPO, "base", "a.py"), generation("b" * 40, "1", "m")
    for ordinal in (0, 3, CHUNKS_MAX - 1):
        chunk = chunk_id(file, address, ordinal)
        assert uuid.UUID(chunk).variant == uuid.RFC_4122
        assert uuid.UUID(chunk).version == uuid.UUID(file).version == 8
        assert (file_of(chunk), ordinal_of(chunk)) == (file, ordinal)
        assert is_of_generation(chunk, address)
        assert not is_of_generation(chunk, generation("c" * 40, "1", "m"))
    for ordinal in (-1, CHUNKS_MAX):
        with pytest.raises(ValueError, match="at most"):
            chunk_id(file, address, ordinal)


def test_ids_are_pinned():
    """Existing indexes use these ids; another derivation would orphan every point."""
    file = file_id("default", REPO, "base", "tracker/routes.py")
    assert file == "f8272859-8f57-8cd6-9a9a-000000000000"
    assert generation("b" * 40, "1", "m") == "5ee81c91c7eacba8"
    assert chunk_id(file, "5ee81c91c7eacba8", 3) == "f8272859-8f57-8cd6-9a9a-5ee81c910004"
