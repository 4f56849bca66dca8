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

SECONDS_MAX = 6.0
# Each search may read hundreds of files and hold them in memory.
AT_ONCE = 2


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

    async def elsewhere(self, everywhere: Target, symbol: str, path: str) -> Sequence[ReferenceEntry]:
        """Returns who uses a symbol in other repositories; none if too many files may."""
        home = self._target.repositories[0].repo
        found = await self._references.elsewhere(everywhere, home, symbol, self._request(symbol, path))
        if found.files_left_out:
            self.left_out.append(
                f"Other repositories: not searched, because {found.files_left_out} files may use it. "
                "find_references with their repo answers."
            )
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
