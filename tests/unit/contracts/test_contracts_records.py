"""The lag of the served state, and the keys of records."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from prism_contracts.base import BASE_LAYER, repo_id
from prism_contracts.records import (
    Indexed,
    Layer,
    LayerKind,
    LayerState,
    Repository,
    layer_key,
    record_key,
    repository_key,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SEEN = NOW - timedelta(seconds=7)


def state(commit: str, *, dirty: bool = False, version: int = 1) -> LayerState:
    return LayerState(commit=commit, dirty=dirty, version=version, job="j", indexed_at=SEEN)


@pytest.mark.parametrize(
    ("served", "active_job", "behind_s"),
    [
        (None, "j", 7),
        (state("a"), "", 7),
        (state("b"), "", 0),
        (state("b"), "j", 0),
        # Edits have no commit of their own: newer ones are pending.
        (state("b", dirty=True), "j", 7),
        (state("b", dirty=True), "", 0),
    ],
)
def test_a_known_unserved_commit_lags(served: LayerState | None, active_job: str, behind_s: float) -> None:
    indexed = Indexed(head_commit="b", head_seen_at=SEEN, served=served, active_job=active_job)
    assert indexed.lag_s(NOW) == behind_s


@pytest.mark.parametrize(("kind", "behind_s"), [(LayerKind.BRANCH, 7), (LayerKind.OVERLAY, 0)])
def test_a_layer_diffed_against_an_older_base_lags(kind: LayerKind, behind_s: float) -> None:
    base = Repository(
        tenant="t", repo="r", name="n", source="upload", created_at=NOW, served=state("a", version=2)
    )
    layer = Layer(
        tenant="t",
        repo="r",
        layer="l",
        kind=kind,
        ref="topic",
        created_at=NOW,
        served=state("b"),
        base_version=1,
    )
    assert layer.behind_s(base, NOW) == behind_s
    assert layer.model_copy(update={"base_version": 2}).behind_s(base, NOW) == 0


@pytest.mark.parametrize("part", ["", "*", ">", "a.b", "a b", "../..", "a\n", "é", "\ud800", "x" * 9_999])
def test_no_text_makes_a_key_that_the_bus_refuses(part) -> None:
    key = record_key("default", part)
    assert re.fullmatch(r"default\.=[0-9a-f]{64}", key)
    assert len({key, record_key("default", key.partition(".")[2]), record_key("default", part + "x")}) == 3


def test_an_ordinary_key_is_spelled_out() -> None:
    repo = repo_id("acme/app")
    assert repository_key("default", repo) == f"default.{repo}"
    assert layer_key("default", repo, BASE_LAYER) == f"default.{repo}.base"
