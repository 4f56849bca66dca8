"""Tests which files of a layer are listed, and what is cached."""

import gc
import weakref
from datetime import UTC, datetime

import pytest

from prism_catalog.target import Target
from prism_contracts.base import file_id
from prism_contracts.records import LayerState, Repository
from prism_search.adapters.listing import Listing
from prism_store.reader import StoredPoint
from prism_store.scope import Scope, View

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TENANT, REPO, VARIANT = "t", "r", "~v"
ID = file_id(TENANT, REPO, VARIANT, "kiln.py")


def at_layer(served: int = 1, layer: str = "topic") -> Target:
    state = LayerState(commit="c", version=served, job="j", indexed_at=NOW)
    repository = Repository(
        tenant=TENANT, repo=REPO, name="o/n", source="upload", created_at=NOW, next_version=served + 1, served=state
    )  # fmt: skip
    view = View.of((f"files of {layer}",), (TENANT, REPO), {"kiln.py": VARIANT}, ())
    return Target(Scope(TENANT, (REPO,), view=view), (repository,))


def point(id_: str, path: str, version: int, status: str = "indexed") -> StoredPoint:
    payload = {"scope": f"{REPO}/base", "path": path, "version": version, "status": status, "grams": ""}
    return StoredPoint(id_, 0.0, payload)


class FakeReader:
    """Has a file of the base, optionally files of a layer, and counts the reads of the latter."""

    def __init__(self) -> None:
        self.version = 1
        self.own: list[StoredPoint] = []
        self.asked = 0

    async def points(self, scope, ids, fields):
        self.asked += 1
        return {found.id: found for found in self.own if found.id in ids}

    async def scan(self, scope, conditions, fields, page):
        yield point("base", "glaze.py", self.version)


async def paths(listing: Listing, target: Target) -> list[str]:
    return [found.text("path") for found in (await listing.files(target)).points]


@pytest.mark.parametrize("before", [[], [point(ID, "kiln.py", 7, "failed")]], ids=["missing", "failed"])
async def test_layer_file_is_listed_once_it_is_indexed(before):
    reader = FakeReader()
    listing = Listing(reader)
    reader.own = before
    assert await paths(listing, at_layer()) == ["glaze.py"]
    reader.own = [point(ID, "kiln.py", 8)]
    for _ in range(2):
        assert await paths(listing, at_layer()) == ["glaze.py", "kiln.py"]
    assert reader.asked == 2


@pytest.mark.parametrize(
    ("status", "listed"), [("indexed", ["glaze.py", "kiln.py"]), ("skipped", ["glaze.py"])]
)
async def test_settled_layer_files_are_read_once(status, listed):
    reader = FakeReader()
    listing = Listing(reader)
    reader.own = [point(ID, "kiln.py", 7, status)]
    for version in (1, 2):
        reader.version = version
        assert await paths(listing, at_layer(version)) == listed
        assert await listing.files(at_layer(version)) is await listing.files(at_layer(version))
    assert reader.asked == 1


async def test_unused_layers_hold_no_older_base():
    reader = FakeReader()
    listing = Listing(reader)
    older = weakref.ref((await listing.files(at_layer())).base)
    reader.version = 2
    await listing.files(at_layer(2, "other"))
    gc.collect()
    assert older() is None
