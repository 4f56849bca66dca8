"""Takes a snapshot of a folder: plain, or (a folder of) a git work tree.

Runs only on the user's own machine.
"""

import os
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import SnapshotFile
from prism_source.attributes import NO_ATTRIBUTES, AttributeRules, Attributes
from prism_source.files import FolderReader, ListedFile, describe, read_regular
from prism_source.git import GitFailed, explain, user_environment
from prism_source.history import read_history
from prism_source.limits import ATTRIBUTES_BYTES_MAX, ATTRIBUTES_FILES_MAX, DEFAULT_LIMITS, SourceLimits
from prism_source.pushed_commits import checked_out_commits
from prism_source.snapshot import Snapshot, attributes_by_ordinal, sort_files, tree_commit
from prism_source.walk import walk_folder
from prism_source.worktree import GitFolder, WorkTree, list_work_tree

_GITATTRIBUTES = b".gitattributes"


def snapshot_folder(folder: Path | str, limits: SourceLimits = DEFAULT_LIMITS) -> Snapshot:
    """Returns the files of a folder as they are now, tracked or not, without ignored ones.

    In a git work tree git decides what is ignored (`.gitignore`, `.git/info/exclude`, core.excludesFile);
    elsewhere only `.gitignore` files do. Flags are final, because the content is read.

    Raises PrismError: SOURCE_NOT_FOUND, SOURCE_UNREADABLE, SOURCE_EMPTY, PAYLOAD_TOO_LARGE,
    DEADLINE_EXCEEDED.
    """
    root = _existing_folder(Path(folder))
    if _is_in_repository(root):
        git = GitFolder(root, limits)
        try:
            return _snapshot_work_tree(root, git, limits)
        except GitFailed as error:
            # Like git, ignore a `.git` that is not a repository.
            if "not a git repository" not in error.stderr:
                raise explain(error, root) from error
    return _snapshot_plain(root, limits)


def _snapshot_work_tree(root: Path, git: GitFolder, limits: SourceLimits) -> Snapshot:
    if not git.is_work_tree():
        raise PrismError(
            ErrorCode.SOURCE_EMPTY,
            f"{root} is a bare git repository or a .git folder: no files are checked out.",
            "Give a work tree. To create one: git worktree add FOLDER BRANCH",
        )
    tree = list_work_tree(git)
    if not tree.found and git.is_ignored():
        # The enclosing repository ignores this folder, but the user explicitly requested it.
        return _snapshot_plain(root, limits)
    files = _describe_all(root, tree.found, tree.attributes, limits)
    return Snapshot(
        commit=tree.commit or tree_commit(files),
        ref=tree.ref,
        dirty=tree.dirty or _is_changed(git, tree, files),
        files=files,
        reader=FolderReader(os.fsencode(root), limits),
        attributes=attributes_by_ordinal(files, tree.attributes),
        history=read_history(root, tree.commit, user_environment(), is_work_tree=True)
        if tree.commit
        else None,
        commits=checked_out_commits(root, tree.commit) if tree.commit else (),
    )


def _is_changed(git: GitFolder, tree: WorkTree, files: Iterable[SnapshotFile]) -> bool:
    """Returns whether a suspect differs from the index. Calls git only if hashes do not settle it."""
    if not tree.suspects:
        return False
    blobs = {file.path.encode(): file.blob for file in files}
    doubtful = {path for path, blob in tree.suspects.items() if blobs.get(path) != blob}
    return bool(doubtful) and not doubtful.isdisjoint(git.really_changed())


def _snapshot_plain(root: Path, limits: SourceLimits) -> Snapshot:
    raw_root = os.fsencode(root)
    try:
        found = list(islice(walk_folder(raw_root), limits.files_max + 1))
    except OSError as error:
        raise _unreadable(root, error) from error
    rules = _attribute_rules(raw_root, found)
    attributes = {entry.path: rules.of(entry.path.decode(errors="replace")) for entry in found}
    files = _describe_all(root, found, attributes, limits)
    return Snapshot(
        commit=tree_commit(files),
        ref="",
        dirty=False,
        files=files,
        reader=FolderReader(raw_root, limits),
        attributes=attributes_by_ordinal(files, attributes),
    )


def _existing_folder(folder: Path) -> Path:
    try:
        root = folder.expanduser().resolve(strict=True)
        if root.is_dir():
            return root
    except (FileNotFoundError, NotADirectoryError):
        raise _not_found(folder, "does not exist") from None
    except (OSError, RuntimeError) as error:
        raise _unreadable(folder, error) from error
    raise _not_found(folder, "is not a folder")


def _is_in_repository(root: Path) -> bool:
    """Returns whether a folder or a parent has a `.git`, or is a git directory.

    Works without git installed.
    """
    try:
        if any((folder / ".git").exists() for folder in (root, *root.parents)):
            return True
        return (root / "HEAD").is_file() and (root / "objects").is_dir() and (root / "refs").is_dir()
    except PermissionError as error:
        raise _unreadable(root, error) from error


def _describe_all(
    root: Path, found: list[ListedFile], attributes: Mapping[bytes, Attributes], limits: SourceLimits
) -> tuple[SnapshotFile, ...]:
    _check_count(root, len(found), limits)
    raw_root = os.fsencode(root)
    described = (
        describe(raw_root, entry, attributes.get(entry.path, NO_ATTRIBUTES), limits) for entry in found
    )
    files = sort_files(file for file in described if file is not None)
    if not files:
        raise PrismError(
            ErrorCode.SOURCE_EMPTY,
            f"{root} has no files, or .gitignore excludes all of them.",
            "Give a folder with source files, and check its .gitignore.",
        )
    return files


def _attribute_rules(root: bytes, found: Iterable[ListedFile]) -> AttributeRules:
    named = (entry.path for entry in found if entry.path.rpartition(b"/")[2] == _GITATTRIBUTES)
    return AttributeRules(_rule_texts(root, islice(named, ATTRIBUTES_FILES_MAX)))


def _rule_texts(root: bytes, paths: Iterable[bytes]) -> Iterable[tuple[str, str]]:
    for path in paths:
        try:
            data = read_regular(os.path.join(root, path), ATTRIBUTES_BYTES_MAX + 1)  # noqa: PTH118 - bytes
        except OSError:
            continue
        if len(data) <= ATTRIBUTES_BYTES_MAX:
            yield path.decode(errors="replace"), data.decode(errors="replace")


def _check_count(root: Path, count: int, limits: SourceLimits) -> None:
    if count > limits.files_max:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"{root} has more than {limits.files_max:,} files.",
            "Exclude generated folders with .gitignore, or index its folders one by one.",
            files_max=limits.files_max,
        )


def _not_found(folder: Path, problem: str) -> PrismError:
    return PrismError(
        ErrorCode.SOURCE_NOT_FOUND,
        f"{folder} {problem}.",
        "Give the path of a folder with source files.",
    )


def _unreadable(folder: Path, error: Exception) -> PrismError:
    return PrismError(
        ErrorCode.SOURCE_UNREADABLE,
        f"{folder} cannot be read: {error}.",
        "Make the folder readable, or choose another one.",
    )
