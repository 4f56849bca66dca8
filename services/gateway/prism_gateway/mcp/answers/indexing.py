"""The index: repositories, jobs, coverage."""

from collections.abc import Mapping, Sequence

from prism_contracts.base import BASE_LAYER
from prism_contracts.records import Job, JobState, Layer, LayerKind, LayerState, Repository
from prism_contracts.rpc.files import CoverageReply
from prism_contracts.rpc.layers import LayerReply
from prism_contracts.rpc.repositories import (
    RemoveRepositoryReply,
)
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.receipts import receipt_line, short_commit
from prism_gateway.mcp.tool import Answer, Json

# The cost of a problem without its path and detail, in characters: braces, field names.
PROBLEM_CHARS = 60
JOB_PROBLEMS_MAX = 20


def coverage(reply: CoverageReply, max_tokens: int) -> Answer:
    """Returns what is searchable and what is not."""
    overheads = [len(problem.file_path) + len(problem.detail) + PROBLEM_CHARS for problem in reply.problems]
    kept = fit([0] * len(overheads), overheads, chars(max_tokens), 0).kept
    problems = reply.problems[:kept]
    structured = reply.model_dump(mode="json") | {"problems": [p.model_dump(mode="json") for p in problems]}
    lines = [
        f"{reply.repo}: {reply.files} files, {reply.indexed} indexed, {reply.skipped} skipped, {reply.failed} failed",
        f"reasons: {_counts(reply.by_reason) or 'none'}",
        f"languages: {_counts(reply.by_language) or 'none'}",
        f"parse: {_counts(reply.by_parse) or 'none'}",
        *([f"deep vectors: {reply.deep} of {reply.indexed} files"] if reply.deep else []),
        *([f"SCIP: {reply.scip} of {reply.indexed} files"] if reply.scip else []),
        *(f"{file.file_path}: indexed without symbols, parse {file.parse}" for file in reply.unparsed[:kept]),
        *(
            f"{problem.file_path}: {problem.status}, {problem.reason} {problem.detail}".rstrip()
            for problem in problems
        ),
        receipt_line(reply.receipt),
    ]
    if kept < len(reply.problems):
        structured["truncated"] = True
        lines.append(f"note: {len(reply.problems) - kept} problems left out: raise max_tokens.")
    return Answer(structured, "\n".join(lines))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{key or 'other'} {value}" for key, value in counts.items())


def jobs(found: Sequence[Job]) -> Answer:
    """Jobs, newest first."""
    shown = [_job(job) for job in found]
    return Answer({"jobs": shown}, "\n".join(_job_line(job) for job in found) or "No jobs yet.")


def job(found: Job) -> Answer:
    """One job."""
    return Answer({"job": _job(found)}, _job_line(found))


def _job(job: Job) -> Json:
    hidden = {"tenant", "repo", "settled", "problems", "lane"}
    shown = job.model_dump(mode="json", exclude=hidden, exclude_none=True)
    shown["repo"] = shown.pop("repo_name")
    shown["repository_id"] = job.repo
    if job.finished_at:
        shown["duration_seconds"] = round((job.finished_at - job.created_at).total_seconds(), 3)
    shown["settled"] = settled_files(job)
    shown["problems"] = [problem.model_dump(mode="json") for problem in job.problems[:JOB_PROBLEMS_MAX]]
    return shown


def _job_line(job: Job) -> str:
    counts = job.counts
    line = (
        f"{job.job} {job.repo_name} {job.state.value}: {settled_files(job)} of {job.expected} files settled "
        f"({counts.indexed} indexed, {counts.unchanged} unchanged, {counts.skipped} skipped, {counts.failed} failed)"
    )
    if job.finished_at:
        line += f" in {(job.finished_at - job.created_at).total_seconds():.1f} s"
    return f"{line}; {job.error.code.value}: {job.error.message}" if job.error else line


def settled_files(job: Job) -> int:
    """Returns how many of the expected files are settled."""
    # The bits are dropped when the job ends: then every file is settled, or the whole job failed.
    if job.state in (JobState.COMPLETE, JobState.COMPLETE_WITH_ERRORS):
        return job.expected
    return int.from_bytes(job.settled, "little").bit_count()


def layer(found: LayerReply) -> Answer:
    """Returns a layer and the job that updates it."""
    known = found.layer
    facts = known.model_dump(
        mode="json", include={"ref", "kind", "files_changed", "files_hidden", "expires_at"}
    )
    facts["commit"] = known.served.commit if known.served else ""
    result: Json = {"layer": facts} | ({"job": _job(found.job)} if found.job else {})
    state = _job_line(found.job) if found.job else "an update follows the running one"
    return Answer(result, f"layer {known.ref}: {state}")


def overlay(found: LayerReply) -> Answer:
    """Returns an overlay that was opened or updated."""
    expires_at = found.layer.expires_at.isoformat() if found.layer.expires_at else ""
    result: Json = {"handle": found.layer.ref, "expires_at": expires_at}
    if found.job:
        result["job"] = _job(found.job)
    return Answer(result, f"{found.layer.ref}: pass it as ref; until {expires_at}")


def layer_gone(found: LayerReply) -> Answer:
    """Returns a deleted layer."""
    return Answer({"deleted": found.layer.ref}, f"{found.layer.ref} is deleted")


def repository_gone(found: RemoveRepositoryReply) -> Answer:
    """Returns a removed repository."""
    cancelled = f"; {found.jobs_cancelled} running jobs are cancelled" if found.jobs_cancelled else ""
    facts = {"deleted": found.repo, "jobs_cancelled": found.jobs_cancelled}
    return Answer(facts, f"{found.repo} is deleted{cancelled}")


def repositories(found: Sequence[Repository], layers: Sequence[Layer]) -> Answer:
    """Returns the tenant's repositories with their served refs, without overlays."""
    shared = [layer for layer in layers if layer.kind is not LayerKind.OVERLAY and layer.files]
    shown = [
        _repository(repository, [layer for layer in shared if layer.repo == repository.repo])
        for repository in found
    ]
    lines = [_repository_line(repository) for repository in shown]
    return Answer(
        {"repositories": shown}, "\n".join(lines) or "No repositories yet; index_repository adds one."
    )


def _repository(repository: Repository, layers: Sequence[Layer]) -> Json:
    above = [_served(layer.ref, layer.served) | {"ref": layer.ref} for layer in layers if layer.served]
    return {
        "name": repository.name,
        "source": repository.source,
        "head_commit": repository.head_commit,
        "layers": [*([_served(BASE_LAYER, repository.served)] if repository.served else []), *above],
    }


def _served(layer: str, served: LayerState) -> Json:
    result = served.model_dump(mode="json", include={"ref", "commit", "dirty", "indexed_at"})
    return {"layer": layer, **result}


def _repository_line(shown: Json) -> str:
    served = ", ".join(f"{layer['layer']} {short_commit(layer['commit'])}" for layer in shown["layers"])
    return f"{shown['name']}: {served or 'not indexed yet'}"
