"""The default name of a repository: `owner/name` of its origin, else `local/<folder>`."""

import re
import subprocess
from pathlib import Path

from prism_cli.exits import CommandError, Exit

GIT_SECONDS_MAX = 10
LOCAL_OWNER = "local"
SEGMENTS = 2

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
# git's short form of an ssh address: `git@host:owner/name`. A single letter before the colon is a Windows
# drive.
_SCP = re.compile(r"(?:[\w.-]+@)?[\w.-]{2,}:(?!/{0,2}\\)")
_FULL_NAME = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def check_name(name: str) -> None:
    """Raise CommandError unless a name is empty or `owner/repo`."""
    if name and not _FULL_NAME.fullmatch(name):
        raise CommandError(
            f"{name!r} is not a repository name.",
            "Give owner/repo, with letters, digits, dots, dashes and underscores.",
            code="invalid_argument",
            exit_code=Exit.USAGE,
        )


def is_git_url(source: str) -> bool:
    """Whether a source is an address and not a folder. An existing folder is never an address."""
    if Path(source).expanduser().exists():
        return False
    return bool(_SCHEME.match(source) or _SCP.match(source))


def name_of_url(url: str) -> str:
    """`https://github.com/psf/requests.git` -> `psf/requests`. Empty if the address has no owner and name."""
    if _SCHEME.match(url):
        _, _, path = _SCHEME.sub("", url, count=1).partition("/")
    elif _SCP.match(url):
        path = url.partition(":")[2]
    else:
        return ""
    path = path.partition("?")[0].partition("#")[0].rstrip("/").removesuffix(".git")
    segments = [slug(segment) for segment in path.split("/") if segment]
    return "/".join(segments[-SEGMENTS:]) if len(segments) >= SEGMENTS else ""


def name_of_folder(folder: Path) -> str:
    """Returns the name of a work tree's origin, else `local/<folder>`.

    A folder inside a work tree gets its own name: indexing it under the name of the whole would remove the
    rest.
    """
    root = folder.expanduser().resolve()
    if not (root / ".git").exists():
        return f"{LOCAL_OWNER}/{slug(root.name)}"
    origin = name_of_url(_git(root, "config", "--get", "remote.origin.url"))
    return origin or f"{LOCAL_OWNER}/{slug(_main_tree(root).name)}"


def git_dir_of(folder: Path) -> Path:
    """Returns the folder with the branches of a work tree; a linked one (`git worktree add`) shares the main
    one's.
    """
    if not (folder / ".git").is_file():
        return folder
    found = _git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
    return Path(found) if found else folder


def branch_of(folder: Path) -> str:
    """Returns the branch that is checked out; empty outside a work tree and for a detached HEAD."""
    return _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD") if (folder / ".git").exists() else ""


def _main_tree(root: Path) -> Path:
    """Returns the main work tree of a linked one: both belong to the same repository."""
    git_dir = git_dir_of(root)
    return git_dir.parent if git_dir.name == ".git" else root


def slug(text: str) -> str:
    """Returns the text with each run of invalid characters replaced by `-`; `folder` if nothing is left."""
    return _NOT_IN_A_NAME.sub("-", text).strip("-.") or "folder"


def _git(folder: Path, *arguments: str) -> str:
    """Returns the single line that git prints; empty if git fails."""
    try:
        found = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=GIT_SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
