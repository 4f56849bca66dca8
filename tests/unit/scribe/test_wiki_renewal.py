"""Which wikis are renewed by themselves."""

from datetime import UTC, datetime, timedelta

import pytest

from prism_contracts.records import FailedWikiPage, LayerState, Repository, WikiRecord, WikiState
from prism_scribe.core.wiki.pages import FORMAT
from prism_scribe.core.wiki.renewal import ATTEMPTS_MAX, SILENT_S, RenewalTimes, is_due

START = datetime(2026, 11, 25, tzinfo=UTC)
TIMES = RenewalTimes(settle_s=30, pause_s=300)
LATER = START + timedelta(seconds=1000)


def wiki(state: WikiState = WikiState.COMPLETE, version: int = 1, **changes: object) -> WikiRecord:
    return WikiRecord(
        tenant="t", repo="r", state=state, format=FORMAT, version=version, commit="c", toc=(), started_at=START,
        alive_at=START,
    ).model_copy(update=changes)  # fmt: skip


def repository(version: int = 2, indexed_at: datetime = START, **changes: object) -> Repository:
    served = LayerState(commit="c", version=version, job="j", indexed_at=indexed_at)
    return Repository(
        tenant="t", repo="r", name="a/b", source="upload", created_at=START, next_version=version + 1, served=served
    ).model_copy(update=changes)  # fmt: skip


def test_a_wiki_is_renewed_after_an_import():
    assert is_due(wiki(), repository(), LATER, TIMES)


def test_a_wiki_of_the_newest_import_is_left_alone():
    assert not is_due(wiki(version=2), repository(), LATER, TIMES)


def test_a_wiki_of_an_older_page_writer_is_renewed():
    assert is_due(wiki(version=2, format=FORMAT - 1), repository(), LATER, TIMES)


@pytest.mark.parametrize(("seconds", "due"), [(29, False), (30, True)])
def test_pushes_that_follow_each_other_are_one_renewal(seconds, due):
    indexed = repository(indexed_at=LATER - timedelta(seconds=seconds))

    assert is_due(wiki(), indexed, LATER, TIMES) is due


@pytest.mark.parametrize(("seconds", "due"), [(299, False), (300, True)])
def test_a_wiki_is_renewed_once_in_a_while_at_most(seconds, due):
    assert is_due(wiki(), repository(), START + timedelta(seconds=seconds), TIMES) is due


@pytest.mark.parametrize("changes", [{"active_job": "j2"}, {"next_version": 9}, {"served": None}])
def test_a_renewal_waits_for_the_end_of_an_import(changes):
    assert not is_due(wiki(), repository(**changes), LATER, TIMES)


@pytest.mark.parametrize("state", [WikiState.PLANNING, WikiState.RUNNING])
def test_a_run_that_is_alive_is_left_alone_and_a_silent_one_resumed(state):
    silent_at = START + timedelta(seconds=SILENT_S)

    assert not is_due(wiki(state, version=2), repository(), silent_at - timedelta(seconds=1), TIMES)
    assert is_due(wiki(state, version=2), repository(), silent_at, TIMES)
    assert not is_due(wiki(state, version=2, alive_at=LATER), repository(), LATER, TIMES)


@pytest.mark.parametrize(("attempts", "due"), [(ATTEMPTS_MAX - 1, True), (ATTEMPTS_MAX, False)])
def test_failed_pages_are_tried_again_but_not_for_ever(attempts, due):
    failed = (FailedWikiPage(key="flows", title="Flows", error="no", attempts=attempts),)
    record = wiki(WikiState.COMPLETE_WITH_ERRORS, version=2, failed_pages=failed)

    assert is_due(record, repository(), LATER, TIMES) is due


def test_a_wiki_that_could_not_be_planned_is_tried_again():
    assert is_due(wiki(WikiState.FAILED, version=2), repository(), LATER, TIMES)
