"""What is put down is taken once; past the size of a shelf the oldest goes."""

import os

from prism_atlas.adapters.shelf import Shelf
from prism_store.scope import Scope

SCOPES = [Scope(tenant="acme", repos=(repo,)) for repo in ("depot", "letters", "stamps")]


def test_what_is_put_down_is_taken_once(tmp_path):
    Shelf(tmp_path / "shelf", 1_000).put(SCOPES[0], {"files": 3})
    shelf = Shelf(tmp_path / "shelf", 1_000)
    assert shelf.take(SCOPES[1]) is None
    assert shelf.take(SCOPES[0]) == {"files": 3}
    assert shelf.take(SCOPES[0]) is None


def test_past_its_size_a_shelf_loses_what_was_put_down_first(tmp_path):
    shelf: Shelf[bytes] = Shelf(tmp_path, 250)
    for moment, scope in enumerate(SCOPES):
        shelf.put(scope, bytes(100))
        (newest,) = [path for path in tmp_path.iterdir() if path.stat().st_mtime > len(SCOPES)]
        os.utime(newest, (moment, moment))
    assert [shelf.take(scope) for scope in SCOPES] == [None, bytes(100), bytes(100)]
