"""Reads the names that each repository defines, once, and then only those of changed files.

A name stays after its last definition is gone, because callers look up what they are given.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field

from prism_catalog.target import Target
from prism_contracts.code import ASIDE, FileStatus
from prism_contracts.records import Repository
from prism_search.core.near_names import KnownNames, NearName
from prism_store.reader import Reader, StoredPoint, newer_than, with_status
from prism_store.scope import Scope

FIELDS = ("scope", "names", "flags", "prose")
# Names of all repositories in memory, some 100 bytes each; those of the repository asked last stay.
NAMES_MAX = 2_000_000


@dataclass
class _Names:
    """The names of a repository, and the version of the import from which files are to be read again."""

    source: set[str] = field(default_factory=set)
    aside: set[str] = field(default_factory=set)
    version: int = 0
    compared: KnownNames | None = None

    def add(self, point: StoredPoint) -> None:
        names = point.payload.get("names")
        if isinstance(names, list) and not point.payload.get("prose"):
            (self.aside if ASIDE.intersection(point.text("flags")) else self.source).update(names)

    def known(self) -> KnownNames:
        """Returns the names, sorted when they are first needed."""
        if self.compared is None:
            self.compared = KnownNames(self.source, self.aside)
        return self.compared


class NameReader:
    """Finds names near to a requested one."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._repositories: OrderedDict[str, _Names] = OrderedDict()
        self._reading = asyncio.Lock()

    async def near(self, target: Target, asked: tuple[str, ...]) -> list[NearName]:
        """Returns the names nearest to the components of a name, best first."""
        async with self._reading:  # the second caller finds what the first one read
            read = [await self._read(repository) for repository in target.repositories]
            added = await self._added(target)
        near = await asyncio.to_thread(_nearest, [*read, added], asked)
        self._forget_oldest()
        return near

    async def _read(self, repository: Repository) -> _Names:
        names = self._repositories.setdefault(repository.key, _Names())
        self._repositories.move_to_end(repository.key)
        if names.version != repository.next_version:
            scope = Scope(repository.tenant, (repository.repo,))
            status = with_status(FileStatus.INDEXED)
            conditions = [status, newer_than(names.version - 1)] if names.version else [status]
            async for point in self._reader.scan(scope, conditions, FIELDS):
                names.add(point)
            names.compared = None
        # A running import still writes files of its version.
        if repository.is_quiet:
            names.version = repository.next_version
        return names

    async def _added(self, target: Target) -> _Names:
        """Returns the names in the files of the target's layer."""
        names = _Names()
        async for point in self._reader.scan_added(target.scope, [with_status(FileStatus.INDEXED)], FIELDS):
            names.add(point)
        return names

    def _forget_oldest(self) -> None:
        while len(self._repositories) > 1 and self._count() > NAMES_MAX:
            self._repositories.popitem(last=False)

    def _count(self) -> int:
        return sum(len(names.source) + len(names.aside) for names in self._repositories.values())


def _nearest(every: list[_Names], asked: tuple[str, ...]) -> list[NearName]:
    return sorted({near for names in every for near in names.known().near(asked)})
