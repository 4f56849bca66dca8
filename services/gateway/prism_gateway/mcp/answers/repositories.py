"""Repositories and their settings."""

from prism_contracts.records import Repository
from prism_contracts.rpc.changes import ChangesReply
from prism_contracts.rpc.repositories import RepositoryReply, RepositoryStatusReply
from prism_gateway.mcp.answers import indexing
from prism_gateway.mcp.answers.receipts import short_commit
from prism_gateway.mcp.answers.stale import edit_of
from prism_gateway.mcp.tool import Answer, Json

SETTINGS = {"name", "source", "ref", "is_active", "repo_root_prefix", "include", "exclude"}


def registered(found: RepositoryReply) -> Answer:
    """Returns a repository with its settings, and the job that imports it, if any."""
    repository = found.repository
    result: Json = {"repository": _settings(repository)}
    if found.job is None:
        return Answer(result, _settings_line(repository))
    job = indexing.job(found.job)
    return Answer(result | job.structured, f"{_settings_line(repository)}\n{job.text}")


def status(found: RepositoryStatusReply) -> Answer:
    """Returns what a repository is doing, and why its last import failed."""
    repository, served = found.repository, found.repository.served
    commit = served.commit if served else ""
    result: Json = {
        "repository": _settings(repository),
        "state": found.state.value,
        "served_commit": commit,
        "lag_seconds": found.lag_seconds,
    }
    lines = [
        f"{repository.name}: {found.state.value}, serves {short_commit(commit) or 'nothing'}",
        _settings_line(repository),
    ]
    if found.active_job:
        job = indexing.job(found.active_job)
        result["active_job"] = job.structured["job"]
        lines.append(job.text)
    if found.last_error:
        result["last_error"] = found.last_error.model_dump(mode="json")
        lines.append(f"the last import failed: {found.last_error.code.value}: {found.last_error.message}")
    return Answer(result, "\n".join(lines))


def with_changes(status: Answer, found: ChangesReply) -> Answer:
    """Returns the status of a repository with its newest changes of files."""
    changes = [one.model_dump(mode="json") for one in found.changes]
    lines = [
        f"{one.at:%Y-%m-%d %H:%M} {one.change} {one.path} ({edit_of(one.commit)})" for one in found.changes
    ]
    text = "\n".join([status.text, *(lines or ["no file has changed within 90 days"])])
    return Answer(status.structured | {"changes": changes}, text)


def _settings(repository: Repository) -> Json:
    return repository.model_dump(mode="json", include=SETTINGS)


def _settings_line(repository: Repository) -> str:
    parts = [
        f"follows {repository.ref or 'the default branch'}",
        *(["is inactive"] if not repository.is_active else []),
        *([f"imports {repository.repo_root_prefix}"] if repository.repo_root_prefix else []),
        *([f"includes {', '.join(repository.include)}"] if repository.include else []),
        *([f"excludes {', '.join(repository.exclude)}"] if repository.exclude else []),
    ]
    return f"{repository.name} {', '.join(parts)}"
