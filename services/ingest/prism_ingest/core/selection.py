"""Which files of a repository are imported: those below a folder, and by globs.

Paths are relative to the root of the repository, also below the folder.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import NamedTuple, Self

from prism_contracts.records import History, Repository
from prism_contracts.rpc.imports import SnapshotFile
from prism_source.paths import validate_path
from prism_store.globs import compile_glob

VERSION_CHARS = 16


class Selection(NamedTuple):
    """The files of a repository that are imported. Uploads choose their files themselves."""

    root_prefix: str = ""  # a folder without a slash at its end; empty: the root
    include: tuple[str, ...] = ()  # globs; empty: all files
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, repository: Repository) -> Self:
        """Returns the selection of a repository."""
        if not repository.is_fetched:
            return cls()
        return cls(repository.repo_root_prefix, repository.include, repository.exclude)

    @property
    def version(self) -> str:
        """Identifies the selection; empty if it has all files."""
        if not any(self):
            return ""
        parts = (self.root_prefix, *self.include, "", *self.exclude)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:VERSION_CHARS]

    def matcher(self) -> Callable[[str], bool]:
        """Returns whether a path is selected. Raises INVALID_ARGUMENT if a glob is not valid."""
        folder = f"{self.root_prefix}/" if self.root_prefix else ""
        included, excluded = (tuple(map(compile_glob, globs)) for globs in (self.include, self.exclude))

        def selects(path: str) -> bool:
            if not path.startswith(folder):
                return False
            if included and not any(glob.fullmatch(path) for glob in included):
                return False
            return not any(glob.fullmatch(path) for glob in excluded)

        return selects

    def files(self, files: tuple[SnapshotFile, ...]) -> tuple[SnapshotFile, ...]:
        """Returns the selected files, in their order."""
        if not any(self):
            return files
        selects = self.matcher()
        return tuple(file for file in files if selects(file.path))

    def paths(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Returns the selected paths, in their order."""
        return tuple(filter(self.matcher(), paths))

    def history(self, history: History | None) -> History | None:
        """Returns a history without the files that are not selected."""
        if history is None or not any(self):
            return history
        selects = self.matcher()
        return history.model_copy(update={"files": tuple(f for f in history.files if selects(f.path))})


EVERYTHING = Selection()


def folder_of(prefix: str) -> str:
    """Returns a folder without slashes at its ends; empty for the root. Raises INVALID_PATH."""
    folder = prefix.strip("/")
    if folder:
        validate_path(folder)
    return folder
