"""What is known of files between questions, so that the store reads few payloads: they are what costs.

A file point changes with every version of the file. What was read of it is used while its repository is quiet, which is
when the newest import that began has ended well, and until an import has written the file. Never holds texts.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass

from prism_contracts.code import FileStatus
from prism_runtime.kept import Kept
from prism_search.core.outline import Outline
from prism_store.reader import RANK_FIELDS, Reader, StoredPoint, newer_than, with_status
from prism_store.repositories import Target
from prism_store.scope import Scope

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

    @property
    def repo(self) -> str:
        """The id of the repository."""
        return self.scope.partition("/")[0]


class Facts:
    """Answers from memory, and asks the store for the rest."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._files: Kept[str, FileFacts] = Kept(OUTLINE_CHARS_MAX)
        # By repository, the version of the next import when what has changed was last forgotten.
        self._forgotten: dict[str, int] = {}

    async def files(self, target: Target, ids: Iterable[str]) -> dict[str, FileFacts]:
        """Those of the files that exist now."""
        if target.is_quiet:
            await self._forget_changed(target)
        versions = {r.repo: r.next_version for r in target.repositories}
        known = {id_: self._known(id_, target.scope.keys) if target.is_quiet else None for id_ in ids}
        missing = [id_ for id_, facts in known.items() if facts is None]
        for id_, point in (await self._reader.points(target.scope, missing, RANK_FIELDS)).items():
            facts = known[id_] = _file_facts(point)
            # Not if an import has ended meanwhile: this may have been read before it wrote.
            if target.is_quiet and self._forgotten.get(facts.repo) == versions[facts.repo]:
                self._files.keep(id_, facts, len(facts.outline.packed) + 1)
        return {id_: facts for id_, facts in known.items() if facts is not None}

    def forget(self, ids: Iterable[str]) -> None:
        """Have these files read again."""
        for id_ in ids:
            self._files.drop(id_)

    async def _forget_changed(self, target: Target) -> None:
        """Forget the files that imports have written since the last time. What an import writes is of its version."""
        for repository in target.repositories:
            key, version = repository.repo, repository.next_version
            seen = self._forgotten.get(key, version)
            if seen != version:
                scope = Scope(repository.tenant, (repository.repo,), target.scope.layer)
                changed = self._reader.scan(scope, [with_status(*FileStatus), newer_than(seen - 1)], ())
                self.forget([point.id async for point in changed])
            self._forgotten[key] = version

    def _known(self, id_: str, scopes: Container[str]) -> FileFacts | None:
        facts = self._files.get(id_)
        return facts if facts and facts.scope in scopes else None


def _file_facts(point: StoredPoint) -> FileFacts:
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
    )
