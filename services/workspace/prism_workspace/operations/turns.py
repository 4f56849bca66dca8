"""Turns of those who move the branch of a tenant.

Compare-and-set alone lets one of many writers lose again and again, so those of a process take turns, and only
copies of the service race.
"""

import asyncio
from collections import defaultdict


class BranchTurns:
    """A lock for each tenant."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def of(self, tenant: str) -> asyncio.Lock:
        """Returns the lock of a tenant."""
        return self._locks[tenant]
