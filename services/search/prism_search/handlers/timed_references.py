"""Questions about who uses symbols in one repository, asked as long as there is time."""

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
from prism_search.handlers.references import ReferencesHandler

SECONDS_MAX = 6.0
# Each may read and hold hundreds of files.
AT_ONCE = 2


class TimedReferences:
    """Asks; `left_out` says in sentences what was not asked any more."""

    def __init__(self, references: ReferencesHandler, target: Target) -> None:
        self._references = references
        self._target = target
        self._ends = time.monotonic() + SECONDS_MAX
        self.left_out: list[str] = []

    def is_over(self, what: str) -> bool:
        """Whether the time is up; then what was to be asked is left out."""
        if time.monotonic() < self._ends:
            return False
        self._leave_out(what)
        return True

    async def uses(self, symbol: str, path: str = "") -> SymbolReferences:
        """Who uses a symbol that is defined in a file, or in any."""
        return await self._told(self._request(symbol, path, self._target.repositories[0].repo))

    async def entries(self, symbol: str, path: str) -> Sequence[ReferenceEntry]:
        """The same without texts of lines, which is quicker."""
        return await self._references.entries(self._request(symbol, path, self._target.repositories[0].repo))

    async def entries_of_each(
        self, symbols: Iterable[tuple[str, str]], what: str
    ) -> list[Sequence[ReferenceEntry]]:
        """The same of several symbols, each with its path, some at once; none of one for which there was no time."""
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
        finally:  # nobody is left behind, and no error unheard
            await cancelled(*asked)
        for task in done:
            task.result()  # raises what failed
        if late:
            self._leave_out(what)
        return [task.result() if task in done else () for task in asked]

    async def uses_everywhere(self, symbol: str, path: str) -> SymbolReferences:
        """Who uses it in all repositories of the tenant."""
        return await self._told(self._request(symbol, path, ""))

    def _leave_out(self, what: str) -> None:
        self.left_out.append(f"{what}: not searched, because it would take too long.")

    async def _told(self, request: ReferencesRequest) -> SymbolReferences:
        return (await self._references.references(request)).answers[0]

    def _request(self, symbol: str, path: str, repo: str) -> ReferencesRequest:
        return ReferencesRequest(
            tenant=self._target.scope.tenant,
            repo=repo,
            ref=self._target.ref if repo else "",  # other repositories have no such layer
            symbols=(symbol,),
            path=path,
            limit=REFERENCES_LIMIT_MAX,
        )
