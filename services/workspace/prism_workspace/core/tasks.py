"""What a change makes of a task: its fields, its links, its history. Without I/O.

Takes records and requests, returns records and replies. The time is always passed in.
"""

import re
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.events import PullRequestMerged, PushedCommit
from prism_contracts.names import MESSAGE_BYTES_MAX
from prism_contracts.records import BranchLink, CommitLink, PlanningReference, TaskChange, TaskRecord
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.tasks import (
    SHORT_ID_CHARS,
    CreateTaskRequest,
    TaskReply,
    TaskStatus,
    TaskSummary,
    UpdateTaskRequest,
)
from prism_workspace.core.references import checked_reference, is_address, reference_type

BRANCHES_MAX = 100
COMMITS_MAX = 200
MESSAGE_CHARS_MAX = 200
# The creation is always kept; of the other changes, the newest.
HISTORY_MAX = 500
# A record travels in one message.
RECORD_BYTES_MAX = MESSAGE_BYTES_MAX
NOBODY = "unknown"
BY_PUSH = "push"
BY_PULL_REQUEST = "pull request"
ID_DIGITS = 32
_COMMIT = re.compile(r"[0-9a-f]{40}")
_ID = re.compile(r"[0-9a-f-]+")


def new_task_id(tenant: str, client_id: str) -> str:
    """Returns the id of a new task: random, or the same for the same client id."""
    return str(
        uuid.uuid5(uuid.NAMESPACE_URL, f"prism:task:{tenant}:{client_id}") if client_id else uuid.uuid4()
    )


def created(request: CreateTaskRequest, now: datetime) -> TaskRecord:
    """Returns the record of a new task. Raises INVALID_PATH for a planning reference."""
    by = request.by or NOBODY
    task = TaskRecord(
        tenant=request.tenant,
        task=new_task_id(request.tenant, request.client_id),
        title=request.title,
        description=request.description,
        notes=request.notes,
        status=TaskStatus.TO_DO,
        repo=request.repo.lower(),
        created_at=now,
        updated_at=now,
        created_by=by,
        references=_references(request.planning_references),
        history=(TaskChange(version=1, at=now, by=by, changed=("status",), to_status=TaskStatus.TO_DO),),
    )
    return _checked_size(task)


def check_status(status: str, known: Collection[str]) -> None:
    """Raises INVALID_STATUS unless tasks may have this status."""
    if status not in known:
        raise PrismError(
            ErrorCode.INVALID_STATUS,
            f"There is no status {shown(status)!r}.",
            f"Use one of: {', '.join(known)}.",
            statuses=list(known),
        )


def changed(
    request: UpdateTaskRequest, statuses: Collection[str], now: datetime
) -> Callable[[TaskRecord], TaskRecord]:
    """Returns the change that a request describes.

    Raises INVALID_STATUS, INVALID_COMMIT, INVALID_PATH; the change raises TASK_CONFLICT if the task is not at
    the expected version, and LIMIT_EXCEEDED for one link too many.
    """
    if request.status is not None:
        check_status(request.status, statuses)
    fields: dict[str, object] = {
        "title": request.title,
        "description": request.description,
        "notes": request.notes,
        "status": request.status,
        "references": None
        if request.planning_references is None
        else _references(request.planning_references),
    }
    given = {name: value for name, value in fields.items() if value is not None}
    commit = checked_commit(request.commit) if request.commit else ""

    def change(task: TaskRecord) -> TaskRecord:
        if request.expected_version is not None and request.expected_version != task.version:
            raise conflict(task)
        repo = request.repo.lower() or task.repo
        links: dict[str, object] = {
            "branches": with_branch(task.branches, request.branch, repo, now),
            "commits": with_commit(task.commits, commit, request.commit_message, repo, now),
        }
        return recorded(task, given | links, request.by, now)

    return change


