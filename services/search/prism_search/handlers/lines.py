"""Answers `lines`: the text of places in several files, in one request."""

from collections.abc import Sequence

from prism_catalog.repositories import RepositoryCatalog
from prism_contracts.rpc.files import FileRange, LinesReply, LinesRequest
from prism_search.adapters.listing import Listing
from prism_search.adapters.texts import Texts
from prism_search.core.lines import shown


class LinesHandler:
    """Answers `lines`."""

    def __init__(self, repositories: RepositoryCatalog, listing: Listing, texts: Texts) -> None:
        self._repositories = repositories
        self._listing = listing
        self._texts = texts

    async def lines(self, request: LinesRequest) -> LinesReply:
        """Returns the text of each range. Very long lines are cut."""
        target = await self._repositories.target(request, single=True)
        points = (await self._listing.files(target)).by_path
        wanted = {one.file_path: points[one.file_path] for one in request.ranges if one.file_path in points}
        texts = await self._texts.read(target.scope, list(wanted.values()))
        lines = {path: text.split("\n") for path, text in zip(wanted, texts, strict=True) if text is not None}
        current = {path: point.text("generation") for path, point in wanted.items()}
        return LinesReply(
            texts=tuple(
                _cut(lines[one.file_path], one)
                if one.file_path in lines and one.generation in {"", current[one.file_path]}
                else None
                for one in request.ranges
            )
        )


def _cut(lines: Sequence[str], range_: FileRange) -> str:
    return "\n".join(shown(line) for line in lines[range_.start_line - 1 : range_.end_line])
