"""The index of anchors finds what a walk through all records finds, whatever is written and removed."""

import random
from datetime import UTC, datetime

import pytest

from prism_contracts.records import (
    UNCOMMITTED,
    Anchor,
    AnchoredKind,
    AnchorKind,
    AnchorsRecord,
    Staleness,
    StaleReason,
    WantedLinks,
)
from prism_workspace.core.anchor_index import AnchorIndex

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TENANTS, REPOS, PATHS, BLOBS = ("acme", "other"), ("r1", "r2"), ("a.py", "b.py", "c.py"), ("", "b1", "b2")
STEPS = 300


def anchor(dice: random.Random) -> Anchor:
    commit = dice.choice(("", "c1", UNCOMMITTED))
    return Anchor(
        repo=dice.choice(REPOS),
        kind=AnchorKind.FILE,
        path=dice.choice(PATHS),
        commit="c0",
        blob=dice.choice(BLOBS),
        stale=Staleness(reason=StaleReason.FILE_GONE, commit=commit, found_at=NOW) if commit else None,
    )


def record(dice: random.Random) -> AnchorsRecord:
    wanted = (WantedLinks(content="w", wanted_at=NOW),) if dice.random() < 0.3 else ()
    return AnchorsRecord(
        tenant=dice.choice(TENANTS),
        kind=dice.choice(list(AnchoredKind)),
        subject=f"s{dice.randrange(12)}",
        wanted=wanted,
        anchors=tuple(anchor(dice) for _ in range(dice.randrange(4))),
    )


def keys(records) -> list[str]:
    return sorted(one.key for one in records)


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_what_a_walk_through_all_records_finds(seed) -> None:
    dice = random.Random(seed)
    index, written = AnchorIndex(), {}
    for _ in range(STEPS):
        one = record(dice)
        if dice.random() < 0.3:
            index.remove(one.key)
            written.pop(one.key, None)
        else:
            index.put(one.key, one)
            written[one.key] = one
        assert index.get(one.key) == written.get(one.key)
        compare(index, list(written.values()))
    for key in written:
        index.remove(key)
    assert index.repositories() == []


def compare(index: AnchorIndex, records: list[AnchorsRecord]) -> None:
    assert keys(index.wanted()) == keys(one for one in records if one.wanted)
    for tenant in TENANTS:
        of_tenant = [one for one in records if one.tenant == tenant]
        for kind in AnchoredKind:
            stale = [one for one in of_tenant if one.kind is kind and any(a.stale for a in one.anchors)]
            assert keys(index.stale(tenant, kind)) == keys(stale)
        for repo in REPOS:
            compare_repository(index, of_tenant, tenant, repo)


def compare_repository(index: AnchorIndex, records: list[AnchorsRecord], tenant: str, repo: str) -> None:
    def having(condition) -> list[str]:
        return keys(one for one in records if any(a.repo == repo and condition(a) for a in one.anchors))

    paths = {a.path for one in records for a in one.anchors if a.repo == repo}
    assert set(index.paths(tenant, repo)) == paths
    assert ((tenant, repo) in index.repositories()) is bool(paths)
    for path in PATHS:
        assert keys(index.at(tenant, repo, path)) == having(lambda a, path=path: a.path == path)
    blobs = dict(zip(PATHS, BLOBS, strict=True))
    assert keys(index.differing(tenant, repo, blobs.items())) == having(lambda a: a.blob != blobs[a.path])
    assert keys(index.uncommitted(tenant, repo)) == having(
        lambda a: a.stale and a.stale.commit == UNCOMMITTED
    )
