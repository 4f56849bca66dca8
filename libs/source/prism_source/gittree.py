"""Takes a snapshot of a commit of a git repository, bare or not.

Checks nothing out, and runs no file of the tree.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from prism_contracts.code import FileFlags, SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import SnapshotFile
from prism_source.attributes import NO_ATTRIBUTES, AttributeRules, Attributes
from prism_source.blobs import BlobReader
from prism_source.classify import classify_path
from prism_source.git import READ_LIMITS, GitFailed, explain, git_records, isolated_environment, run_git
from prism_source.history import read_history
from prism_source.limits import ATTRIBUTES_BYTES_MAX, ATTRIBUTES_FILES_MAX, DEFAULT_LIMITS, KIB, SourceLimits
from prism_source.paths import decode_path
from prism_source.snapshot import Snapshot, attributes_by_ordinal, sort_files
from prism_source.text import skip_reason

_MODE_LINK = b"120000"
_GITATTRIBUTES = b".gitattributes"
# Where a name is looked up, in this order: a branch comes before a tag of the same name.
_REF_FOLDERS = ("refs/heads/", "refs/tags/", "refs/remotes/origin/")
_COMMIT = re.compile(r"[0-9a-fA-F]{4,64}")
# Stricter than git check-ref-format: a name without special meaning to git rev-parse.
_REF_NAME = re.compile(r"(?!-)(?!.*(?:\.\.|@\{|//))[^\s~^:?*\[\\\x00-\x20\x7f]+")
_REF_CHARS_MAX = 1_000
_NAMES_MAX = 2_000
_SUGGESTIONS_MAX = 5
_ADDED = b"A"
_DELETED = b"D"
# Size of all names on one command line. Linux allows four times as much.
_ARGUMENT_BYTES_MAX = 512 * KIB


class ResolvedRef(NamedTuple):
    """A commit, and the branch or tag that resolved to it (empty if the commit itself was requested)."""

    commit: str
    ref: str


class Changes(NamedTuple):
    """The files that a commit adds or changes since another one, and the paths that it removes."""

    snapshot: Snapshot
    removed: tuple[str, ...]
    added: tuple[str, ...]  # paths of the snapshot that the older commit does not have


class _TreeEntry(NamedTuple):
    path: bytes
    mode: bytes
    kind: bytes
    blob: str
    size_bytes: int


def snapshot_git(git_dir: Path | str, ref: str = "", limits: SourceLimits = DEFAULT_LIMITS) -> Snapshot:
    """Returns the files of a commit. `ref` is a branch, a tag or a commit, empty for HEAD.

    `git_dir` is a bare repository, or a folder that has a `.git`. Reads no contents: BINARY, LFS_POINTER,
    LINE_TOO_LONG and the final flags (`Snapshot.flags`) are determined when a file is read. Close the
    snapshot: reading starts a process.

    Raises PrismError: SOURCE_NOT_FOUND, SOURCE_EMPTY, SOURCE_UNREADABLE, REF_NOT_FOUND, PAYLOAD_TOO_LARGE.
    """
    repository = _Repository(_git_dir(Path(git_dir)), limits)
    resolved = repository.resolve(ref)
    return _snapshot(repository, resolved, repository.tree(resolved.commit), limits)


def snapshot_changes(
    git_dir: Path | str, old: str, new: str, limits: SourceLimits = DEFAULT_LIMITS
) -> Changes | None:
    """Diffs the trees of two commits; a renamed file is one removed and one added.

    Returns None if the caller must read all of `new`: the repository no longer has `old`, too much has
    changed, or a changed path is not valid, so that its displayed name depends on the other files.

    Raises PrismError as `snapshot_git`.
    """
    repository = _Repository(_git_dir(Path(git_dir)), limits)
    differing = repository.differing(old, new)
    if differing is None or any(decode_path(path)[1] for path in differing):
        return None
    present = [path for path, status in differing.items() if status != _DELETED]
    rules = {rule for path in present for rule in _attribute_files(path)}
    needed = {*present, *rules}
    if sum(map(len, needed)) > _ARGUMENT_BYTES_MAX:
        return None
    found = repository.entries(new, needed)
    changed = [entry for entry in found if differing.get(entry.path, _DELETED) != _DELETED]
    snapshot = _snapshot(repository, ResolvedRef(new, ""), changed, limits, rules=found)
    removed, added = (
        tuple(sorted(path.decode() for path, status in differing.items() if status == wanted))
        for wanted in (_DELETED, _ADDED)
    )
    return Changes(snapshot, removed, added)


def commit_files(
    git_dir: Path | str, ref: str, limits: SourceLimits = DEFAULT_LIMITS
) -> tuple[str, tuple[SnapshotFile, ...]]:
    """Returns a commit and its files, described by name and size alone.

    Raises PrismError as `snapshot_git`.
    """
    repository = _Repository(_git_dir(Path(git_dir)), limits)
    commit = repository.resolve(ref).commit
    return commit, sort_files(_entry_file(entry, NO_ATTRIBUTES, limits) for entry in repository.tree(commit))


def commit_file(
    git_dir: Path | str, ref: str, path: str, limits: SourceLimits = DEFAULT_LIMITS
) -> tuple[str, SnapshotFile, bytes]:
    """Returns a commit, one of its files, and the bytes of that file.

    Raises PrismError: SOURCE_NOT_FOUND, SOURCE_UNREADABLE, REF_NOT_FOUND, FILE_NOT_FOUND, FILE_SKIPPED.
    """
    repository = _Repository(_git_dir(Path(git_dir)), limits)
    commit = repository.resolve(ref).commit
    entries = repository.entries(commit, [path.encode()])
    if not entries or entries[0].kind == b"tree":
        raise PrismError(
            ErrorCode.FILE_NOT_FOUND, f"{path} is not in {commit}.", "List the files of the commit."
        )
    file = _entry_file(entries[0], NO_ATTRIBUTES, limits)
    reader = BlobReader(repository.git_dir, limits)
    try:
        data = b"" if file.skipped else reader.blob(file.blob)
    finally:
        reader.close()
    reason = file.skipped or skip_reason(len(data), data, limits, path)
    if reason:
        raise PrismError(ErrorCode.FILE_SKIPPED, f"{path} is not read: {reason}.", "Read another file.")
    return commit, file, data


def _snapshot(
    repository: "_Repository",
    resolved: ResolvedRef,
    entries: Sequence[_TreeEntry],
    limits: SourceLimits,
    rules: Sequence[_TreeEntry] | None = None,
) -> Snapshot:
    """Returns a snapshot of the entries. `rules` contain the attribute files, if the entries do not."""
    reader = BlobReader(repository.git_dir, limits)
    try:
        attributes = _attributes(entries, entries if rules is None else rules, reader)
    except BaseException:
        reader.close()
        raise
    files = sort_files(
        _entry_file(entry, attributes.get(entry.path, NO_ATTRIBUTES), limits) for entry in entries
    )
    return Snapshot(
        commit=resolved.commit,
        ref=resolved.ref,
        dirty=False,
        files=files,
        reader=reader,
        attributes=attributes_by_ordinal(files, attributes),
        history=read_history(repository.git_dir, resolved.commit, isolated_environment(), is_work_tree=False),
    )


def resolve_ref(git_dir: Path | str, ref: str = "") -> ResolvedRef:
    """Resolves a branch, a tag or a commit.

    Raises PrismError SOURCE_NOT_FOUND, SOURCE_EMPTY, REF_NOT_FOUND.
    """
    return _Repository(_git_dir(Path(git_dir)), DEFAULT_LIMITS).resolve(ref)


class _Repository:
    def __init__(self, git_dir: Path, limits: SourceLimits) -> None:
        self.git_dir = git_dir
        self._limits = limits
        # A path that starts with a colon is a plain path, not a pathspec.
        self._environment = {**isolated_environment(), "GIT_DIR": str(git_dir), "GIT_LITERAL_PATHSPECS": "1"}

    def resolve(self, ref: str) -> ResolvedRef:
        if ref in ("", "HEAD"):
            return self._resolve_head()
        for candidate in _candidates(ref):
            commit = self._commit_of(candidate)
            if commit:
                return ResolvedRef(commit, "" if candidate == ref and _COMMIT.fullmatch(ref) else ref)
        raise ref_not_found(ref, self._names())

    def tree(self, commit: str) -> list[_TreeEntry]:
        records = self._records("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        if records is None:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The commit has more than {self._limits.files_max:,} files.",
                "Index the folders of a clone one by one: prism index PATH",
                files_max=self._limits.files_max,
            )
        if not records:
            raise PrismError(
                ErrorCode.SOURCE_EMPTY, f"The commit {commit} has no files.", "Choose another ref."
            )
        return [_tree_entry(record) for record in records]

    def entries(self, commit: str, paths: Iterable[bytes]) -> list[_TreeEntry]:
        """Returns the entries of those paths that a commit has."""
        names = sorted(path.decode() for path in paths)
        if not names:
            return []
        records = self._records("ls-tree", "-z", "-l", "--full-tree", "--", commit, *names)
        return list(map(_tree_entry, records or ()))

    def differing(self, old: str, new: str) -> dict[bytes, bytes] | None:
        """Returns git's status letter of each path that differs between commits; None if a tree is gone."""
        try:
            records = self._records(
                *("diff-tree", "-r", "-z", "--raw", "--no-renames", f"{old}^{{tree}}", f"{new}^{{tree}}")
            )
        except PrismError:
            return None
        if records is None:
            return None
        # `:100644 000000 <old> <new> D`, then the path.
        states = (record.rpartition(b" ")[2] for record in records[::2])
        return dict(zip(records[1::2], states, strict=True))

    def _records(self, *arguments: str) -> list[bytes] | None:
        """Returns what git prints with -z; None if it exceeds the limit of a snapshot.

        Raises SOURCE_UNREADABLE.
        """
        try:
            return git_records(
                self.git_dir,
                *arguments,
                environment=self._environment,
                records_max=self._limits.files_max,
                seconds_max=self._limits.git_seconds_max,
                limits=READ_LIMITS,
            )
        except GitFailed as error:
            raise explain(error, self.git_dir) from error

    def _resolve_head(self) -> ResolvedRef:
        commit = self._commit_of("HEAD")
        if not commit:
            raise PrismError(
                ErrorCode.SOURCE_EMPTY,
                "The repository has no commit on its default branch.",
                "Push a commit, or give a branch that has one.",
                branches=self._names()[:_SUGGESTIONS_MAX],
            )
        return ResolvedRef(commit, self._line_or_nothing("symbolic-ref", "--quiet", "--short", "HEAD"))

    def _commit_of(self, name: str) -> str:
        return self._line_or_nothing(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )

    def _names(self) -> list[str]:
        listed = self._line_or_nothing(
            "for-each-ref", f"--count={_NAMES_MAX}", "--format=%(refname)", *_REF_FOLDERS
        )
        return [short_name(name) for name in listed.splitlines()]

    def _line_or_nothing(self, *arguments: str) -> str:
        try:
            return self._git(*arguments).decode(errors="replace").strip()
        except GitFailed:
            return ""

    def _git(self, *arguments: str) -> bytes:
        return run_git(
            self.git_dir,
            *arguments,
            environment=self._environment,
            seconds_max=self._limits.git_seconds_max,
            limits=READ_LIMITS,
        )


