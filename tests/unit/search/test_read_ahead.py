from datetime import UTC, datetime

import pytest

from prism_catalog.repositories import RepositoryCatalog
from prism_contracts.records import LayerState, Repository
from prism_search.adapters.facts import Facts
from prism_search.adapters.listing import Listing
from prism_search.adapters.manifests import Manifests
from prism_search.adapters.texts import Texts
from prism_search.operations import read_ahead
from prism_search.operations.read_ahead import ReadAhead
from prism_store.reader import StoredPoint

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def repository(repo: str, tenant: str = "t", files: int = 1, active_job: str = "") -> Repository:
    state = LayerState(commit="c", version=1, job="j", indexed_at=NOW, files=files)
    return Repository(
        tenant=tenant, repo=repo, name=f"o/{repo}", source="upload", created_at=NOW, next_version=2, served=state,
        active_job=active_job,
    )  # fmt: skip


class FakeReader:
    """Has one file per repository, and counts the lists of files with their signatures."""

    def __init__(self) -> None:
        self.listed: list[tuple[str, ...]] = []

    async def points(self, scope, ids, fields):
        return {}

    async def scan(self, scope, conditions, fields, page=0):
        if page:
            self.listed.append(scope.repos)
            for repo in scope.repos:
                payload = {
                    "scope": f"{repo}/base",
                    "path": "a.py",
                    "version": 1,
                    "status": "indexed",
                    "grams": "",
                }
                yield StoredPoint(repo, 0.0, payload)


class Known:
    """The records of repositories."""

    def __init__(self, *found: Repository) -> None:
        self.found = found

    def values(self):
        return self.found


def ahead_of(reader: FakeReader, *found: Repository) -> tuple[ReadAhead, Listing, RepositoryCatalog]:
    catalog = RepositoryCatalog(Known(*found), None, reader)  # type: ignore[arg-type]
    listing = Listing(reader)  # type: ignore[arg-type]
    manifests = Manifests(Texts(reader, 1_000))  # type: ignore[arg-type]
    return ReadAhead(catalog, Facts(reader), listing, manifests), listing, catalog  # type: ignore[arg-type]


async def test_files_of_each_tenant_are_listed_before_a_question():
    reader = FakeReader()
    ahead, listing, catalog = ahead_of(reader, repository("a"), repository("b"), repository("c", tenant="u"))
    for _ in range(2):
        await ahead.read()
    assert reader.listed == [("a", "b"), ("c",)]
    await listing.files(catalog.everything(catalog.each()[0]))
    assert reader.listed == [("a", "b"), ("c",)]


@pytest.mark.parametrize(("files", "lists"), [(5, 1), (6, 0)])
async def test_long_lists_are_read_on_demand(files, lists, monkeypatch):
    monkeypatch.setattr(read_ahead, "LISTED_FILES_MAX", 5)
    reader = FakeReader()
    ahead, *_ = ahead_of(reader, repository("a", files=files))
    await ahead.read()
    assert len(reader.listed) == lists


async def test_nothing_is_listed_during_an_import():
    reader = FakeReader()
    ahead, *_ = ahead_of(reader, repository("a", active_job="j2"))
    await ahead.read()
    assert reader.listed == []
