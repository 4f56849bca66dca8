"""Lists a git work tree, or a folder of one. Git decides what belongs to it and what needs no reading."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from prism_contracts.code import SkipReason
from prism_source.attributes import LINGUIST, UNSET, Attributes, attributes_of
from prism_source.files import ListedFile
from prism_source.git import GitFailed, run_git, user_environment
from prism_source.limits import SourceLimits

_MODE_ABSENT = b"000000"
_MODE_SUBMODULE = b"160000"
_TAG_CACHED = b"H"
_STAGE_MERGED = b"0"
_SHA1_HEX = 40

# With one of these attributes, git may store different bytes than those on disk.
_CONVERTING = ("ident", "filter", "working-tree-encoding")
# With one of these attributes, git may store different line ends, which changes the size.
_LINE_ENDS = ("text", "eol", "crlf")


States = Mapping[str, str]


class WorkTree(NamedTuple):
    """What git reports about a folder. Paths are relative to it."""

    found: list[ListedFile]
    attributes: dict[bytes, Attributes]
    commit: str  # empty if there is no commit yet
    ref: str  # the branch, empty if detached
    # Some files differ from the commit, regardless of the suspects.
    dirty: bool
    # Files that may have changed -> their hash if they have not.
    suspects: dict[bytes, str]


class _Indexed(NamedTuple):
    mode: bytes
    blob: str
    trusted: (
        bool  # git tracks its state: no conflict, not assumed unchanged, not excluded by a sparse checkout
    )


class _Changes(NamedTuple):
    absent: set[bytes]
    changed: set[bytes]


class GitFolder:
    """A folder of a work tree, queried through git. Every method may raise GitFailed and PrismError."""

    def __init__(self, folder: Path, limits: SourceLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._environment = user_environment()

    def is_work_tree(self) -> bool:
        """Returns whether files are checked out here; false in a bare repository or inside `.git`."""
        return self._git("rev-parse", "--is-inside-work-tree").strip() == b"true"

    def is_ignored(self) -> bool:
        """Returns whether the enclosing repository ignores the whole folder."""
        return self._succeeds("check-ignore", "--quiet", ".")

    def commit(self) -> str:
        """Returns the commit that is checked out, empty if there is none."""
        return self._line_or_nothing("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    def branch(self) -> str:
        """Returns the branch that is checked out, empty if none is."""
        return self._line_or_nothing("symbolic-ref", "--quiet", "--short", "HEAD")

    def index(self) -> dict[bytes, _Indexed]:
        """Returns the tracked files."""
        entries: dict[bytes, _Indexed] = {}
        for line in _records(self._git("ls-files", "-z", "-v", "--cached", "--stage")):
            facts, _, path = line.partition(b"\t")
            tag, mode, blob, stage = facts.split(b" ")
            trusted = tag == _TAG_CACHED and stage == _STAGE_MERGED
            entries[path] = _Indexed(mode, blob.decode(), trusted)
        return entries

    def untracked(self) -> list[bytes]:
        """Returns the files that are neither tracked nor ignored; a nested repository ends with a slash."""
        return _records(self._git("ls-files", "-z", "--others", "--exclude-standard"))

    def changes(self) -> _Changes:
        """Returns tracked files that are gone or whose time stamps, size or kind differ from the index."""
        records = _records(self._git("diff-files", "-z", "--raw", "--relative", "--ignore-submodules=all"))
        changes = _Changes(set(), set())
        for facts, path in zip(records[::2], records[1::2], strict=True):
            _, mode, _ = facts.split(b" ", 2)
            (changes.absent if mode == _MODE_ABSENT and not facts.endswith(b"U") else changes.changed).add(
                path
            )
        return changes

    def is_staged(self) -> bool:
        """Returns whether the index differs from the commit."""
        options = ("-z", "--cached", "--name-only", "--relative", "--ignore-submodules=all")
        return bool(self._git("diff-index", *options, "HEAD", "--", "."))

    def really_changed(self) -> set[bytes]:
        """Returns tracked files whose content, converted as git does, differs from the index.

        Reads the files that `changes` names.
        """
        options = (
            "-z",
            "--name-only",
            "--relative",
            "--ignore-submodules=all",
            "--no-ext-diff",
            "--no-textconv",
        )
        return set(_records(self._git("diff", *options)))

    def states(self, paths: Iterable[bytes]) -> dict[bytes, dict[str, str]]:
        """Returns the attributes of each path that has any."""
        names = (*LINGUIST, *_CONVERTING, *_LINE_ENDS)
        queries = b"".join(path + b"\0" for path in paths)
        answers = _records(self._git("check-attr", "-z", "--stdin", *names, stdin=queries))
        states: dict[bytes, dict[str, str]] = {}
        for path, name, state in zip(answers[::3], answers[1::3], answers[2::3], strict=True):
            if state != b"unspecified":
                states.setdefault(path, {})[name.decode()] = state.decode(errors="replace")
        return states

    def converts_line_ends(self) -> bool:
        """Returns whether git converts line ends of files without attributes."""
        return self._line_or_nothing("config", "--get", "core.autocrlf").lower() not in ("", "false")

    def blob_sizes(self, blobs: Iterable[str]) -> list[int]:
        """Returns the size in bytes of each blob, -1 if it is missing."""
        queries = "".join(f"{blob}\n" for blob in blobs).encode()
        answers = self._git("cat-file", "--buffer", "--batch-check=%(objectsize)", stdin=queries).split(b"\n")
        return [int(answer) if answer.isdigit() else -1 for answer in answers[:-1]]

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return run_git(
            self._folder,
            *arguments,
            environment=self._environment,
            stdin=stdin,
            seconds_max=self._limits.git_seconds_max,
        )

    def _succeeds(self, *arguments: str) -> bool:
        try:
            self._git(*arguments)
        except GitFailed:
            return False
        return True

    def _line_or_nothing(self, *arguments: str) -> str:
        try:
            return self._git(*arguments).decode(errors="replace").strip()
        except GitFailed:
            return ""


def list_work_tree(git: GitFolder) -> WorkTree:
    """Lists a folder of a work tree. Raises GitFailed, PrismError."""
    index, changes, untracked, commit = git.index(), git.changes(), git.untracked(), git.commit()
    present = {path: entry for path, entry in index.items() if path not in changes.absent}
    states = git.states([*present, *untracked])
    clean = {
        path: entry
        for path, entry in present.items()
        if path not in changes.changed and _is_known(entry, states.get(path, {}))
    }
    sizes = _sizes_where_line_ends_vary(git, clean, states)
    tracked = [
        ListedFile(
            path,
            blob=entry.blob if path in clean else "",
            size_bytes=sizes.get(path),
            skipped=SkipReason.SUBMODULE if entry.mode == _MODE_SUBMODULE else None,
        )
        for path, entry in present.items()
    ]
    return WorkTree(
        found=[*tracked, *map(_found_untracked, untracked)],
        attributes={path: attributes_of(known) for path, known in states.items()},
        commit=commit,
        ref=git.branch(),
        dirty=bool(changes.absent or untracked or not commit) or git.is_staged(),
        suspects={path: index[path].blob for path in changes.changed if path in index},
    )


def _is_known(entry: _Indexed, states: States) -> bool:
    """Returns whether unchanged bytes on disk equal the blob, apart from line ends."""
    if entry.mode == _MODE_SUBMODULE:
        return True
    converting = any(states.get(name, UNSET) != UNSET for name in _CONVERTING)
    return entry.trusted and not converting and len(entry.blob) == _SHA1_HEX


def _sizes_where_line_ends_vary(
    git: GitFolder, clean: Mapping[bytes, _Indexed], states: Mapping[bytes, States]
) -> dict[bytes, int]:
    everywhere = git.converts_line_ends()
    varying = [
        path
        for path, entry in clean.items()
        if entry.mode != _MODE_SUBMODULE and _line_ends_vary(states.get(path, {}), everywhere=everywhere)
    ]
    if not varying:
        return {}
    return dict(zip(varying, git.blob_sizes(clean[path].blob for path in varying), strict=True))


def _line_ends_vary(states: States, *, everywhere: bool) -> bool:
    declared = [states[name] for name in _LINE_ENDS if name in states]
    return any(state != UNSET for state in declared) if declared else everywhere


def _found_untracked(path: bytes) -> ListedFile:
    if path.endswith(b"/"):
        return ListedFile(
            path[:-1], skipped=SkipReason.SUBMODULE, detail="a repository inside the repository"
        )
    return ListedFile(path)


def _records(output: bytes) -> list[bytes]:
    return output.split(b"\0")[:-1]
