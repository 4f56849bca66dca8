"""What is known of files between questions, so that the store reads few payloads: they are what costs.

A file point changes with every version of the file; what was read of it is used while its repository is quiet: the
newest import that began has ended well. Never holds texts.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from prism_search.adapters.kept import Kept
from prism_search.adapters.repositories import Target
from prism_search.core.outline import Outline
from prism_store.reader import RANK_FIELDS, Reader, StoredPoint

# Definitions of the files that are kept, in characters: some 20,000 files.
OUTLINE_CHARS_MAX = 24_000_000


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What ranking knows of a file."""

    file: str
    scope: str
    path: str
    generation: str
    language: str
    flags: str
    prose: bool
    lines: int
    starts: str  # first lines of its chunks
    chunk_symbols: str  # what each chunk is part of
    outline: Outline
    corpus_version: int  # of its repository, when it was read


class Facts:
    """Answers from memory, and asks the store for the rest."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._files: Kept[str, FileFacts] = Kept(OUTLINE_CHARS_MAX)

    async def files(self, target: Target, ids: Iterable[str]) -> dict[str, FileFacts]:
        """Those of the files that exist now."""
        versions = {f"{r.repo}/{target.scope.layer}": r.next_version for r in target.repositories}
        known = {id_: self._known_file(id_, versions, quiet=target.is_quiet) for id_ in ids}
        missing = [id_ for id_, facts in known.items() if facts is None]
        for id_, point in (await self._reader.points(target.scope, missing, RANK_FIELDS)).items():
            facts = known[id_] = _file_facts(point, versions[point.text("scope")])
            if target.is_quiet:
                self._files.keep(id_, facts, len(facts.outline.packed) + 1)
        return {id_: facts for id_, facts in known.items() if facts is not None}

    def forget(self, ids: Iterable[str]) -> None:
        """Have these files read again."""
        for id_ in ids:
            self._files.drop(id_)

    def _known_file(self, id_: str, versions: dict[str, int], *, quiet: bool) -> FileFacts | None:
        facts = self._files.get(id_) if quiet else None
        return facts if facts and versions.get(facts.scope) == facts.corpus_version else None


def _file_facts(point: StoredPoint, corpus_version: int) -> FileFacts:
    return FileFacts(
        file=point.id,
        scope=point.text("scope"),
        path=point.text("path"),
        generation=point.text("generation"),
        language=point.text("language"),
        flags=point.text("flags"),
        prose=bool(point.payload.get("prose")),
        lines=point.number("lines"),
        starts=point.text("starts"),
        chunk_symbols=point.text("chunk_symbols"),
        outline=Outline(point.text("definitions")),
        corpus_version=corpus_version,
    )
