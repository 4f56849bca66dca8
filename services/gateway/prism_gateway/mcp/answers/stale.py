"""Places that a document or task names, and that have changed since."""

from collections.abc import Iterator, Sequence

from prism_contracts.records import UNCOMMITTED, StaleReason
from prism_contracts.rpc.anchors import STALE_LISTED_MAX, StalePlace
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.answers.receipts import short_commit

_REASONS = {
    StaleReason.FILE_GONE: "its file is gone",
    StaleReason.SYMBOL_GONE: "its definition is gone",
    StaleReason.TEXT_CHANGED: "its text changed",
    StaleReason.REPOSITORY_REMOVED: "its repository was removed",
}


def since(commit: str, reason: StaleReason) -> str:
    """Returns since when a place is stale, and why."""
    if reason is StaleReason.REPOSITORY_REMOVED:
        return _REASONS[reason]
    return f"since {edit_of(commit)}: {_REASONS[reason]}"


def edit_of(commit: str) -> str:
    """Returns a commit for readers, or that there is none."""
    return "an uncommitted edit" if commit == UNCOMMITTED else short_commit(commit)


def stale_lines(places: Sequence[StalePlace]) -> Iterator[str]:
    """Returns a line for each of the first places, and one for how many there are besides."""
    for one in places[:STALE_LISTED_MAX]:
        lines = f":{one.start_line}-{one.end_line}" if one.start_line else ""
        symbol = f" {one.symbol}" if one.symbol else ""
        yield f"stale: {one.repo}: {one.path}{lines}{symbol}, {since(one.commit, one.reason)}"
    left_out = len(places) - STALE_LISTED_MAX
    if left_out > 0:
        yield f"stale: {several(left_out, 'more place')}"
