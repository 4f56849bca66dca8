"""Suggests what to call after an answer."""

from collections.abc import Sequence

from prism_contracts.rpc.search import Hit, Intent
from prism_search.core.query import Query, last_name

# A hit that shows this share of its lines is whole: the others are comments and blank lines.
WHOLE_SHARE = 0.6
CALLS = frozenset({Intent.CALLERS, Intent.USAGE})


def next_actions(query: Query, hits: Sequence[Hit], *, with_repo: bool = False) -> tuple[str, ...]:
    """Returns likely next calls, ready to use: never one that shows again what the hits show.

    `with_repo` adds the repository to each.
    """
    if not hits:
        return ("grep_code with a literal part of it", "list_files to see the indexed files")
    best = _definition(query, hits) or hits[0]
    repo = f' repo="{best.repo}"' if with_repo else ""
    actions = []
    if query.only_symbol and _definition(query, hits) is None:
        name = last_name(query.only_symbol)
        actions.append(f'grep_code pattern="{name}", as no hit defines it')
    if query.intent in CALLS and (query.symbols or best.symbol):
        name = (query.symbols or (best.symbol,))[0]
        actions.append(f'find_references symbols=["{name}"]{repo}')
        if query.intent is Intent.CALLERS:
            actions.append(f'get_call_hierarchy symbol="{name}"{repo}')
    if query.intent is Intent.TEST and query.symbols:
        actions.append(f'impact_of_change symbol="{query.symbols[0]}"{repo}')
    if query.intent is Intent.ARCHITECTURE:
        actions.append(f"get_architecture{repo}")
    if not _is_whole(best):
        place = f"{best.file_path}:{best.start_line}-{best.end_line}"
        actions.append(f'read_file places=["{place}"]{repo}')
    return tuple(actions)


def _is_whole(hit: Hit) -> bool:
    """Whether a hit shows its lines, but for comments and blank lines."""
    if hit.is_whole:
        return True
    shown = len(hit.lines) or hit.content.count("\n") + 1
    return shown >= WHOLE_SHARE * (hit.end_line - hit.start_line + 1)


def _definition(query: Query, hits: Sequence[Hit]) -> Hit | None:
    """Returns the first hit with the definition of the one symbol that the question names."""
    name = last_name(query.only_symbol)
    return next((hit for hit in hits if name and last_name(hit.symbol) == name), None)
