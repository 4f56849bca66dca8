"""Searches the references of several symbols within a time limit."""

import asyncio
import time
from collections.abc import Iterable, Sequence

from prism_catalog.target import Target
from prism_contracts.rpc.symbols import (
    REFERENCES_LIMIT_MAX,
    ReferenceEntry,
    ReferencesRequest,
    SymbolReferences,
)
from prism_runtime.tasks import cancelled
from prism_search.operations.references import ReferenceFinder
from prism_store.reader import StoredPoint

SECONDS_MAX = 6.0
# Each search may read hundreds of files and hold them in memory.
AT_ONCE = 2
ELSEWHERE_SECONDS_MAX = 1.0
REPOS_SHOWN_MAX = 3


class TimedReferences:
    """Searches references; `left_out` has a sentence for each search that was skipped for lack of time."""

    def __init__(self, references: ReferenceFinder, target: Target) -> None:
        self._references = references
        self._target = target
        self._ends = time.monotonic() + SECONDS_MAX
        self.left_out: list[str] = []

    def is_over(self, what: str) -> bool:
        """Whether the time is up. If it is, records that a search was left out."""
        if time.monotonic() < self._ends:
            return False
        self._leave_out(what)
        return True

    async def uses(self, symbol: str, path: str = "") -> SymbolReferences:
        """Returns who uses a symbol that is defined in a file, or in any file."""
        return await self._references.answer(self._target, symbol, self._request(symbol, path))

    async def entries(self, symbol: str, path: str) -> Sequence[ReferenceEntry]:
        """Returns who uses a symbol, without the text of the lines, which is faster."""
        return await self._references.entries(self._target, symbol, self._request(symbol, path))

    async def entries_of_each(
        self, symbols: Iterable[tuple[str, str]], what: str
    ) -> list[Sequence[ReferenceEntry]]:
        """Returns the entries of several symbols, each with its path; none for symbols out of time."""
        symbols = list(symbols)
        if not symbols or self.is_over(what):
            return [()] * len(symbols)
        turns = asyncio.Semaphore(AT_ONCE)

        async def ask(symbol: str, path: str) -> Sequence[ReferenceEntry]:
            async with turns:
                return await self.entries(symbol, path)

        asked = [asyncio.create_task(ask(*one)) for one in symbols]
        try:
            seconds = max(0.0, self._ends - time.monotonic())
            done, late = await asyncio.wait(asked, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        finally:  # no task keeps running, and no exception stays unretrieved
            await cancelled(*asked)
        for task in done:
            task.result()  # raises what failed
        if late:
            self._leave_out(what)
        return [task.result() if task in done else () for task in asked]

    async def elsewhere(
        self, home: Target, everywhere: Target, symbol: str, path: str
    ) -> Sequence[ReferenceEntry]:
        """Returns who uses a symbol in other repositories; none if too many files may."""
        search = self._references.elsewhere(home, everywhere, symbol, self._request(symbol, path))
        try:
            found = await asyncio.wait_for(search, ELSEWHERE_SECONDS_MAX)
        except TimeoutError:
            self._leave_out("Other repositories")
            return ()
        if found.left_out:
            self.left_out.append(_not_searched(everywhere, symbol, found.left_out))
        return found.entries

    def _leave_out(self, what: str) -> None:
        self.left_out.append(f"{what}: not searched, because it would take too long.")

    def _request(self, symbol: str, path: str) -> ReferencesRequest:
        return ReferencesRequest(
            tenant=self._target.scope.tenant,
            repo=self._target.repositories[0].repo,
            ref=self._target.ref,
            symbols=(symbol,),
            path=path,
            limit=REFERENCES_LIMIT_MAX,
        )


def _not_searched(everywhere: Target, symbol: str, files: Sequence[StoredPoint]) -> str:
    name = symbol.rpartition(".")[2]
    repos = sorted({everywhere.name_of(point.repo) for point in files})
    more = f" and {len(repos) - REPOS_SHOWN_MAX} more" if len(repos) > REPOS_SHOWN_MAX else ""
    return (
        f"Other repositories were not searched: {len(files)} files of {', '.join(repos[:REPOS_SHOWN_MAX])}{more} "
        f"may import {name}. grep_code with their repo lists the lines."
    )
