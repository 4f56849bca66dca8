"""Anchors in memory, by what they are looked up by: a place, a state, a blob of a file.

It is a projection of the bucket of anchors, which each copy of workspace follows. A question costs what it finds, and
not how many anchors there are.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

from prism_contracts.records import UNCOMMITTED, AnchoredKind, AnchorsRecord

Group = TypeVar("Group", bound=Hashable)
_Keys = dict[str, None]  # a set in the order of insertion


class AnchorIndex:
    """The anchors of all tenants. Keys are those of the bucket."""

    def __init__(self) -> None:
        self._records: dict[str, AnchorsRecord] = {}
        # By tenant and repository: path -> blob of the last check -> keys.
        self._places: defaultdict[tuple[str, str], dict[str, dict[str, _Keys]]] = defaultdict(dict)
        self._uncommitted: defaultdict[tuple[str, str], _Keys] = defaultdict(dict)
        self._stale: defaultdict[tuple[str, AnchoredKind], _Keys] = defaultdict(dict)
        self._wanted: _Keys = {}

    def put(self, key: str, record: AnchorsRecord) -> None:
        """Take new or changed anchors."""
        self.remove(key)
        self._records[key] = record
        for one in record.anchors:
            place = (record.tenant, one.repo)
            self._places[place].setdefault(one.path, {}).setdefault(one.blob, {})[key] = None
            if one.stale:
                self._stale[record.tenant, record.kind][key] = None
                if one.stale.commit == UNCOMMITTED:
                    self._uncommitted[place][key] = None
        if record.wanted:
            self._wanted[key] = None

    def remove(self, key: str) -> None:
        """Forget anchors, known or not."""
        record = self._records.pop(key, None)
        self._wanted.pop(key, None)
        if record is None:
            return
        for one in record.anchors:
            self._leave_place(key, (record.tenant, one.repo), one.path, one.blob)
        _drop(self._stale, (record.tenant, record.kind), key)

    def _leave_place(self, key: str, place: tuple[str, str], path: str, blob: str) -> None:
        _drop(self._uncommitted, place, key)
        paths = self._places.get(place, {})
        blobs = paths.get(path, {})
        _drop(blobs, blob, key)
        if path in paths and not blobs:
            del paths[path]
        if place in self._places and not paths:
            del self._places[place]

    def get(self, key: str) -> AnchorsRecord | None:
        """Returns the anchors with this key."""
        return self._records.get(key)

    def wanted(self) -> list[AnchorsRecord]:
        """Returns what is not linked yet, of all tenants."""
        return self._of(self._wanted)

    def stale(self, tenant: str, kind: AnchoredKind) -> list[AnchorsRecord]:
        """Returns those of a kind of which an anchor is stale."""
        return self._of(self._stale.get((tenant, kind), {}))

    def at(self, tenant: str, repo: str, path: str) -> list[AnchorsRecord]:
        """Returns those that name a path of a repository, or something in it, in the order of their subjects."""
        blobs = self._places.get((tenant, repo), {}).get(path, {})
        found = self._of(dict.fromkeys(key for keys in blobs.values() for key in keys))
        return sorted(found, key=lambda one: (one.kind, one.subject))

    def repositories(self) -> list[tuple[str, str]]:
        """Returns every repository with anchors, as tenant and id."""
        return list(self._places)

    def of_repository(self, tenant: str, repo: str) -> list[AnchorsRecord]:
        """Returns those that name something in a repository."""
        paths = self._places.get((tenant, repo), {})
        return self._of(
            dict.fromkeys(key for blobs in paths.values() for keys in blobs.values() for key in keys)
        )

    def paths(self, tenant: str, repo: str) -> list[str]:
        """Returns the paths of a repository that have anchors."""
        return list(self._places.get((tenant, repo), {}))

    def differing(self, tenant: str, repo: str, blobs: Iterable[tuple[str, str]]) -> list[AnchorsRecord]:
        """Returns those whose last check saw another blob, of these paths and their blobs."""
        paths = self._places.get((tenant, repo), {})
        found: _Keys = {}
        for path, blob in blobs:
            for seen, keys in paths.get(path, {}).items():
                if seen != blob:
                    found |= keys
        return self._of(found)

    def uncommitted(self, tenant: str, repo: str) -> list[AnchorsRecord]:
        """Returns those that an edit of a repository without a commit made stale."""
        return self._of(self._uncommitted.get((tenant, repo), {}))

    def _of(self, keys: Iterable[str]) -> list[AnchorsRecord]:
        return [self._records[key] for key in keys]


def _drop(found: dict[Group, _Keys], group: Group, key: str) -> None:
    keys = found.get(group)
    if keys is not None:
        keys.pop(key, None)
        if not keys:
            del found[group]
