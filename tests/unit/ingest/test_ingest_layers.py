"""The layer of a branch, and a layer's diff before and after its base moves."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.base import BASE_LAYER, layer_id, variant_layer
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Layer, LayerFiles, LayerKind, LayerState, Repository
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import SnapshotFile
from prism_ingest.core.layers import (
    REBASE,
    REBASE_KEPT_MS,
    BaseChange,
    ListName,
    difference,
    exact_commit,
    is_in_use,
    layer_named,
    layer_of,
    layer_version,
    listed,
    rebased,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETTLES_S = 300
SERVED = LayerState(commit="c", ref="topic", version=7, job="i", indexed_at=NOW)


def repository(follows: str = "", serves: str | None = None) -> Repository:
    served = LayerState(commit="c", ref=serves or "", version=1, job="j", indexed_at=NOW)
    return Repository(
        tenant="t",
        repo="r",
        name="acme/app",
        source="https://git.example.org/acme/app",
        created_at=NOW,
        ref=follows,
        served=None if serves is None else served,
    )


@pytest.mark.parametrize(
    ("known", "branch", "default", "is_base"),
    [
        (repository(serves="main"), "main", "main", True),
        (repository(serves="main"), "topic", "main", False),
        (repository(serves="main"), "topic", "", False),
        (repository(serves="main"), "main", "", True),
        # The default branch was renamed: the event's name counts.
        (repository(serves="master"), "main", "main", True),
        (repository(serves="master"), "master", "main", False),
        # An explicit ref is followed, whatever the default branch is.
        (repository("release", serves="release"), "release", "main", True),
        (repository("release", serves="release"), "main", "main", False),
        # Not known yet: the fetch finds out.
        (repository(), "main", "", True),
        (repository(), "topic", "main", False),
        # A poll names no branch.
        (repository("release"), "", "", True),
    ],
)
def test_the_base_is_the_followed_branch(known, branch, default, is_base) -> None:
    assert layer_of(known, branch, default) == (BASE_LAYER if is_base else layer_id(branch))


def layer(ref: str, **changes) -> Layer:
    state = LayerState(commit="c", ref=ref, version=1, job="j", indexed_at=NOW)
    return Layer(
        tenant="t", repo="r", layer=layer_id(ref), kind=LayerKind.BRANCH, ref=ref, created_at=NOW, served=state,
    ).model_copy(update=changes)  # fmt: skip


def test_a_layer_is_found_by_name_and_near_names_suggested() -> None:
    known = repository(serves="main")
    edits = layer("topic/refund:7", kind=LayerKind.OVERLAY)
    layers = [layer("topic/refunds"), layer("pull/12"), layer("topic/unborn", served=None), edits]
    assert layer_named(known, layers, "main") is None
    assert layer_named(known, layers, "pull/12") == layers[1]
    for ref in ("topic/refund", "topic/unborn"):
        with pytest.raises(PrismError) as caught:
            layer_named(known, layers, ref)
        assert caught.value.code is ErrorCode.REF_NOT_FOUND
        assert caught.value.body.details["suggestions"] == ["topic/refunds"]


def test_versions_grow_even_if_the_clock_does_not() -> None:
    now_ms = int(NOW.timestamp() * 1000)
    assert layer_version(1, NOW) == now_ms
    assert layer_version(now_ms + 5, NOW) == now_ms + 5


@pytest.mark.parametrize(
    ("changes", "commit"),
    [
        ({}, "c"),
        ({"active_job": "j2", "next_version": 3}, "c"),
        ({"next_version": 3}, ""),  # an import has failed since
        ({"served": None}, ""),
    ],
)
def test_the_base_commit_is_certain_only_if_nothing_followed(changes, commit) -> None:
    known = repository(serves="main").model_copy(update={"next_version": 2} | changes)
    if known.served:
        known = known.model_copy(update={"served": known.served.model_copy(update={"basis": BASIS})})
    assert exact_commit(known, BASIS) == commit
    assert not exact_commit(known, "another model")


@pytest.mark.parametrize(
    ("known", "version", "is_used"),
    [
        (layer("topic", files="t.r.topic.7"), 7, True),
        (layer("topic", files="t.r.topic.7"), 6, False),
        (layer("topic", files="t.r.topic.7", served=SERVED, active_job="j", next_version=10), 9, True),
        (layer("topic", files="t.r.topic.7", served=SERVED, active_job="j", next_version=10), 6, False),
        (layer("topic", files="t.r.topic.7", served=SERVED, next_version=10), 9, False),
        (None, 7, False),
    ],
)
def test_a_list_is_in_use_by_its_layer_or_its_active_job(known, version, is_used) -> None:
    assert is_in_use(ListName("t", "r", "topic", version), known, NOW, SETTLES_S) == is_used


@pytest.mark.parametrize("known", [layer("topic", files="t.r.topic.7", next_version=8), None])
def test_a_new_list_is_in_use_before_its_layer_names_it(known) -> None:
    now_ms = int(NOW.timestamp() * 1000)
    assert is_in_use(ListName("t", "r", "topic", now_ms - SETTLES_S * 1000 + 1), known, NOW, SETTLES_S)
    assert not is_in_use(ListName("t", "r", "topic", now_ms - SETTLES_S * 1000), known, NOW, SETTLES_S)


def test_a_list_of_a_rebase_is_in_use_for_a_day() -> None:
    now_ms = int(NOW.timestamp() * 1000)
    assert is_in_use(ListName("t", "r", f"{REBASE}-1", now_ms - REBASE_KEPT_MS + 1), None, NOW, SETTLES_S)
    assert not is_in_use(ListName("t", "r", f"{REBASE}-1", now_ms - REBASE_KEPT_MS), None, NOW, SETTLES_S)


# A tree: blob by path.
TREES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["1" * 40, "2" * 40, "3" * 40]))
BASIS = "basis"


def files_of(tree: dict[str, str]) -> list[SnapshotFile]:
    return [SnapshotFile(path=path, blob=blob, size_bytes=1) for path, blob in sorted(tree.items())]


def over(tree: dict[str, str], base: dict[str, str]) -> LayerFiles:
    """Returns the diff of a tree against a base."""
    entries = [
        ManifestEntry(path=path, blob=blob, generation="", status="indexed") for path, blob in base.items()
    ]
    files = files_of(tree)
    found = difference(files, entries)
    changed = [files[number] for number in found.files]
    variants = {file.path: variant_layer(file.path, file.blob, BASIS) for file in changed}
    return LayerFiles(variants=variants, hidden=found.hidden)


def seen(layer_files: LayerFiles, base: dict[str, str]) -> dict[str, str]:
    """Returns the visible variant of each path."""
    own = layer_files.variants
    below = {
        path: variant_layer(path, blob, BASIS)
        for path, blob in base.items()
        if path not in layer_files.hidden
    }
    return {**below, **own}


def as_variants(tree: dict[str, str]) -> dict[str, str]:
    return {path: variant_layer(path, blob, BASIS) for path, blob in tree.items()}


@given(tree=TREES, base=TREES)
def test_a_layer_shows_its_tree(tree, base) -> None:
    made = over(tree, base)
    assert seen(made, base) == as_variants(tree)
    assert made.variants.keys().isdisjoint(made.hidden)


@given(tree=TREES, old=TREES, new=TREES)
def test_a_rebased_layer_equals_a_fresh_diff(tree, old, new) -> None:
    before, after = ({file.path: file for file in files_of(base)} for base in (old, new))
    changes = [
        BaseChange(path, before.get(path), after.get(path))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]
    assert rebased(over(tree, old), changes, BASIS) == over(tree, new)


@given(tree=TREES, base=TREES)
def test_an_uploaded_layer_counts_files_without_content(tree, base) -> None:
    whole, missing = listed(tree, base, BASIS, set(as_variants(tree).values()))
    assert (whole.variants, whole.hidden, missing) == (over(tree, base).variants, over(tree, base).hidden, 0)
    bare, missing = listed(tree, base, BASIS, set())
    assert (bare.variants, bare.listing, missing) == ({}, tree, len(whole.variants))
