"""Explains why a question has no hit."""

from collections.abc import Mapping, Sequence

from prism_search.core.query import Query

# What it means if a leg found nothing.
FOUND_NOTHING = {
    "keyword": "no text contains one of the words",
    "path": "no path contains one of the words",
    "symbol": "no symbol name contains one of the words",
    "exact": "no symbol has the name",
    "vector": "no file that matches the filters has a vector",
    "deep": "no file that matches the filters has a deep vector",
}
NOT_ASKED = {
    "exact": "the question contains no symbol name",
    "vector": "the model knows no word of the question",
}
NO_ANSWER = "it did not answer"


def diagnose(
    query: Query,
    found: Mapping[str, int],
    *,
    missing: Sequence[str] = (),
    filters: Mapping[str, object] | None = None,
    dropped: Mapping[str, int] | None = None,
    excluded: str = "",
    near_symbols: Sequence[str] = (),
) -> dict[str, object]:
    """Returns how much each leg found, why others found nothing, what filters dropped, and similar symbols.

    `missing` are the legs that did not answer, `filters` the given ones with their values. `dropped` counts
    candidates by the filter that dropped them. `excluded` is a sentence if no file passes the filters.
    """
    why = {leg: FOUND_NOTHING[leg] for leg, count in found.items() if not count}
    why |= {leg: reason for leg, reason in NOT_ASKED.items() if leg not in found}
    why |= dict.fromkeys(missing, NO_ANSWER)
    diagnosis: dict[str, object] = {
        "reason": excluded or _reason(filters or {}, dropped or {}),
        "found_by_leg": dict(found),
        "nothing_because": why,
        "words": list(query.terms),
    }
    if near_symbols:
        diagnosis["near_symbols"] = list(near_symbols)
    return diagnosis


def _reason(filters: Mapping[str, object], dropped: Mapping[str, int]) -> str:
    if dropped:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(dropped.items()))
        return f"filters dropped every candidate ({counts})"
    given = " and ".join(f"{name} {value!r}" for name, value in filters.items())
    return f"no leg found anything{f' that passes {given}' if given else ''}"
