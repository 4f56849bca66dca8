"""Estimates how likely the first hit is right.

The lead of the best file's score over the next file's separates right from wrong hits; the score itself shows
whether the repository has an answer at all. docs/quality.md has the measured shares,
docs/decisions/0018-confidence.md the choice of levels.
"""

from collections.abc import Sequence

from prism_contracts.rpc.search import Intent
from prism_search.core.passages import Range
from prism_search.core.query import Query, last_name
from prism_search.core.retrieval.candidates import Candidate

HIGH_LEAD_MIN, HIGH_SCORE_MIN = 0.3, 1.0
LOW_LEAD_MAX, LOW_SCORE_MAX = 0.1, 0.8


def confidence(query: Query, shown: Sequence[tuple[Candidate, Range]]) -> str:
    """Returns `high`, `medium`, `low`, or `none` without a hit.

    `shown` begins with the best hit and includes a hit of another file, if there is one.
    """
    if not shown:
        return "none"
    best = shown[0][0]
    lead = best.score - next((file.score for file, _ in shown if file is not best), 0.0)
    if lead < LOW_LEAD_MAX or best.score < LOW_SCORE_MAX:
        return "low"
    if lead < HIGH_LEAD_MIN or best.score < HIGH_SCORE_MIN or _lacks_definition(query, shown):
        return "medium"
    return "high"


def _lacks_definition(query: Query, shown: Sequence[tuple[Candidate, Range]]) -> bool:
    """Whether the question requests a definition by name, and no hit has that name."""
    if query.intent is not Intent.DEFINITION or not query.symbols:
        return False
    names = {last_name(symbol) for symbol in query.symbols}
    return not any(last_name(found.symbol) in names for _, found in shown)
