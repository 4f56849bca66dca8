"""Converts file points of the store to the input of an assembly."""

from prism_atlas.core.assembly import ProgramFile
from prism_resolver.facts import FileFacts
from prism_runtime.packing import unpack_bindings, unpack_references, unpack_symbol_facts
from prism_store.reader import StoredPoint

FILE_FIELDS = (
    "scope",
    "path",
    "status",
    "generation",
    "blob",
    "language",
    "flags",
    "lines",
    "symbols",
    "references",
    "bindings",
    "starts",
)


def source_file(point: StoredPoint, repo_name: str) -> ProgramFile:
    """Returns the file of a file point. `repo_name` is owner/name."""
    facts = FileFacts(
        id=point.id,
        scope=point.repo,
        repo=repo_name.rpartition("/")[2],
        path=point.text("path"),
        language=point.text("language"),
        flags=point.text("flags"),
        symbols=unpack_symbol_facts(point.text("symbols")),
        references=unpack_references(point.text("references")),
        bindings=unpack_bindings(point.text("bindings")),
        blob=point.text("blob"),
    )
    return ProgramFile(facts, point.text("generation"), point.number("lines"))
