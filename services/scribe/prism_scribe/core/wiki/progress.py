"""The states of a wiki: how it is planned, what each page changes, how it ends. Pure, so that a write can repeat them.

A run belongs to one version of the index. The record of a newer run is never changed by an older one.
"""

from collections.abc import Mapping
from datetime import datetime

from prism_contracts.records import (
    FailedWikiPage,
    OlderWikiPage,
    WikiPageState,
    WikiRecord,
    WikiState,
    WikiTocEntry,
)
from prism_scribe.core.wiki.pages import FORMAT

ERROR_CHARS_MAX = 300
# The version of a page that another run, or another version of Prism, wrote.
UNCOMPARED = 0
# Texts of a page that are kept after newer ones.
OLDER_MAX = 10


class SupersededError(Exception):
    """A newer run has taken over the wiki, or its repository was removed."""


def is_done(record: WikiRecord | None, version: int) -> bool:
    """Whether a wiki has all pages of a version of the index."""
    return record is not None and is_same(record, version) and record.state is WikiState.COMPLETE


def begun(
    found: WikiRecord | None, *, tenant: str, repo: str, version: int, commit: str, now: datetime
) -> WikiRecord:
    """Returns the record of a run that begins or resumes. Written pages stay until newer ones replace them.

    A run that has a table of contents goes on with it; another one has to plan it first. Raises
    SupersededError if a newer run has begun.
    """
    if found is not None and found.format == FORMAT and found.version > version:
        raise SupersededError
    resumes = found is not None and is_same(found, version)
    pages: Mapping[str, WikiPageState] = found.pages if found else {}
    if not resumes:
        pages = {key: page.model_copy(update={"version": UNCOMPARED}) for key, page in pages.items()}
    return WikiRecord(
        tenant=tenant,
        repo=repo,
        state=WikiState.RUNNING if found and resumes and found.is_planned else WikiState.PLANNING,
        format=FORMAT,
        version=version,
        commit=commit,
        toc=found.toc if found else (),
        pages=dict(pages),
        failed_pages=found.failed_pages if found and resumes else (),
        started_at=now,
        alive_at=now,
    )


def planned(found: WikiRecord | None, version: int, toc: tuple[WikiTocEntry, ...]) -> WikiRecord:
    """Returns the record with its table of contents. Pages that it lacks go. Raises SupersededError."""
    record = _of_run(found, version)
    if record.is_planned:
        return record
    keys = {entry.key for entry in toc}
    pages = {key: page for key, page in record.pages.items() if key in keys}
    return record.model_copy(update={"state": WikiState.RUNNING, "toc": toc, "pages": pages})


def unplanned(found: WikiRecord | None, version: int, error: str, now: datetime) -> WikiRecord:
    """Returns the record of a run that could not plan its pages. Raises SupersededError."""
    record = _of_run(found, version)
    if record.is_planned:
        return record
    update = {"state": WikiState.FAILED, "error": error[:ERROR_CHARS_MAX], "finished_at": now}
    return record.model_copy(update=update)


def with_page(found: WikiRecord | None, key: str, page: WikiPageState) -> WikiRecord:
    """Returns the record with a written page. Raises SupersededError."""
    record = _of_run(found, page.version)
    failed = tuple(one for one in record.failed_pages if one.key != key)
    return record.model_copy(update={"pages": {**record.pages, key: page}, "failed_pages": failed})


def with_failure(
    found: WikiRecord | None, *, version: int, entry: WikiTocEntry, error: str, attempts: int
) -> WikiRecord:
    """Returns the record with a page that failed; its attempts add up over runs. Raises SupersededError."""
    record = _of_run(found, version)
    before = sum(one.attempts for one in record.failed_pages if one.key == entry.key)
    failure = FailedWikiPage(
        key=entry.key, title=entry.title, error=error[:ERROR_CHARS_MAX], attempts=before + attempts
    )
    others = tuple(one for one in record.failed_pages if one.key != entry.key)
    return record.model_copy(update={"failed_pages": (*others, failure)})


def ended(found: WikiRecord | None, version: int, now: datetime) -> WikiRecord:
    """Returns the record of a run that has tried every page. Raises SupersededError."""
    record = _of_run(found, version)
    is_whole = all(is_current(record, entry.key) for entry in record.toc) and not record.failed_pages
    state = WikiState.COMPLETE if is_whole else WikiState.COMPLETE_WITH_ERRORS
    return record.model_copy(update={"state": state, "finished_at": now})


def older_texts(before: WikiPageState | None, source_hash: str) -> tuple[OlderWikiPage, ...]:
    """Returns the older texts of a page that has these sources from now on.

    The text that a page had before its introduction is not an older one.
    """
    if before is None:
        return ()
    if before.source_hash == source_hash:
        return before.older
    replaced = OlderWikiPage(object=before.object, commit=before.commit, written_at=before.written_at)
    return (replaced, *before.older)[:OLDER_MAX]


def dropped_texts(before: WikiPageState | None, now: WikiPageState) -> set[str]:
    """Returns the objects that a page named before, and names no longer."""
    if before is None:
        return set()
    return objects_of(before) - objects_of(now)


def objects_of(page: WikiPageState) -> set[str]:
    """Returns the objects that a page names: its text, and the older ones."""
    return {page.object, *(text.object for text in page.older)}


def alive(found: WikiRecord | None, version: int, now: datetime) -> WikiRecord:
    """Returns the record of a run that goes on. Raises SupersededError if it has ended, too."""
    record = _of_run(found, version)
    if not record.state.is_under_way:
        raise SupersededError
    return record.model_copy(update={"alive_at": now})


def is_current(record: WikiRecord, key: str) -> bool:
    """Whether a page was compared with the version of the record."""
    page = record.pages.get(key)
    return page is not None and page.version == record.version


def is_same(record: WikiRecord, version: int) -> bool:
    """Whether a record belongs to a version of the index, and to this version of the page writer."""
    return record.format == FORMAT and record.version == version


def _of_run(found: WikiRecord | None, version: int) -> WikiRecord:
    if found is None or not is_same(found, version):
        raise SupersededError
    return found
