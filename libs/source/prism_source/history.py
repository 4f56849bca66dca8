"""Reads the recent changes of each file with one bounded `git log`.

Reads only commits and trees, and never fetches.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from prism_contracts.errors import PrismError
from prism_contracts.records import HISTORY_COMMITS_MAX as COMMITS_MAX
from prism_contracts.records import HISTORY_FILES_MAX as FILES_MAX
from prism_contracts.records import History, HistoryCommit, HistoryFile
from prism_source.git import READ_LIMITS, GitFailed, git_records, run_git
from prism_source.paths import decode_path

# File names over all commits; a larger history is not returned.
RECORDS_MAX = 400_000
MESSAGE_CHARS_MAX = 200
SECONDS_MAX = 10.0
YEAR, QUARTER = timedelta(days=365), timedelta(days=90)

# Marks a header: no path that git lists starts with \x01. Fields of a header are separated by \x02.
_HEAD, _PART = b"\x01", b"\x02"
_FORMAT = "%x01%h%x02%p%x02%cI%x02%s"


def read_history(
    folder: Path,
    commit: str,
    environment: Mapping[str, str],
    *,
    is_work_tree: bool,
    now: datetime | None = None,
) -> History | None:
    """Returns the changes of the last 12 months up to a commit.

    For a folder of a work tree, these are the changes inside it, by paths relative to it; for a git
    directory, all changes. None if git does not finish in time, or if there are none: the only commit of a
    shallow clone changes nothing.
    """
    now = now or datetime.now(UTC)
    newest = (f"--max-count={COMMITS_MAX + 1}", f"--since={(now - YEAR).isoformat()}")
    options = ("-z", "--name-only", "--no-renames", "--no-show-signature", f"--format={_FORMAT}")
    within = ("--relative", commit, "--", ".") if is_work_tree else (commit, "--")
    limits = None if is_work_tree else READ_LIMITS
    quiet = {**environment, "GIT_NO_LAZY_FETCH": "1"}  # a partial clone must not fetch
    try:
        shallow = run_git(
            folder, "rev-parse", "--is-shallow-repository",
            environment=quiet, seconds_max=SECONDS_MAX, limits=limits,
        )  # fmt: skip
        records = git_records(
            folder, "log", *newest, *options, *within,
            environment=quiet, records_max=RECORDS_MAX, seconds_max=SECONDS_MAX, limits=limits,
        )  # fmt: skip
    except (GitFailed, PrismError):
        return None
    if records is None:
        return None
    is_shallow = shallow.strip() == b"true"
    history = _history(_changes(records, is_shallow=is_shallow), now)
    return history.model_copy(update={"is_shallow": is_shallow}) if history.files else None


def _changes(records: Iterable[bytes], *, is_shallow: bool) -> Iterator[tuple[HistoryCommit, list[str]]]:
    """Yields commits with the files that each changed, newest first."""
    commit: HistoryCommit | None = None
    paths: list[str] = []
    for record in records:
        if not record.startswith(_HEAD):
            path, problem = decode_path(record.removeprefix(b"\n"))
            if path and not problem:
                paths.append(path)
            continue
        if commit:
            yield commit, paths
        short, parents, at, message = record[1:].split(_PART, 3)
        # The last commit of a shallow history seems to add every file.
        is_end = is_shallow and not parents
        commit = None if is_end else _commit(short, at, message)
        paths = []
    if commit:
        yield commit, paths


def _commit(short: bytes, at: bytes, message: bytes) -> HistoryCommit:
    return HistoryCommit(
        commit=short.decode(),
        at=datetime.fromisoformat(at.decode()),
        message=message.decode(errors="replace")[:MESSAGE_CHARS_MAX],
    )


def _history(changes: Iterable[tuple[HistoryCommit, list[str]]], now: datetime) -> History:
    commits: list[HistoryCommit] = []
    last: dict[str, int] = {}
    recent: dict[str, int] = {}
    every: dict[str, int] = {}
    is_cut = False
    for commit, paths in changes:
        if len(commits) == COMMITS_MAX:
            is_cut = True
            break
        for path in paths:
            last.setdefault(path, len(commits))
            every[path] = every.get(path, 0) + 1
            recent[path] = recent.get(path, 0) + (now - commit.at <= QUARTER)
        commits.append(commit)
    files = [
        HistoryFile(path=path, last=at, commits_90_days=recent[path], commits_12_months=every[path])
        for path, at in list(last.items())[:FILES_MAX]
    ]
    return History(commits=tuple(commits), files=tuple(files), is_cut=is_cut or len(last) > FILES_MAX)