def is_ref_name(ref: str) -> bool:
    """Returns whether a text can only be the name of a branch, tag or commit (not an option or a range)."""
    return len(ref) <= _REF_CHARS_MAX and _REF_NAME.fullmatch(ref) is not None


def short_name(ref: str) -> str:
    """Shortens `refs/heads/main` to `main`."""
    return next((ref.removeprefix(folder) for folder in _REF_FOLDERS if ref.startswith(folder)), ref)


def ref_not_found(ref: str, names: Iterable[str]) -> PrismError:
    """Returns the error for an unknown ref, with the most similar names."""
    near = difflib.get_close_matches(ref, list(names), _SUGGESTIONS_MAX, cutoff=0.5)
    return PrismError(
        ErrorCode.REF_NOT_FOUND,
        f"There is no branch, tag or commit {ref[:200]!a}.",
        f"Did you mean {', '.join(near)}?" if near else "List the refs with: git ls-remote",
        suggestions=near,
    )


def _git_dir(folder: Path) -> Path:
    inner = folder / ".git"
    if inner.exists():
        return inner.absolute()
    if folder.is_dir() and (folder / "HEAD").exists():
        return folder.absolute()
    raise PrismError(
        ErrorCode.SOURCE_NOT_FOUND,
        f"{folder} is not a git repository.",
        "Give the folder of a git repository.",
    )


