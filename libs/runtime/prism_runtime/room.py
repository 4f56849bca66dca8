"""Free space on the disk: below a floor, writes are refused and reads still work.

Clients are refused first, at the full floor. Running imports may use its upper half. Below half of it,
services pause publishing and storing, and continue when space is freed. So NATS and the store never run into
a full disk, which they might not survive.
"""

import shutil
import time

from prism_contracts.errors import ErrorCode, PrismError

KEPT_S = 0.5  # how long a measurement is cached
MIB = 1024 * 1024


class Room:
    """The free space on the disk of a folder. Without a folder it is unlimited."""

    def __init__(self, folder: str, floor_bytes: int) -> None:
        self._folder = folder
        self._floor_bytes = floor_bytes
        self._free_bytes = 0
        self._looked_at = float("-inf")

    @property
    def is_known(self) -> bool:
        """Whether there is a folder."""
        return bool(self._folder)

    def is_short(self) -> bool:
        """Whether less than the floor is free."""
        return self.is_known and self.free_bytes() < self._floor_bytes

    def is_critical(self) -> bool:
        """Whether less than half of the floor is free."""
        return self.is_known and self.free_bytes() < self._floor_bytes // 2

    def free_bytes(self) -> int:
        """Returns the free space on the disk of the folder."""
        now = time.monotonic()
        if now - self._looked_at >= KEPT_S:
            self._free_bytes = shutil.disk_usage(self._folder).free
            self._looked_at = now
        return self._free_bytes

    def check(self) -> None:
        """Raise DISK_FULL if less than the floor is free."""
        if self.is_short():
            raise PrismError(
                ErrorCode.DISK_FULL,
                f"Prism's disk has {self._free_bytes // MIB:,} MiB left; writes need {self._floor_bytes // MIB:,} MiB.",
                "Free space on that disk, or lower PRISM_DISK_FREE_BYTES_MIN. Questions still work.",
                free_bytes=self._free_bytes,
                needed_bytes=self._floor_bytes,
            )
