"""Applies the filters of a request that the store cannot apply."""

from prism_contracts.rpc.search import SearchRequest
from prism_search.core.retrieval.candidates import Candidate
from prism_store.globs import compile_glob


def filters_of(request: SearchRequest) -> dict[str, object]:
    """Returns the filters that are given, with their values."""
    given = {
        "path_filter": request.path_filter,
        "paths": list(request.paths),
        "language": request.language,
        "kind": request.kind.value if request.kind else "",
        "source_only": request.source_only,
    }
    return {name: value for name, value in given.items() if value}


def dropped_by(file: Candidate, request: SearchRequest) -> str:
    """Returns the name of the argument that drops the file; empty if it passes."""
    if request.path_filter and not compile_glob(request.path_filter).fullmatch(file.path):
        return "path_filter"
    if request.kind and not file.outline.has_kind(request.kind):
        return "kind"
    if request.source_only and (file.prose or file.flags):
        return "source_only"
    return ""
