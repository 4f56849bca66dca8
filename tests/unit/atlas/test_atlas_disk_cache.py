"""Values are popped once; a full cache evicts the oldest."""

import os

from prism_atlas.adapters.disk_cache import DiskCache
from prism_store.scope import Scope

SCOPES = [Scope(tenant="acme", repos=(repo,)) for repo in ("depot", "letters", "stamps")]


def test_value_is_popped_once(tmp_path):
    DiskCache(tmp_path / "states", 1_000).put(SCOPES[0], {"files": 3})
    cache = DiskCache(tmp_path / "states", 1_000)
    assert cache.pop(SCOPES[1]) is None
    assert cache.pop(SCOPES[0]) == {"files": 3}
    assert cache.pop(SCOPES[0]) is None


def test_full_cache_evicts_the_oldest_value(tmp_path):
    cache: DiskCache[bytes] = DiskCache(tmp_path, 250)
    for moment, scope in enumerate(SCOPES):
        cache.put(scope, bytes(100))
        (newest,) = [path for path in tmp_path.iterdir() if path.stat().st_mtime > len(SCOPES)]
        os.utime(newest, (moment, moment))
    assert [cache.pop(scope) for scope in SCOPES] == [None, bytes(100), bytes(100)]
