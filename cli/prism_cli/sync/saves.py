"""Reports saves in a work tree: of files that git does not ignore, and of the checked-out commit.

Watches each folder that is not ignored on its own. A watch on the whole tree would cost a handle per folder
of node_modules, and wake up for each file that a build writes.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import TracebackType
from typing import Self

from watchfiles._rust_notify import RustNotify

from prism_cli.exits import CommandError
from prism_source.checkout import Checkout

# A save is reported when no other follows within a step; a flood of saves, after the limit.
STEP_MS = 25
DEBOUNCE_MS = 400
# The polling interval where the system cannot report changes (WATCHFILES_FORCE_POLLING).
POLL_MS = 300
GIT = ".git"
GITIGNORE = ".gitignore"
# Files that git writes at a checkout or when changes are staged.
GIT_FILES = frozenset({"HEAD", "index"})
# A folder may vanish after it is listed and before it is watched.
ATTEMPTS_MAX = 5


class Saves:
    """A context manager; `wait` blocks, and `end` ends it from another thread."""

    def __init__(self, checkout: Checkout) -> None:
        self._checkout = checkout
        self._git_dir = str(checkout.git_dir)
        self._ended = threading.Event()
        self._folders: AbstractSet[str] = frozenset()
        self._notify: RustNotify | None = None

    def __enter__(self) -> Self:
        self._look_at_folders()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def end(self) -> None:
        """Make `wait` return now, and at every later call."""
        self._ended.set()

    def wait(self, seconds_max: float) -> bool:
        """Whether something was saved since the last call. Returns at once after a save, else after a while.
        Raises PrismError.
        """
        assert self._notify is not None
        # Zero milliseconds would mean without limit.
        shown = self._notify.watch(DEBOUNCE_MS, STEP_MS, max(1, int(1000 * seconds_max)), self._ended)
        if isinstance(shown, str):
            return False
        paths = {path for _, path in shown}
        if any(self._is_about_folders(path) for path in paths):
            self._look_at_folders()
        return self._is_news(paths)

    def _is_about_folders(self, path: str) -> bool:
        return path in self._folders or os.path.basename(path) == GITIGNORE or os.path.isdir(path)  # noqa: PTH119, PTH112 - thousands

    def _is_news(self, paths: Iterable[str]) -> bool:
        saved = set()
        for path in paths:
            folder, _, name = path.rpartition(os.sep)
            if folder == self._git_dir:
                if name in GIT_FILES:
                    return True
            elif name != GIT:
                saved.add(path)
        return bool(saved) and self._checkout.ignored(saved) != saved

    def _look_at_folders(self) -> None:
        for _ in range(ATTEMPTS_MAX):
            folders = set(watched_folders(self._checkout)) | {self._git_dir}
            if folders == self._folders:
                return
            try:
                notify = RustNotify(sorted(folders), False, False, POLL_MS, False, True)  # noqa: FBT003 - Rust
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _cannot_watch(self._checkout.root, error) from error
            self._close()
            self._notify, self._folders = notify, folders
            return
        raise _cannot_watch(self._checkout.root, OSError("its folders come and go"))

    def _close(self) -> None:
        if self._notify is not None:
            self._notify.close()
        self._notify = None


def watched_folders(checkout: Checkout) -> Iterator[str]:
    """Returns the folders of a work tree that are neither ignored nor in a nested repository."""
    root = str(checkout.root)
    ignored = {os.path.join(root, folder) for folder in checkout.ignored_folders()}  # noqa: PTH118 - as os.walk
    for folder, names, files in os.walk(root):
        if folder != root and (GIT in names or GIT in files):
            names.clear()
            continue
        yield folder
        names[:] = [name for name in names if name != GIT and os.path.join(folder, name) not in ignored]  # noqa: PTH118


def _cannot_watch(root: Path, error: OSError) -> CommandError:
    return CommandError(
        f"{root} cannot be watched: {error}.",
        "On Linux, allow more watches: sysctl fs.inotify.max_user_watches=524288. `prism sync` needs none.",
        code="watch_failed",
    )
