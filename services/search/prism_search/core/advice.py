"""What to do after an answer, and why there is none."""

from collections.abc import Mapping, Sequence

from prism_contracts.rpc import Hit, Intent
from prism_search.core.query import Query

ACTIONS_MAX = 3


def next_actions(query: Query, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Calls that are likely to come next, ready to be made."""
    if not hits:
        return ("grep_code with a literal part of what you look for", "list_files to see what is indexed")
    best = hits[0]
    actions = [
        f'read_file file_path="{best.file_path}" start_line={best.start_line} end_line={best.end_line}'
    ]
    if best.symbol:
        actions.append(f'get_symbol_definition symbol="{best.symbol}" include_body=true')
    if query.intent in (Intent.CALLERS, Intent.USAGE) and (query.symbols or best.symbol):
        actions.append(f'grep_code pattern="{(query.symbols or (best.symbol,))[0]}" word=true')
    else:
        actions.append(f'get_file_outline file_path="{best.file_path}"')
    return tuple(actions[:ACTIONS_MAX])


def diagnose(query: Query, found: Mapping[str, int]) -> dict[str, object]:
    """Which leg found how much, and which words were asked for: all filters dropped what there was, or nothing was."""
    return {
        "found_by_leg": dict(found),
        "words": list(query.terms),
        "reason": "filters dropped every candidate" if any(found.values()) else "no leg found anything",
    }
