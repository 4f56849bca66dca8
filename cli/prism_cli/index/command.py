"""The steps of an import: name the repository, take the snapshot, upload, follow the job,
print the outcome.
"""

import asyncio
import contextlib
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from prism_cli import terminal
from prism_cli.client import Prism
from prism_cli.exits import CommandError, Exit
from prism_cli.index.naming import (
    branch_of,
    check_name,
    git_dir_of,
    is_git_url,
    name_of_folder,
    name_of_url,
)
from prism_cli.index.progress import SLOW_MS, IndexProgress, waiting_by_service
from prism_cli.index.upload import Upload, UploadTarget, upload
from prism_cli.target import ServerTarget
from prism_contracts.errors import ErrorCode
from prism_contracts.records import FINAL_STATES, FileProblem, Job, JobState, SlowFile
from prism_source.folder import snapshot_folder
from prism_source.gittree import snapshot_git
from prism_source.snapshot import Snapshot

# The pause between two polls of a job: a fiftieth of its running time, within these limits. A poll costs
# client and stack 5 ms.
POLL_MIN_S = 0.25
POLL_MAX_S = 2.0
POLL_SHARE = 0.02
# The status costs the server more than the job does.
STATUS_EVERY_S = 5.0
# Without --wait: the time in which a job without work can report that nothing changed.
SETTLE_S = 2.0
PROBLEMS_SHOWN = 20

EXITS = {
    JobState.COMPLETE: Exit.OK,
    JobState.COMPLETE_WITH_ERRORS: Exit.INCOMPLETE,
    JobState.FAILED: Exit.FAILED,
    JobState.ABANDONED: Exit.FAILED,
    JobState.CANCELLED: Exit.FAILED,
}


@dataclass(frozen=True, slots=True)
class Wish:
    """The command's arguments."""

    source: str
    name: str = ""
    ref: str = ""
    wait: bool = False


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The outcome of an import, or its progress."""

    job: Job
    seconds: float
    files_sent: int = 0
    bytes_sent: int = 0

    @property
    def exit_code(self) -> Exit:
        return EXITS.get(self.job.state, Exit.OK)

    @property
    def is_unchanged(self) -> bool:
        """Whether everything was indexed already."""
        counts = self.job.counts
        return self.job.state is JobState.COMPLETE and not (counts.indexed or counts.removed or counts.failed)

    def as_json(self) -> dict[str, Any]:
        """Returns the output of `--json`."""
        return {
            "job": self.job.model_dump(mode="json", exclude={"settled"}),
            "nothing_changed": self.is_unchanged,
            "seconds": round(self.seconds, 3),
            "sent": {"files": self.files_sent, "bytes": self.bytes_sent},
        }


async def index(target: ServerTarget, wish: Wish) -> ImportOutcome:
    """Run the import, with a live display on standard error. Raises CommandError, PrismError
    (of the source).
    """
    check_name(wish.name)
    started_at = time.monotonic()
    title = wish.name or (name_of_url(wish.source) if is_git_url(wish.source) else wish.source)
    async with Prism(target) as prism:
        with IndexProgress(terminal.err, title or wish.source) as progress:
            follower = Follower(prism, progress)
            if is_git_url(wish.source):
                files, bytes_, job = 0, 0, await prism.clone(wish.source, wish.name, wish.ref)
            else:
                files, bytes_, job = await _send_folder(prism, wish, progress, follower)
            job = await follower.follow(job, _give_up_at(wish, job))
    return ImportOutcome(job, time.monotonic() - started_at, files, bytes_)


async def _send_folder(
    prism: Prism, wish: Wish, progress: IndexProgress, follower: "Follower"
) -> tuple[int, int, Job]:
    progress.reading()
    snapshot, name = await asyncio.to_thread(_take_snapshot, wish)
    with snapshot:
        try:
            sent = await _upload(prism, snapshot, UploadTarget(name, wish.ref), follower)
        finally:
            follower.rest()
    return sent.files, sent.bytes, sent.job


async def _upload(prism: Prism, snapshot: Snapshot, layer: UploadTarget, follower: "Follower") -> Upload:
    try:
        return await upload(prism, snapshot, layer, follower)
    except CommandError as error:
        if not layer.ref or error.code not in {ErrorCode.REPO_NOT_FOUND, ErrorCode.REF_NOT_FOUND}:
            raise
    # No base exists for a layer to override, so this ref becomes the base.
    return await upload(prism, snapshot, UploadTarget(layer.repo), follower)


def _take_snapshot(wish: Wish) -> tuple[Snapshot, str]:
    """Snapshot the work tree for a checked-out branch, or the commit of another branch."""
    folder = Path(wish.source).expanduser()
    is_as_it_is = not wish.ref or wish.ref == branch_of(folder)
    snapshot = snapshot_folder(folder) if is_as_it_is else snapshot_git(git_dir_of(folder), wish.ref)
    return snapshot, wish.name or name_of_folder(folder)


def _give_up_at(wish: Wish, job: Job) -> float | None:
    """Returns when to stop following the job, or None to follow it to its end."""
    if wish.wait:
        return None
    return time.monotonic() + (0 if job.state is JobState.CLONING else SETTLE_S)


class Follower:
    """Shows the progress of a job: during the upload as its observer, and afterwards to the end."""

    def __init__(self, prism: Prism, progress: IndexProgress) -> None:
        self._prism = prism
        self._progress = progress
        self._beside: asyncio.Task[Job] | None = None
        self._waiting: dict[str, int] = {}
        self._status_due_at = time.monotonic() + STATUS_EVERY_S

    def opened(self, job: Job) -> None:
        """Show the job while its files are still being sent."""
        self.rest()
        self._beside = asyncio.create_task(self.follow(job, None))
        # If the server does not answer, the upload reports it; this is only the display.
        self._beside.add_done_callback(lambda task: task.cancelled() or task.exception())

    def sent(self, files: int, wanted: int) -> None:
        """Show how much was sent."""
        self._progress.sent(files, wanted)

    def rest(self) -> None:
        """Stop the updates in the background."""
        if self._beside:
            self._beside.cancel()

    async def follow(self, job: Job, give_up_at: float | None) -> Job:
        """Show the job until it is final. With `give_up_at`, stop earlier: once it has work, or at that time."""
        begun_at = time.monotonic()
        while job.state not in FINAL_STATES:
            if give_up_at is not None and (job.expected or time.monotonic() >= give_up_at):
                break
            await asyncio.sleep(_pause_s(time.monotonic() - begun_at))
            job = await self._prism.job(job.job)
            await self._look_at_queues()
            self._progress.job(job, self._waiting)
        return job

    async def _look_at_queues(self) -> None:
        if time.monotonic() < self._status_due_at:
            return
        # Only the display fails; the import continues.
        with contextlib.suppress(CommandError):
            self._waiting = waiting_by_service(await self._prism.status())
        self._status_due_at = time.monotonic() + STATUS_EVERY_S


def show(outcome: ImportOutcome) -> None:
    """Print an import's summary, then its error, slow files and problems."""
    job = outcome.job
    terminal.print_sentence(Text(summary(outcome), style=_style(job.state)))
    if job.error:
        terminal.print_sentence(Text(f"  {job.error.message}  [{job.error.code}]"))
        terminal.print_sentence(Text(f"  → {job.error.next_action}", style="cyan"))
    for line in (*slowest_lines(job.slowest), *problem_lines(job.problems)):
        terminal.out.print(Text(line, style="dim"), soft_wrap=True)


