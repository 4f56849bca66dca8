"""How far the first hit can be trusted.

What tells right from wrong is the lead of the best file's score over the next file's; the score itself tells whether the
repository has an answer at all. Measured shares are in docs/quality.md, how the levels were chosen in
docs/decisions/0018-confidence.md.
"""

from collections.abc import Sequence

from prism_contracts.rpc.search import Intent
from prism_search.core.passages import Range
from prism_search.core.query import Query, last_name
from prism_search.core.retrieval.candidates import Candidate

HIGH_LEAD_MIN, HIGH_SCORE_MIN = 0.3, 1.0
LOW_LEAD_MAX, LOW_SCORE_MAX = 0.1, 0.8


def confidence(query: Query, shown: Sequence[tuple[Candidate, Range]]) -> str:
    """`high`, `medium`, `low`, or `none` without a hit. `shown` begins with the best hit and goes on to another file, if
    there is one.
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
    """A definition is asked for by name, and no hit shows one of that name, however well other names match."""
    if query.intent is not Intent.DEFINITION or not query.symbols:
        return False
    names = {last_name(symbol) for symbol in query.symbols}
    return not any(last_name(found.symbol) in names for _, found in shown)
