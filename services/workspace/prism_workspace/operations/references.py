"""Looks up what the planning references of tasks name, in what the caller sees."""

import asyncio
from collections.abc import Callable, Sequence

from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository, TaskRecord
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.symbols import SymbolAnswer
from prism_runtime.records import WatchedRecords
from prism_workspace.adapters.places import Places
from prism_workspace.core.references import Named, is_address, named

# A reply does not wait longer for the index.
LOOK_UP_S = 1.0
# A path without a repository is looked up in this many, those indexed last.
REPOS_MAX = 50
ASKED_AT_ONCE = 8


class References:
    """Compares references with the index."""

    def __init__(
        self,
        places: Places,
        repositories: WatchedRecords[Repository],
        is_document: Callable[[CallerRequest, str], bool],
    ) -> None:
        """`is_document`: whether a caller sees a document with this id or path."""
        self._places = places
        self._repositories = repositories
        self._is_document = is_document

    async def missing(self, caller: CallerRequest, task: TaskRecord) -> tuple[str, ...] | None:
        """Returns the references of a task that name nothing the index has; None if it does not answer in time.

        Addresses count as found, unless they lead to a file of an indexed repository.
        """
        wanted = [
            one
            for reference in task.references
            if (one := named(reference.file_path)) and not self._is_document(caller, one.reference)
        ]
        if not wanted:
            return ()
        try:
            async with asyncio.timeout(LOOK_UP_S):
                found = await self._found(caller, task.repo, wanted)
        except (PrismError, TimeoutError):
            return None
        return tuple(one.reference for one in wanted if one not in found)

    async def _found(self, caller: CallerRequest, repo: str, wanted: Sequence[Named]) -> set[Named]:
        files, symbols = await asyncio.gather(
            self._with_file(caller, repo, wanted), self._with_symbol(caller, repo, wanted)
        )
        in_file = {one for one in wanted if one.path and one.symbol and one.path != one.reference}
        return (files | symbols) - in_file | (files & symbols)

    async def _with_file(self, caller: CallerRequest, repo: str, wanted: Sequence[Named]) -> set[Named]:
        """Returns those whose path some repository has."""
        turns = asyncio.Semaphore(ASKED_AT_ONCE)

        async def of_repository(repository: Repository) -> set[Named]:
            name = repository.name.lower()
            here = [one for one in wanted if one.path and (one.repo or repo.lower() or name) == name]
            async with turns:
                paths = {one.path for one in here}
                entries = await self._places.entries(caller.tenant, repository.repo, paths)
            there = {path for path, entry in entries.items() if entry.status != FileStatus.REMOVED}
            return {one for one in here if one.path in there}

        seen = [
            one
            for one in self._repositories.values()
            if one.tenant == caller.tenant and caller.sees(one.name)
        ]
        named_ones = {repo.lower(), *(one.repo for one in wanted)}
        newest = sorted(seen, key=_indexed_at, reverse=True)
        asked = [*newest[:REPOS_MAX], *(one for one in newest[REPOS_MAX:] if one.name.lower() in named_ones)]
        every = await asyncio.gather(*map(of_repository, asked))
        known = {one.name.lower() for one in seen}
        elsewhere = {one for one in wanted if is_address(one.reference) and one.repo not in known}
        return elsewhere.union(*every)

    async def _with_symbol(self, caller: CallerRequest, repo: str, wanted: Sequence[Named]) -> set[Named]:
        """Returns those whose symbol is defined, in their file if they name one."""
        found: set[Named] = set()
        for scope in {one.repo or repo for one in wanted if one.symbol}:
            here = [one for one in wanted if one.symbol and (one.repo or repo) == scope]
            symbols = list(dict.fromkeys(one.symbol for one in here))
            try:
                answers = await self._places.definitions(caller, symbols, repo=scope)
            except PrismError as error:
                if error.code not in {ErrorCode.REPO_NOT_FOUND, ErrorCode.REPO_NOT_INDEXED}:
                    raise
                continue
            files = dict(zip(symbols, map(_files, answers), strict=True))
            found |= {
                one
                for one in here
                if (
                    one.path in files[one.symbol]
                    if one.path not in {"", one.reference}
                    else files[one.symbol]
                )
            }
        return found


def _files(answer: SymbolAnswer) -> set[str]:
    return set() if answer.matched else {one.file_path for one in answer.definitions}


def _indexed_at(repository: Repository) -> float:
    return repository.served.indexed_at.timestamp() if repository.served else 0.0