def slowest_lines(slowest: tuple[SlowFile, ...]) -> list[str]:
    """Returns a line for each file that took longer than two seconds."""
    return [
        terminal.printable(f"  slow: {file.path} ({file.milliseconds / 1000:,.1f} s)")
        for file in slowest
        if file.milliseconds > SLOW_MS
    ]


def summary(outcome: ImportOutcome) -> str:
    """Returns one line about a job."""
    job, counts = outcome.job, outcome.job.counts
    if outcome.is_unchanged:
        return f"{job.repo_name}: nothing changed, {counts.seen:,} files ({outcome.seconds:.1f} s)"
    if job.state not in FINAL_STATES:
        return f"{job.repo_name}: {job.state} as job {job.job}; follow it with `prism status`"
    parts = [
        f"{count:,} {word}"
        for count, word in (
            (counts.indexed, "indexed"),
            (counts.unchanged, "unchanged"),
            (counts.removed, "removed"),
            (counts.skipped, "skipped"),
            (counts.failed, "failed"),
        )
        if count
    ]
    rate = counts.indexed / outcome.seconds if outcome.seconds else 0
    figures = f"{counts.chunks:,} chunks, {outcome.seconds:.1f} s, {rate:,.0f} files/s"
    return f"{job.repo_name}: {job.state}: {counts.seen:,} files: {', '.join(parts) or 'none'} ({figures})"


def problem_lines(problems: tuple[FileProblem, ...]) -> list[str]:
    """Returns a line for each of the first problems and, if there are more, the total per error code."""
    lines = [
        terminal.printable(
            f"  {problem.path}: {problem.code}{f' ({problem.detail})' if problem.detail else ''}"
        )
        for problem in problems[:PROBLEMS_SHOWN]
    ]
    if len(problems) > PROBLEMS_SHOWN:
        kinds = ", ".join(
            f"{count} {code}" for code, count in Counter(p.code for p in problems).most_common()
        )
        lines.append(f"  … {len(problems)} in all: {kinds}")
    return lines


def _style(state: JobState) -> str:
    return {
        JobState.COMPLETE: "green",
        JobState.COMPLETE_WITH_ERRORS: "yellow",
        JobState.FAILED: "red",
        JobState.ABANDONED: "red",
        JobState.CANCELLED: "red",
    }.get(state, "default")


def _pause_s(elapsed_s: float) -> float:
    return min(max(POLL_MIN_S, POLL_SHARE * elapsed_s), POLL_MAX_S)
