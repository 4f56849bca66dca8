"""Which wikis are due for a run that no one asks for."""

from datetime import datetime, timedelta
from typing import NamedTuple

from prism_contracts.records import Repository, WikiRecord, WikiState
from prism_scribe.core.wiki.progress import is_same

# A run reports this often that it is alive. One that is silent for longer was stopped.
BEAT_S = 15.0
SILENT_S = 60.0
# A page that failed this often, in all runs, waits for a change of its sources or for a person.
ATTEMPTS_MAX = 9


class RenewalTimes(NamedTuple):
    """When renewals happen, in seconds."""

    settle_s: float  # quiet time after an import, so that a series of pushes causes one renewal
    pause_s: float  # shortest time between two runs of a repository


def is_due(wiki: WikiRecord, repository: Repository, now: datetime, times: RenewalTimes) -> bool:
    """Whether a wiki is to be renewed, its failed pages to be tried again, or its stopped run to be resumed."""
    served = repository.served
    if served is None or not repository.is_quiet:
        return False
    if wiki.state.is_under_way:
        return _is_silent(wiki, now)
    if now - wiki.started_at < timedelta(seconds=times.pause_s):
        return False
    if is_same(wiki, served.version):
        return _may_succeed(wiki)
    return now - served.indexed_at >= timedelta(seconds=times.settle_s)


def _is_silent(wiki: WikiRecord, now: datetime) -> bool:
    return now - (wiki.alive_at or wiki.started_at) >= timedelta(seconds=SILENT_S)


def _may_succeed(wiki: WikiRecord) -> bool:
    """Whether another attempt at the same sources makes sense: what failed may have been an outage."""
    if wiki.state is WikiState.FAILED:
        return True
    return any(page.attempts < ATTEMPTS_MAX for page in wiki.failed_pages)
