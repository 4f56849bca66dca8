"""Which repository a request means."""

from datetime import UTC, datetime

import pytest

from prism_catalog.repositories import RepositoryCatalog
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import UPLOAD, Layer, LayerState, Repository
from prism_contracts.rpc.common import ScopedRequest

NAMES = ("acme/depot", "acme/van", "other/van")
REGISTERED = "acme/idle"


class Known:
    """Records of repositories that are being imported: nothing of them is counted."""

    def values(self) -> list[Repository]:
        idle = Repository(
            tenant="t", repo="id-idle", name=REGISTERED, source="https://x", created_at=datetime.now(UTC)
        )
        return [
            idle,
            *(
                Repository(
                    tenant="t", repo=f"id-{name}", name=name, source=UPLOAD, active_job="j", next_version=2,
                    created_at=datetime.now(UTC),
                )
                for name in NAMES
            ),
        ]  # fmt: skip


async def found(repo: str) -> list[str]:
    catalog = RepositoryCatalog(Known(), None, None)  # type: ignore[arg-type]
    target = await catalog.target(ScopedRequest(tenant="t", repo=repo))
    return [one.name for one in target.repositories]


@pytest.mark.parametrize(
    ("repo", "names"),
    [("acme/van", ["acme/van"]), ("ACME/Van", ["acme/van"]), ("depot", ["acme/depot"]), ("", list(NAMES))],
)
async def test_a_name_or_its_unique_last_part_is_found(repo, names):
    assert await found(repo) == names


@pytest.mark.parametrize(
    ("repo", "code"), [("van", ErrorCode.REPO_AMBIGUOUS), ("de", ErrorCode.REPO_NOT_FOUND)]
)
async def test_a_last_part_of_several_or_none_is_refused(repo, code):
    with pytest.raises(PrismError) as refused:
        await found(repo)
    assert refused.value.code is code


async def test_repositories_to_select_from_are_named():
    with pytest.raises(PrismError) as refused:
        await found("van")
    assert "X-Prism-Repo: acme/van, " in refused.value.body.next_action
    assert refused.value.body.details["repositories"] == [name for name in NAMES if name.endswith("/van")]


async def test_a_registered_repository_has_no_answers_yet():
    with pytest.raises(PrismError) as refused:
        await found(REGISTERED)
    assert refused.value.code is ErrorCode.REPO_NOT_INDEXED
    assert "reindex" in refused.value.body.next_action


async def test_a_changed_ref_is_not_answered_by_the_commit_of_the_old_one():
    now = datetime.now(UTC)
    served = LayerState(commit="a" * 40, ref="main", version=1, job="j", indexed_at=now)
    known = Repository(
        tenant="t", repo="r", name="acme/van", source="https://x", ref="topic", created_at=now, served=served
    )
    catalog = RepositoryCatalog(None, NoLayers(), None)  # type: ignore[arg-type]
    assert catalog._layer(known, "main") is None
    with pytest.raises(PrismError) as refused:
        catalog._layer(known, "topic")
    assert refused.value.code is ErrorCode.REF_NOT_FOUND


class NoLayers:
    """The layers of a repository that has none."""

    def find(self, *_: str) -> None:
        return None

    def shared(self, *_: str) -> list[Layer]:
        return []
