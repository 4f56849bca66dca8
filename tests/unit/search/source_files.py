"""Builds files as search reads them, with the chunker's own parser."""

from prism_chunker.core import chunk_file
from prism_resolver.facts import FileFacts
from prism_resolver.unit import read_unit
from prism_search.core.references.edges import SourceFile


def source(path: str, text: str, flags: str = "", repo: str = "parcels", scope: str = "r/base") -> SourceFile:
    parsed = chunk_file(path, text)
    facts = FileFacts(
        id=path,
        scope=scope,
        repo=repo,
        path=path,
        language=parsed.language,
        flags=flags,
        symbols=parsed.symbols,
        references=parsed.references,
        bindings=parsed.bindings,
    )
    return SourceFile(facts, read_unit(facts), text.split("\n"))