def linked(
    branch: str, commits: Sequence[PushedCommit], repo: str, now: datetime
) -> Callable[[TaskRecord], TaskRecord]:
    """Returns the change that links a branch, if there is one, and commits of a push.

    Commits whose hash is not SHA-1 are left out. The change raises LIMIT_EXCEEDED, PAYLOAD_TOO_LARGE.
    """
    known = repo.lower()

    def change(task: TaskRecord) -> TaskRecord:
        links = task.commits
        for pushed in commits:
            if _COMMIT.fullmatch(pushed.commit):
                links = with_commit(links, pushed.commit, pushed.message, known, now)
        branches = with_branch(task.branches, branch, known, now)
        return recorded(task, {"branches": branches, "commits": links}, BY_PUSH, now)

    return change


def completed(merge: PullRequestMerged, now: datetime) -> Callable[[TaskRecord], TaskRecord]:
    """Returns the change that completes a task because a pull request was merged.

    Each pull request completes a task once: a task that was opened again since stays open. A task of another
    repository stays as it is, because whoever merges may not be one of those who see it.
    """
    repo = merge.name.lower()
    source = {"repo": repo, "pull_request": merge.pull_request, "url": merge.merged.url}

    def change(task: TaskRecord) -> TaskRecord:
        was_here = any((one.repo, one.pull_request) == (repo, merge.pull_request) for one in task.history)
        if was_here or task.repo not in ("", repo):
            return task
        return recorded(task, {"status": TaskStatus.COMPLETE.value}, BY_PULL_REQUEST, now, source)

    return change


def recorded(
    task: TaskRecord,
    values: Mapping[str, object],
    by: str,
    now: datetime,
    source: Mapping[str, str] = MappingProxyType({}),
) -> TaskRecord:
    """Returns the task with these values and one more entry in its history; unchanged if it has them all.

    `source` has the pull request of the entry.
    """
    differing = {name: value for name, value in values.items() if getattr(task, name) != value}
    if not differing:
        return task
    new = task.model_copy(update=differing)
    at = max(now, task.updated_at)  # the clocks of two copies may differ, and the history is in order
    entry = TaskChange(
        version=task.version + 1,
        at=at,
        by=by or NOBODY,
        changed=tuple(sorted(differing)),
        from_status=task.status,
        to_status=new.status,
        **source,
    )
    history = (*task.history[:1], *task.history[1:][-(HISTORY_MAX - 2) :], entry)
    return _checked_size(
        new.model_copy(update={"version": task.version + 1, "updated_at": at, "history": history})
    )


def checked_commit(commit: str) -> str:
    """Returns a full commit hash in lower case. Raises INVALID_COMMIT."""
    lowered = commit.lower()
    if not _COMMIT.fullmatch(lowered):
        raise PrismError(
            ErrorCode.INVALID_COMMIT,
            f"{shown(commit)!r} is not a full commit hash.",
            "Give all 40 hex digits, as `git rev-parse HEAD` prints them.",
        )
    return lowered


def with_branch(
    links: tuple[BranchLink, ...], branch: str, repo: str, now: datetime
) -> tuple[BranchLink, ...]:
    """Returns the links with that branch, which is linked once. Raises LIMIT_EXCEEDED."""
    if not branch or any((link.branch_name, link.repo) == (branch, repo) for link in links):
        return links
    _check_room(len(links), BRANCHES_MAX, "branches")
    return (*links, BranchLink(branch_name=branch, repo=repo, linked_at=now))


def with_commit(
    links: tuple[CommitLink, ...], commit: str, message: str, repo: str, now: datetime
) -> tuple[CommitLink, ...]:
    """Returns the links with that commit, which is linked once. Raises LIMIT_EXCEEDED."""
    if not commit or any(link.commit_hash == commit for link in links):
        return links
    _check_room(len(links), COMMITS_MAX, "commits")
    first_line = message.strip().partition("\n")[0][:MESSAGE_CHARS_MAX]
    return (*links, CommitLink(commit_hash=commit, commit_message=first_line, repo=repo, linked_at=now))


