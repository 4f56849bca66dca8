"""Estimates how likely the first hit is right.

Three facts separate right from wrong hits: the lead over the next file, how much of the question's words the
text has, and whether the words alone rank the file first too. docs/decisions/0018-confidence.md has the fit,
docs/quality.md the measured shares.
"""

from collections.abc import Sequence
from math import exp

from prism_contracts.rpc.search import Intent
from prism_search.core.passages import Range
from prism_search.core.query import Query, last_name
from prism_search.core.retrieval.candidates import Candidate
from prism_search.core.retrieval.plan import KEYWORD_LEG

# The logistic model; `python -m bench.calibrate` prints its coefficients.
CONSTANT, LEAD, BODY, WORDS_FIRST = -2.76, 3.22, 3.62, 1.97
LEAD_MAX = 1.0
HIGH_MIN, LOW_MAX = 0.88, 0.3


def confidence(query: Query, shown: Sequence[tuple[Candidate, Range]]) -> str:
    """Returns `high`, `medium`, `low`, or `none` without a hit.

    `shown` begins with the best hit and includes a hit of another file, if there is one.
    """
    if not shown:
        return "none"
    best = shown[0][0]
    if query.only_symbol:
        return _of_name(last_name(query.only_symbol), [file for file, _ in shown])
    chance = likelihood(best, best.score - _next_score(shown))
    if chance < LOW_MAX:
        return "low"
    return "medium" if chance < HIGH_MIN or _lacks_definition(query, shown) else "high"


def likelihood(file: Candidate, lead: float) -> float:
    """Returns the probability that a file answers, which compares between questions.

    `lead` is its score minus the best one of another file.
    """
    is_first = file.legs.get(KEYWORD_LEG) == 1
    odds = CONSTANT + LEAD * max(min(lead, LEAD_MAX), -LEAD_MAX) + BODY * file.signals.get("body", 0.0)
    return 1 / (1 + exp(-odds - WORDS_FIRST * is_first))


def rate(shown: Sequence[tuple[Candidate, Range]]) -> None:
    """Fills in `likelihood` of each file; a later one is never likelier than an earlier one."""
    chance = 1.0
    for file, _ in shown:
        others = max((other.score for other, _ in shown if other is not file), default=0.0)
        chance = min(chance, likelihood(file, file.score - others))
        file.likelihood = chance


def _next_score(shown: Sequence[tuple[Candidate, Range]]) -> float:
    return next((file.score for file, _ in shown if file is not shown[0][0]), 0.0)


def _of_name(name: str, files: Sequence[Candidate]) -> str:
    """Returns how likely the first file has the definition of the name that is the whole question."""
    best, *others = files
    elsewhere = any(other is not best and other.outline.defines(name) for other in others)
    if best.outline.defines(name):
        return "medium" if elsewhere else "high"
    return "low" if elsewhere else "medium"


def _lacks_definition(query: Query, shown: Sequence[tuple[Candidate, Range]]) -> bool:
    """Whether the question requests a definition by name, and no hit has that name."""
    if query.intent is not Intent.DEFINITION or not query.symbols:
        return False
    names = {last_name(symbol) for symbol in query.symbols}
    return not any(last_name(found.symbol) in names for _, found in shown)
