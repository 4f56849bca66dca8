"""The overlay of a work tree on a server, remembered between two runs: one small file per work tree and
server.
"""

import hashlib
from pathlib import Path

from prism_cli.stack.layout import MODE_FOLDER, DataDir, read_json, write_json


class RememberedOverlay:
    """The handle of a work tree's overlay on one server, kept in a file between runs."""

    def __init__(self, data: DataDir, url: str, root: Path) -> None:
        name = hashlib.sha256(f"{url}\0{root}".encode(errors="surrogateescape")).hexdigest()[:16]
        self._file = data.overlays / f"{name}.json"
        self._root = root

    def handle(self, repo: str) -> str:
        """Returns the handle of the overlay over a repository; empty if there is none."""
        known = read_json(self._file) or {}
        return str(known.get("handle", "")) if known.get("repo") == repo else ""

    def keep(self, repo: str, handle: str) -> None:
        """Remember the handle, and replace an earlier one."""
        self._file.parent.mkdir(mode=MODE_FOLDER, parents=True, exist_ok=True)
        write_json(self._file, {"repo": repo, "handle": handle, "folder": str(self._root)})

    def forget(self) -> None:
        """Forget the handle."""
        self._file.unlink(missing_ok=True)
