"""Groups of repositories: `@backend` in place of a name."""

from prism_contracts import names
from prism_contracts.records import Group, group_key
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords

MARK = "@"


class Groups:
    """The groups of all tenants. An in-memory copy follows the bucket."""

    def __init__(self) -> None:
        self._watched: WatchedRecords[Group] | None = None

    async def open(self, bus: Bus) -> None:
        """Start following the bucket. Returns once the copy is complete."""
        self._watched = await bus.follow(names.KV_GROUPS, Group)

    def members(self, tenant: str, name: str) -> frozenset[str] | None:
        """Returns the names of the repositories of `@name`, in lower case; None if there is no such group."""
        found = self._watched.get(group_key(tenant, name.removeprefix(MARK))) if self._watched else None
        return frozenset(map(str.lower, found.repos)) if found else None


def is_group(name: str) -> bool:
    """Whether a name is that of a group, not of a repository."""
    return name.startswith(MARK) and "/" not in name
