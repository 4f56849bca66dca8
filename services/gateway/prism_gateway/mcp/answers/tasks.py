"""Tasks, and lists of them."""

from collections.abc import Sequence
from datetime import datetime

from prism_contracts.rpc.tasks import SHORT_ID_CHARS, ListTasksReply, TaskReply, TaskSummary
from prism_gateway.mcp.answers.receipts import short_commit
from prism_gateway.mcp.answers.stale import stale_lines
from prism_gateway.mcp.tool import Answer, Json

TITLE_CHARS = 120


def task(found: TaskReply) -> Answer:
    """Returns a task with its links and its history."""
    lines = [
        f"{found.title}",
        f"{found.id}: {found.status}, version {found.version}, created {_day(found.created_at)}"
        f" by {found.created_by}, updated {_day(found.updated_at)}"
        + (f", about {found.repo}" if found.repo else ""),
    ]
    lines += [part for part in (found.description, f"notes: {found.notes}" if found.notes else "") if part]
    lines += [f"{one.reference_type}: {one.file_path}" for one in found.planning_references]
    lines += [*stale_lines(found.stale), *_notes(found)]
    lines += [f"branch {link.branch_name}" for link in found.branches]
    lines += [
        f"commit {short_commit(link.commit_hash)} {link.commit_message}".rstrip() for link in found.commits
    ]
    steps = [change for change in found.history if change.from_status != change.to_status]
    lines += [f"{_day(step.at)} {step.by}: {step.to_status} {step.url}".rstrip() for step in steps]
    return Answer(_json(found), "\n".join(lines))


def changed(found: TaskReply) -> Answer:
    """Returns a task after a change, which its caller knows: without its texts and its history in the text."""
    structured = _json(found, exclude={"history", "description", "notes"})
    links = (f"{len(found.branches)} branches", f"{len(found.commits)} commits")
    lines = [
        f"{found.id}: {found.title[:TITLE_CHARS]}",
        f"{found.status}, version {found.version}, {', '.join(links)}",
        *stale_lines(found.stale),
        *_notes(found),
    ]
    return Answer(structured, "\n".join(lines))


def _json(found: TaskReply, exclude: set[str] | None = None) -> Json:
    """Returns a task for programs. A list that is not known is left out."""
    unknown = {"references_not_found"} if found.references_not_found is None else set()
    return found.model_dump(mode="json", exclude=unknown | (exclude or set()))


def _notes(found: TaskReply) -> list[str]:
    if found.references_not_found is None:
        return ["note: the index did not answer, so the planning references were not looked up."]
    return [f"note: nothing indexed is named {one}" for one in found.references_not_found]


def listed(found: ListTasksReply) -> Answer:
    """Returns a page of tasks, one line for each."""
    result: Json = {
        "tasks": [one.model_dump(mode="json") for one in found.tasks],
        "total": found.total,
    }
    lines = [_count(found), *_lines(found.tasks)]
    if found.next_cursor:
        result["next_cursor"] = found.next_cursor
        lines.append(f"more: cursor {found.next_cursor}")
    return Answer(result, "\n".join(lines))


def _count(found: ListTasksReply) -> str:
    return f"{len(found.tasks)} of {found.total} tasks" if found.total else "No task matches."


def _lines(tasks: Sequence[TaskSummary]) -> list[str]:
    return [
        f"#{one.id[:SHORT_ID_CHARS]} {one.status}: {one.title[:TITLE_CHARS]}"
        + (f" ({', '.join(one.branches)})" if one.branches else "")
        + (" (stale)" if one.stale else "")
        for one in tasks
    ]


def _day(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M")
