"""Whether the disk has room to write: below a floor of free space, writes are refused and reads go on.

Clients are refused first, at the whole floor. What is under way already may use the upper half; below the lower half services
wait with what they publish and store, and go on by themselves when there is room again. So neither NATS nor the store ever
meets a full disk, which both may not survive.
"""

import shutil
import time

from prism_contracts.errors import ErrorCode, PrismError

KEPT_S = 0.5  # for how long a figure is used
MIB = 1024 * 1024


class Room:
    """The free space of the disk that a folder is on. Without a folder there is always room."""

    def __init__(self, folder: str, floor_bytes: int) -> None:
        self._folder = folder
        self._floor_bytes = floor_bytes
        self._free_bytes = 0
        self._looked_at = float("-inf")

    def is_short(self) -> bool:
        """Whether less than the floor is free."""
        return bool(self._folder) and self._free() < self._floor_bytes

    def is_critical(self) -> bool:
        """Whether less than half of the floor is free."""
        return bool(self._folder) and self._free() < self._floor_bytes // 2

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

    def _free(self) -> int:
        now = time.monotonic()
        if now - self._looked_at >= KEPT_S:
            self._free_bytes = shutil.disk_usage(self._folder).free
            self._looked_at = now
        return self._free_bytes
