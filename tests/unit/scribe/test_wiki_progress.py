"""The states of a wiki."""

from datetime import UTC, datetime

import pytest

from prism_contracts.records import WikiPageKind, WikiPageState, WikiRecord, WikiState, WikiTocEntry
from prism_scribe.core.wiki import progress

NOW = datetime(2026, 11, 25, tzinfo=UTC)
TOC = (
    WikiTocEntry(key="overview", title="Overview", kind=WikiPageKind.OVERVIEW),
    WikiTocEntry(key="flows", title="Flows", kind=WikiPageKind.FLOWS),
)


def begun(found: WikiRecord | None = None, version: int = 3, toc=TOC) -> WikiRecord:
    record = progress.begun(found, tenant="t", repo="r", version=version, commit=f"c{version}", now=NOW)
    return progress.planned(record, version, toc)


def page(version: int = 3) -> WikiPageState:
    return WikiPageState(
        source_hash="h", object="o", size_bytes=1, version=version, commit=f"c{version}", written_at=NOW
    )


def test_a_run_ends_complete_with_all_pages():
    record = begun()
    for entry in TOC:
        record = progress.with_page(record, entry.key, page())

    assert progress.ended(record, 3, NOW).state is WikiState.COMPLETE
    assert progress.is_done(progress.ended(record, 3, NOW), 3)


def test_a_run_with_a_failed_page_ends_with_errors():
    record = progress.with_page(begun(), "overview", page())
    record = progress.with_failure(record, version=3, entry=TOC[1], error="no", attempts=3)

    ended = progress.ended(record, 3, NOW)

    assert ended.state is WikiState.COMPLETE_WITH_ERRORS
    assert [(one.key, one.title, one.error, one.attempts) for one in ended.failed_pages] == [
        ("flows", "Flows", "no", 3)
    ]


def test_attempts_add_up_over_runs_and_end_with_the_page():
    record = progress.with_failure(begun(), version=3, entry=TOC[1], error="no", attempts=3)
    again = progress.with_failure(begun(record), version=3, entry=TOC[1], error="still", attempts=1)

    assert [(one.error, one.attempts) for one in again.failed_pages] == [("still", 4)]
    assert progress.with_page(again, "flows", page()).failed_pages == ()


def test_a_resumed_run_keeps_what_is_written():
    record = progress.with_page(begun(), "overview", page())

    resumed = begun(record)

    assert (resumed.state, resumed.toc) == (WikiState.RUNNING, TOC)
    assert [progress.is_current(resumed, entry.key) for entry in TOC] == [True, False]


@pytest.mark.parametrize("change", [{"version": 2}, {"format": 0}], ids=["version", "format"])
def test_after_an_import_or_an_upgrade_every_page_is_compared_again(change):
    record = progress.ended(progress.with_page(begun(), "overview", page()), 3, NOW).model_copy(update=change)

    resumed = progress.begun(record, tenant="t", repo="r", version=3, commit="c3", now=NOW)

    assert (resumed.state, resumed.toc) == (WikiState.PLANNING, TOC)
    assert resumed.pages.keys() == {"overview"}
    assert not progress.is_current(resumed, "overview")
    assert not progress.is_done(record, 3)


def test_pages_that_are_planned_no_more_go():
    record = progress.with_page(begun(), "flows", page())

    assert begun(record, version=4, toc=TOC[:1]).pages == {}


def test_a_wiki_that_cannot_be_planned_fails_with_the_reason_and_keeps_its_older_pages():
    older = progress.ended(progress.with_page(begun(), "overview", page()), 3, NOW)
    record = progress.begun(older, tenant="t", repo="r", version=4, commit="c4", now=NOW)

    failed = progress.unplanned(record, 4, "no graph", NOW)

    assert (failed.state, failed.error, failed.finished_at) == (WikiState.FAILED, "no graph", NOW)
    assert failed.pages.keys() == {"overview"}
    assert begun(failed, version=4).error == ""


def test_a_table_of_contents_that_is_stored_is_kept():
    assert progress.planned(begun(), 3, TOC[:1]).toc == TOC
    assert progress.unplanned(begun(), 3, "no", NOW).state is WikiState.RUNNING


@pytest.mark.parametrize("found", [None, begun(version=4)], ids=["removed", "newer"])
def test_a_superseded_run_changes_nothing(found):
    for change in (
        lambda: progress.with_page(found, "overview", page()),
        lambda: progress.with_failure(found, version=3, entry=TOC[0], error="no", attempts=1),
        lambda: progress.ended(found, 3, NOW),
        lambda: progress.planned(found, 3, TOC),
        lambda: progress.unplanned(found, 3, "no", NOW),
    ):
        with pytest.raises(progress.SupersededError):
            change()


def test_an_older_run_never_replaces_a_newer_one():
    with pytest.raises(progress.SupersededError):
        begun(begun(version=4), version=3)
