"""Polls a git work tree: what is checked out, and which files differ from the commit.

Each poll is one `git status`, which reads no file that git knows to be unchanged.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.blobs import BlobReader
from prism_source.git import GitFailed, explain, run_git, user_environment
from prism_source.limits import DEFAULT_LIMITS, SourceLimits
from prism_source.paths import decode_path

_STATUS = (
    *("status", "--porcelain=v2", "--branch", "-z"),
    *("--untracked-files=all", "--no-renames", "--ignore-submodules=all"),
)
_HEADERS = {b"branch.oid": "commit", b"branch.head": "branch"}
# What git prints when there is no commit or no branch.
_NOTHING = {"(initial)", "(detached)"}
_REGULAR = frozenset({b"100644", b"100755"})
# For a changed file and for a merge conflict: the number of fields before the path, and the position of the
# mode in the work tree.
_FIELDS = {b"1": (8, 5), b"u": (10, 6)}
_UNTRACKED = b"?"


class Status(NamedTuple):
    """What is checked out, and which files differ from the commit."""

    commit: str  # empty if there is none yet
    branch: str  # empty if none is checked out
    changed: Mapping[bytes, bool]  # path -> whether a regular file is there


class Checkout:
    """The whole work tree around a folder, for one thread at a time.

    Close it: reading blobs starts a process.

    Raises PrismError: SOURCE_NOT_FOUND, SOURCE_UNREADABLE, DEADLINE_EXCEEDED.
    """

    def __init__(self, folder: Path, limits: SourceLimits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self._folder = folder
        self._environment = user_environment()
        self.root = self._git_path("--show-toplevel")
        # A linked work tree has its own folder here, with its own HEAD and index.
        self.git_dir = self._git_path("--absolute-git-dir")
        self._blobs = BlobReader(self.git_dir, limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._blobs.close()

    def status(self) -> Status:
        """Returns the current status."""
        return _status(_records(self._git(*_STATUS)))

    def has(self, commit: str) -> bool:
        """Returns whether the repository has a commit and its tree."""
        return self._succeeds("cat-file", "-e", f"{commit}^{{tree}}")

    def tree(self, commit: str) -> dict[str, str]:
        """Returns the blobs of the regular files of a commit by path. Skips files with an invalid path."""
        files: dict[str, str] = {}
        for record in _records(self._git("ls-tree", "-r", "-z", "--full-tree", commit)):
            facts, _, raw = record.partition(b"\t")
            mode, _, blob = facts.split(b" ")
            path, problem = decode_path(raw)
            if mode in _REGULAR and not problem:
                files[path] = blob.decode()
        return files

    def blob(self, blob: str) -> bytes:
        """Returns the bytes of a blob. Also raises FILE_NOT_FOUND, PAYLOAD_TOO_LARGE."""
        return self._blobs.blob(blob)

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Returns which of the paths (absolute, in the work tree) git ignores."""
        queries = b"".join(path.encode(errors="surrogateescape") + b"\0" for path in paths)
        try:
            found = self._run("check-ignore", "-z", "--stdin", stdin=queries)
        except GitFailed:  # none is ignored
            return set()
        return {path.decode(errors="surrogateescape") for path in _records(found)}

    def ignored_folders(self) -> set[str]:
        """Returns the topmost folders that git ignores, relative and as the file system names them."""
        options = ("--others", "--ignored", "--exclude-standard", "--directory", "--no-empty-directory")
        listed = _records(self._git("ls-files", "-z", *options))
        return {path[:-1].decode(errors="surrogateescape") for path in listed if path.endswith(b"/")}

    def _git_path(self, option: str) -> Path:
        try:
            found = self._run("rev-parse", "--path-format=absolute", option, folder=self._folder)
        except (GitFailed, NotADirectoryError) as error:
            raise _no_work_tree(self._folder, error) from error
        return Path(found.decode(errors="surrogateescape").removesuffix("\n"))

    def _git(self, *arguments: str) -> bytes:
        try:
            return self._run(*arguments)
        except GitFailed as error:
            raise explain(error, self.root) from error

    def _succeeds(self, *arguments: str) -> bool:
        try:
            self._run(*arguments)
        except GitFailed:
            return False
        return True

    def _run(self, *arguments: str, stdin: bytes = b"", folder: Path | None = None) -> bytes:
        where = folder or self.root
        if not where.is_dir():
            raise PrismError(
                ErrorCode.SOURCE_NOT_FOUND, f"{where} is not a folder.", "Give the folder of a work tree."
            )
        return run_git(
            where,
            *arguments,
            environment=self._environment,
            stdin=stdin,
            seconds_max=self.limits.git_seconds_max,
        )


def _status(records: Iterable[bytes]) -> Status:
    checked_out = dict.fromkeys(_HEADERS.values(), "")
    changed: dict[bytes, bool] = {}
    for record in records:
        kind, _, rest = record.partition(b" ")
        if kind == b"#":
            name, _, value = rest.partition(b" ")
            if name in _HEADERS:
                checked_out[_HEADERS[name]] = _header_value(value)
        else:
            changed.update(_changes(kind, record))
    return Status(changed=changed, **checked_out)


def _header_value(value: bytes) -> str:
    text = value.decode(errors="replace")
    return "" if text in _NOTHING else text


def _changes(kind: bytes, record: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yields a path and whether a regular file is there.

    A file that was removed from the index and kept on disk comes twice, last as untracked.
    """
    if kind == _UNTRACKED:
        path = record[2:]
        # A trailing slash marks a nested repository.
        if not path.endswith(b"/"):
            yield path, True
    elif kind in _FIELDS:
        count, mode = _FIELDS[kind]
        fields = record.split(b" ", count)
        yield fields[count], fields[mode] in _REGULAR


def _records(output: bytes) -> list[bytes]:
    return output.split(b"\0")[:-1]


def _no_work_tree(folder: Path, error: Exception) -> PrismError:
    if (
        isinstance(error, GitFailed)
        and "not a git repository" not in error.stderr
        and "work tree" not in error.stderr
    ):
        return explain(error, folder)
    return PrismError(
        ErrorCode.SOURCE_NOT_FOUND,
        f"{folder} is not in a git work tree.",
        "Give a folder of a clone, or create a repository with: git init",
    )
