"""A question about the references of one name, and its page."""

from typing import NamedTuple

from prism_catalog.target import Target
from prism_contracts.rpc.symbols import ReferencePage, ReferencesRequest, UsesRequest
from prism_runtime.cursors import read_cursor, write_cursor
from prism_search.core.definitions import NameMatch, definition_place


class ReferenceQuery(NamedTuple):
    """A request about one name, and the definitions that the name matches."""

    target: Target
    request: ReferencesRequest
    match: NameMatch
    name: str

    @property
    def start(self) -> int:
        """How many references earlier pages had. Raises INVALID_CURSOR."""
        cursor = self.request.cursor
        return int(read_cursor(self._key, cursor, (int,))[0]) if cursor else 0

    @property
    def is_first(self) -> bool:
        """Whether it asks for the first page of the references."""
        return self.request.page is ReferencePage.MAIN and not self.start

    def cursor(self, end: int) -> str:
        """Returns the cursor of the page that begins after `end` references."""
        return write_cursor(self._key, end)

    @property
    def _key(self) -> str:
        """The question that a cursor belongs to."""
        symbols = (self.match.name.spelled,)
        update = {"symbols": symbols, "limit": 1, "cursor": ""}
        return self.request.model_copy(update=update).model_dump_json()

    def for_graph(self) -> UsesRequest:
        """Returns the same question for atlas."""
        request = self.request
        return UsesRequest(
            tenant=request.tenant,
            repo=self.target.repositories[0].repo,
            ref=request.ref,
            name=self.name,
            definitions=tuple(map(definition_place, self.match.found)),
            one_overload=self.match.is_one_overload,
            path_filter=request.path_filter,
            reference_type=request.reference_type,
            source_only=request.source_only,
            include_candidates=request.include_candidates,
            limit=request.limit,
            start=self.start,
        )
