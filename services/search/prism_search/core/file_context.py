"""Describes the file of a hit by its definitions."""

from prism_contracts.rpc.search import FileContext
from prism_search.core.retrieval.candidates import Candidate

DEFINITIONS_MAX = 15
SHOWN_GROUPS = "TF"  # types and functions


def file_context(file: Candidate) -> FileContext:
    """Returns the types and functions of the file, in order of lines."""
    definitions = [d for d in file.outline.definitions() if d.group in SHOWN_GROUPS]
    return FileContext(
        lines=file.lines,
        definitions=tuple(
            f"{d.start}-{d.end} {d.kind} {d.qualified_name}" for d in definitions[:DEFINITIONS_MAX]
        ),
        definitions_left_out=max(0, len(definitions) - DEFINITIONS_MAX),
    )
