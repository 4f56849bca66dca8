"""Missing from the standard library: return of pages to the system. On Linux; elsewhere nothing happens."""

import ctypes
import sys
from pathlib import Path

_MADV_DONTNEED = 4  # asm-generic/mman-common.h
_IS_LINUX = sys.platform == "linux"


def release_pages(folder: Path) -> None:
    """Unmap the pages of the files below `folder`; needed ones return from the page cache.

    The engine maps whole files when it loads a segment, including room for growth, and keeps every page that
    it ever read.
    """
    if not _IS_LINUX:
        return
    libc = ctypes.CDLL(None)
    for line in Path("/proc/self/maps").read_text().splitlines():
        # <start>-<end> <permissions> <offset> <device> <inode> <path>
        span, permissions, _, _, _, *path = line.split(maxsplit=5)
        # Shared mappings only: in those no write is lost.
        if permissions.endswith("s") and path and Path(path[0]).is_relative_to(folder.resolve()):
            start, end = (int(edge, 16) for edge in span.split("-"))
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_DONTNEED)
