"""Suggests what to call after an answer."""

from collections.abc import Sequence

from prism_contracts.rpc.search import Hit, Intent
from prism_search.core.query import Query, last_name

ACTIONS_MAX = 3
# Symbols of prose and data have no definition to look up.
WITHOUT_DEFINITION = frozenset({"", "section", "key"})


def next_actions(query: Query, hits: Sequence[Hit], *, with_repo: bool = False) -> tuple[str, ...]:
    """Returns likely next calls, ready to use. `with_repo` adds the repository to each."""
    if not hits:
        return ("grep_code with a literal part of it", "list_files to see the indexed files")
    best = _definition(query, hits) or hits[0]
    repo = f' repo="{best.repo}"' if with_repo else ""
    place = f'file_path="{best.file_path}"'
    actions = [f"read_file {place} start_line={best.start_line} end_line={best.end_line}{repo}"]
    if query.only_symbol and _definition(query, hits) is None:
        name = last_name(query.only_symbol)
        actions.insert(0, f'grep_code pattern="{name}", as no hit defines it')
    if best.kind not in WITHOUT_DEFINITION:
        actions.append(f'get_symbol_definition symbol="{best.symbol}" include_body=true{repo}')
    if query.intent in (Intent.CALLERS, Intent.USAGE) and (query.symbols or best.symbol):
        actions.append(f'grep_code pattern="{(query.symbols or (best.symbol,))[0]}" word=true{repo}')
    else:
        actions.append(f"get_file_outline {place}{repo}")
    return tuple(actions[:ACTIONS_MAX])


def _definition(query: Query, hits: Sequence[Hit]) -> Hit | None:
    """Returns the first hit with the definition of the one symbol that the question names."""
    name = last_name(query.only_symbol)
    return next((hit for hit in hits if name and last_name(hit.symbol) == name), None)
