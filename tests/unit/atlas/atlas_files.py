"""Sample files in the form of the index."""

import hashlib
from functools import cache

from prism_atlas.core.assembly import Assembly, ProgramFile
from prism_atlas.core.graph import Graph
from prism_chunker.core import chunk_file
from prism_resolver.facts import FileFacts
from prism_resolver.manifests import Packages
from prism_resolver.occurrences import Occurrences


@cache
def source_file(path: str, text: str, flags: str = "") -> ProgramFile:
    parsed = chunk_file(path, text)
    facts = FileFacts(
        id=f"id of {path}",
        scope="r1/base",
        repo="depot",
        path=path,
        language=parsed.language,
        flags=flags,
        symbols=parsed.symbols,
        references=parsed.references,
        bindings=parsed.bindings,
        blob=blob_of(text),
    )
    return ProgramFile(facts, blob_of(text), parsed.line_count)


def blob_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def graph_of(
    files: dict[str, str],
    flags: dict[str, str] | None = None,
    occurrences: Occurrences | None = None,
    packages: Packages | None = None,
) -> Graph:
    """Returns the graph of texts by path."""
    assembly = Assembly()
    assembly.set_occurrences(occurrences or Occurrences())
    assembly.set_packages(packages or Packages())
    sources = [source_file(path, text, (flags or {}).get(path, "")) for path, text in files.items()]
    for source in sources:
        assembly.add(source)
    for source in sources:
        assembly.connect(source.facts)
    return assembly.graph()
