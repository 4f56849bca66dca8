"""What is put down is taken once; past the size of a shelf the oldest goes."""

import os

from prism_atlas.adapters.disk_cache import DiskCache
from prism_store.scope import Scope

SCOPES = [Scope(tenant="acme", repos=(repo,)) for repo in ("depot", "letters", "stamps")]


def test_what_is_put_down_is_taken_once(tmp_path):
    DiskCache(tmp_path / "states", 1_000).put(SCOPES[0], {"files": 3})
    cache = DiskCache(tmp_path / "states", 1_000)
    assert cache.pop(SCOPES[1]) is None
    assert cache.pop(SCOPES[0]) == {"files": 3}
    assert cache.pop(SCOPES[0]) is None


def test_past_its_size_a_shelf_loses_what_was_put_down_first(tmp_path):
    cache: DiskCache[bytes] = DiskCache(tmp_path, 250)
    for moment, scope in enumerate(SCOPES):
        cache.put(scope, bytes(100))
        (newest,) = [path for path in tmp_path.iterdir() if path.stat().st_mtime > len(SCOPES)]
        os.utime(newest, (moment, moment))
    assert [cache.pop(scope) for scope in SCOPES] == [None, bytes(100), bytes(100)]
