"""The progress of an import, on standard error: files sent, files settled with rate and ETA,
queue lengths.
"""

from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from prism_contracts.records import Job, JobState

# Queues are shown on a terminal of this width; on a narrower one they would break the line.
WIDE_COLUMNS = 120
# The bar, counts of millions of files, the rate and the time on a line.
FIGURE_COLUMNS = 52
TITLE_COLUMNS_MIN = 10
SLOW_MS = 2_000

STATE_TEXTS = {
    JobState.CLONING: "Cloning",
    JobState.INDEXING: "Indexing",
}


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} files/s" if speed else "", style="dim")


class IndexProgress:
    """The display of one import; a context manager. Silent if `console` is not a terminal."""

    def __init__(self, console: Console, title: str) -> None:
        self._title = title
        is_wide = console.width >= WIDE_COLUMNS
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", table_column=_title_column(console.width)),
            BarColumn(bar_width=24 if is_wide else 8),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(compact=True),
            *([TextColumn("[dim]{task.fields[note]}")] if is_wide else []),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._source: TaskID | None = None
        self._job: TaskID | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def reading(self) -> None:
        """Show that files are being listed and hashed."""
        self._source = self._add(f"Reading {self._title}")

    def sent(self, files: int, wanted: int) -> None:
        """Show how many of the wanted files are on the bus."""
        assert self._source is not None
        self._progress.update(
            self._source, description="Sending", completed=files, total=wanted, visible=wanted > 0
        )

    def job(self, job: Job, waiting: dict[str, int]) -> None:
        """Show how many files are settled; `waiting` is the queue length per service."""
        if self._job is None:
            self._job = self._add("")
        self._progress.update(
            self._job,
            description=STATE_TEXTS.get(job.state, "Done"),
            completed=settled(job),
            total=job.expected or None,
            note=_note(job, waiting),
        )

    def _add(self, description: str) -> TaskID:
        return self._progress.add_task(description, total=None, note="")


def _title_column(columns: int) -> Column:
    return Column(
        no_wrap=True, overflow="ellipsis", max_width=max(columns - FIGURE_COLUMNS, TITLE_COLUMNS_MIN)
    )


def settled(job: Job) -> int:
    """Returns how many of the files with work have settled, with any outcome."""
    counts = job.counts
    return min(job.expected, counts.indexed + counts.skipped + counts.failed + counts.removed)


def waiting_by_service(status: dict[str, Any]) -> dict[str, int]:
    """Returns the messages that wait per service, in pipeline order. Consumers are named
    `<service>-<lane>-…`.
    """
    waiting: dict[str, int] = {}
    for stream in status.get("streams") or ():
        for consumer in stream["consumers"]:
            service = consumer["name"].partition("-")[0]
            count = consumer["pending"] + consumer["ack_pending"]
            waiting[service] = waiting.get(service, 0) + count
    return {service: count for service, count in waiting.items() if count}


def _note(job: Job, waiting: dict[str, int]) -> str:
    parts = [f"{service} {count:,}" for service, count in waiting.items()]
    if job.counts.failed:
        parts.append(f"failed {job.counts.failed:,}")
    if job.slowest and job.slowest[0].milliseconds > SLOW_MS:
        parts.append(
            f"slow {job.slowest[0].path.rpartition('/')[2]} {job.slowest[0].milliseconds / 1000:,.1f} s"
        )
    return " · ".join(parts)
