"""How pages write numbers, times, addresses and states."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

from prism_contracts.records import NO_TREE, Job, JobState

DEFAULT_REF: Final = "HEAD"
SLASH: Final = "~"  # in place of a slash in a ref: no ref of git has one
COMMIT_CHARS: Final = 7
LINES_OF_PAGE: Final = 2_000
MINUTE_S: Final = 60
HOUR_S: Final = 3_600
DAY_S: Final = 86_400
KIB: Final = 1024


def number(value: float) -> str:
    """Returns a number with separators of thousands."""
    return f"{value:,.0f}"


def ago(moment: datetime | None) -> str:
    """Returns how long ago a time was."""
    if moment is None:
        return "never"
    seconds = (datetime.now(UTC) - moment).total_seconds()
    return f"{span(seconds)} ago" if seconds >= 1 else "now"


def span(seconds: float) -> str:
    """Returns a length of time, in one unit."""
    for size, unit in ((DAY_S, "d"), (HOUR_S, "h"), (MINUTE_S, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def size(count: int) -> str:
    """Returns a number of bytes, in one unit."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < KIB:
            return f"{value:.0f} {unit}"
        value /= KIB
    return f"{value:.1f} GiB"


def commit(value: str) -> str:
    """Returns the beginning of a commit, or of the digest of a folder."""
    if value == NO_TREE:
        return "no commit"
    kind, mark, digest = value.rpartition(":")
    return f"{kind}{mark}{digest[:COMMIT_CHARS]}" if value else "—"


def words(value: str) -> str:
    """Returns a code as words: `complete_with_errors` is `complete with errors`."""
    return value.replace("_", " ")


def ref_part(ref: str) -> str:
    """Returns a ref as one part of a path."""
    return quote(ref.replace("/", SLASH), safe="~:@+") if ref else DEFAULT_REF


def ref_of(part: str) -> str:
    """Returns the ref that a part of a path means."""
    return "" if part == DEFAULT_REF else part.replace(SLASH, "/")


def repo_url(name: str, page: str = "", ref: str | None = None, path: str = "") -> str:
    """Returns the address of a page of a repository."""
    url = f"/r/{quote(name, safe='/@+~')}"
    if page:
        url += f"/-/{page}"
    if ref is not None:
        url += f"/{ref_part(ref)}"
    if path:
        url += f"/{quote(path)}"
    return url


def compare_url(name: str, before: str, after: str) -> str:
    """Returns the address of two refs beside each other."""
    return f"{repo_url(name, 'compare')}/{ref_part(before)}...{ref_part(after)}"


def blob_url(name: str, ref: str, path: str, start: int = 0, end: int = 0) -> str:
    """Returns the address of lines of a file."""
    url = repo_url(name, "blob", ref, path)
    if start > LINES_OF_PAGE:
        url += f"?line={start}"
    if start:
        url += f"#L{start}" + (f"-L{end}" if end > start else "")
    return url


def symbol_url(name: str, ref: str, symbol: str, path: str = "") -> str:
    """Returns the address of a symbol."""
    query = urlencode({key: value for key, value in (("name", symbol), ("path", path)) if value})
    return f"{repo_url(name, 'symbol', ref)}?{query}"


def search_url(**fields: str) -> str:
    """Returns the address of a search."""
    return f"/search?{urlencode({key: value for key, value in fields.items() if value})}"


def folder(path: str) -> str:
    """Returns the folder of a path, with its slash."""
    return path[: path.rfind("/") + 1]


def leaf(path: str) -> str:
    """Returns the last part of a path."""
    return path[path.rfind("/") + 1 :]


def short_time(moment: datetime | None) -> str:
    """Returns a time to the minute, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else "—"


def moment(text: str) -> datetime:
    """Returns a time that JSON has as a text."""
    return datetime.fromisoformat(text)


def stage(consumer: str) -> str:
    """Returns the service of a consumer: `embedder-deep-live-deep-requested` is `embedder-deep`."""
    return re.split("-(?:live|bulk|dead)-", consumer, maxsplit=1)[0]


def fact(subject: str) -> str:
    """Returns what a message on a subject says: `prism.live.file.changed` is `file changed`."""
    return subject.split(".", 2)[-1].replace(".", " ")


def settled(job: Job) -> int:
    """Returns how many of the files with work have settled, with any outcome."""
    counts = job.counts
    return min(job.expected, counts.indexed + counts.skipped + counts.failed + counts.removed)


def rate(job: Job) -> float:
    """Returns the files that a job settles in a second, on average; 0 while there is nothing to measure."""
    if job.planned_at is None:
        return 0.0
    seconds = (job.updated_at - job.planned_at).total_seconds()
    return settled(job) / seconds if seconds >= 1 else 0.0


def stages(job: Job) -> list[str]:
    """Returns the stages of a running import: those that are over, with their times, and the one that goes on."""
    if job.planned_at is None:
        began = "fetching" if job.state is JobState.CLONING else "comparing with the index"
        return [f"{began} for {_between(job.created_at, datetime.now(UTC))}"]
    fetched = [f"fetched in {_between(job.created_at, job.fetched_at)}"] if job.fetched_at else []
    compared = f"compared in {_between(job.fetched_at or job.created_at, job.planned_at)}"
    return [*fetched, compared, f"indexing for {_between(job.planned_at, datetime.now(UTC))}"]


def _between(start: datetime, end: datetime) -> str:
    seconds = (end - start).total_seconds()
    return span(seconds) if seconds >= 1 else "under 1 s"


GLOBALS: Final[Mapping[str, Any]] = {
    "NO_TREE": NO_TREE,
    "repo_url": repo_url,
    "blob_url": blob_url,
    "compare_url": compare_url,
    "symbol_url": symbol_url,
    "search_url": search_url,
    "settled": settled,
    "rate": rate,
    "stages": stages,
}
FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "number": number,
    "ago": ago,
    "span": span,
    "size": size,
    "commit": commit,
    "words": words,
    "folder": folder,
    "leaf": leaf,
    "short_time": short_time,
    "moment": moment,
    "stage": stage,
    "fact": fact,
}
