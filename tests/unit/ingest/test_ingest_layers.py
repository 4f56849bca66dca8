"""Which branch is which layer."""

from datetime import UTC, datetime

import pytest

from prism_contracts.base import BASE_LAYER
from prism_contracts.records import LayerState, Repository
from prism_ingest.core import layer_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


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
        # The default branch was renamed: what the forge says now counts.
        (repository(serves="master"), "main", "main", True),
        (repository(serves="master"), "master", "main", False),
        # A ref that was asked for is followed, whatever the default is.
        (repository("release", serves="release"), "release", "main", True),
        (repository("release", serves="release"), "main", "main", False),
        # Nobody knows yet: a look tells.
        (repository(), "main", "", True),
        (repository(), "topic", "main", False),
        # A poll names no branch.
        (repository("release"), "", "", True),
    ],
)
def test_the_base_is_the_branch_that_is_followed(known, branch, default, is_base) -> None:
    assert layer_of(known, branch, default) == (BASE_LAYER if is_base else None)