def _candidates(ref: str) -> list[str]:
    if not is_ref_name(ref):
        return []
    if ref.startswith("refs/"):
        return [ref]
    found = [folder + ref for folder in _REF_FOLDERS]
    return [*found, ref] if _COMMIT.fullmatch(ref) else found


def _tree_entry(record: bytes) -> _TreeEntry:
    facts, _, path = record.partition(b"\t")
    mode, kind, blob, size = facts.split()
    return _TreeEntry(path, mode, kind, blob.decode(), int(size) if size.isdigit() else 0)


def _attribute_files(path: bytes) -> Iterator[bytes]:
    """Yields where attribute files of a file can be: in its folder and in all parent folders."""
    folder = path
    while folder:
        folder = folder.rpartition(b"/")[0]
        yield folder + b"/" + _GITATTRIBUTES if folder else _GITATTRIBUTES


def _attributes(
    entries: Iterable[_TreeEntry], rules: Iterable[_TreeEntry], reader: BlobReader
) -> dict[bytes, Attributes]:
    """Returns the attributes of entries by path, where set. The attribute files are among `rules`."""
    named = (
        entry
        for entry in rules
        if entry.path.rpartition(b"/")[2] == _GITATTRIBUTES
        and entry.kind == b"blob"
        and entry.mode != _MODE_LINK
        and entry.size_bytes <= ATTRIBUTES_BYTES_MAX
    )
    attributes = AttributeRules(
        (entry.path.decode(errors="replace"), reader.blob(entry.blob).decode(errors="replace"))
        for entry in islice(named, ATTRIBUTES_FILES_MAX)
    )
    found = ((entry.path, attributes.of(entry.path.decode(errors="replace"))) for entry in entries)
    return {path: known for path, known in found if known != NO_ATTRIBUTES}


def _entry_file(entry: _TreeEntry, attributes: Attributes, limits: SourceLimits) -> SnapshotFile:
    path, problem = decode_path(entry.path)
    skipped, detail = (SkipReason.PATH_INVALID, problem) if problem else _entry_skip(entry, limits)
    return SnapshotFile(
        path=path,
        blob=entry.blob,
        size_bytes=entry.size_bytes,
        skipped=skipped,
        detail=detail,
        flags=FileFlags() if skipped else attributes.override(classify_path(path)),
        language=attributes.language,
    )


def _entry_skip(entry: _TreeEntry, limits: SourceLimits) -> tuple[SkipReason | None, str]:
    if entry.kind == b"commit":
        return SkipReason.SUBMODULE, ""
    if entry.mode == _MODE_LINK:
        return SkipReason.SYMLINK, "links are not followed"
    if entry.size_bytes > limits.file_bytes_max:
        return SkipReason.TOO_LARGE, f"{entry.size_bytes:,} bytes, the limit is {limits.file_bytes_max:,}"
    return None, ""