def text_of(task: TaskRecord) -> str:
    """Returns the Markdown of a task, in which it names places of code."""
    references = [one.file_path for one in task.references if "`" not in one.file_path]
    places = [f"<{one}>" if is_address(one) else f"`{one}`" for one in references]
    return "\n\n".join((task.title, task.description, task.notes, *places))


def is_visible(task: TaskRecord, request: CallerRequest) -> bool:
    """Whether a caller sees a task: those of a repository are for the callers who see that."""
    return not task.repo or request.sees(task.repo)


def id_prefix(task_id: str) -> str:
    """Returns the id of a task, or the beginning of one, as it is stored. Raises TASK_NOT_FOUND.

    Accepts `#` before it, and the digits of a UUID without dashes.
    """
    digits = task_id.strip().removeprefix("#").lower()
    bare = digits.replace("-", "")
    if not _ID.fullmatch(digits) or not SHORT_ID_CHARS <= len(bare) <= ID_DIGITS:
        raise not_found(task_id)
    parts = (bare[:8], bare[8:12], bare[12:16], bare[16:20], bare[20:])
    return "-".join(part for part in parts if part)


def not_found(task_id: str) -> PrismError:
    """Returns the error for an id that no task has."""
    return PrismError(
        ErrorCode.TASK_NOT_FOUND,
        f"There is no task {shown(task_id)!r}.",
        "Call list_tasks for the ids. An id is a UUID, or at least its first eight digits.",
    )


def conflict(task: TaskRecord) -> PrismError:
    """Returns the error for a change of another version. It carries the newest one."""
    return PrismError(
        ErrorCode.TASK_CONFLICT,
        f"The task has changed: it is at version {task.version}.",
        "Read it with get_task, and repeat the change with that version.",
        version=task.version,
        status=task.status,
        updated_at=task.updated_at.isoformat(),
    )


def reply_of(task: TaskRecord, request: CallerRequest) -> TaskReply:
    """Returns a task as a caller sees it: without links to repositories that are hidden from it, or their
    pull requests.
    """
    return TaskReply(
        id=task.task,
        title=task.title,
        description=task.description,
        notes=task.notes,
        status=task.status,
        repo=task.repo,
        version=task.version,
        created_at=task.created_at,
        updated_at=task.updated_at,
        created_by=task.created_by,
        planning_references=task.references,
        branches=tuple(link for link in task.branches if not link.repo or request.sees(link.repo)),
        commits=tuple(link for link in task.commits if not link.repo or request.sees(link.repo)),
        history=tuple(
            change
            if not change.repo or request.sees(change.repo)
            else change.model_copy(update={"repo": "", "pull_request": "", "url": ""})
            for change in task.history
        ),
    )


def summary_of(task: TaskRecord) -> TaskSummary:
    """Returns a task as lists show it."""
    return TaskSummary(
        id=task.task,
        title=task.title,
        status=task.status,
        repo=task.repo,
        version=task.version,
        created_at=task.created_at,
        updated_at=task.updated_at,
    )


def _references(paths: tuple[str, ...]) -> tuple[PlanningReference, ...]:
    unique = dict.fromkeys(checked_reference(path) for path in paths)
    return tuple(PlanningReference(file_path=path, reference_type=reference_type(path)) for path in unique)


def _check_room(links: int, links_max: int, what: str) -> None:
    if links >= links_max:
        raise PrismError(
            ErrorCode.LIMIT_EXCEEDED,
            f"A task is linked to at most {links_max} {what}.",
            "Create another task for the rest of the work.",
        )


def _checked_size(task: TaskRecord) -> TaskRecord:
    size_bytes = len(task.model_dump_json().encode(errors="surrogatepass"))
    if size_bytes > RECORD_BYTES_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The task would have {size_bytes:,} bytes; the limit is {RECORD_BYTES_MAX:,}.",
            "Shorten its texts, or continue in another task.",
        )
    return task
