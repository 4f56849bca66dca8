"""The impact of a diff: each changed file's indexed lines are read, so that hunks map to symbols."""

import asyncio

from prism_atlas.adapters.search import SearchClient
from prism_atlas.core.answering import impact as impacts
from prism_atlas.core.diffs import FileDiff, read_diff
from prism_atlas.core.graph import NONE
from prism_atlas.core.named_tests import TitleTexts
from prism_atlas.operations.served_graphs import ServedGraph
from prism_atlas.operations.text_checks import TextChecks
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.graph import ImpactReply, ImpactRequest

DIFF_FILES_MAX = 200
READS_AT_ONCE_MAX = 8


class DiffImpact:
    """Answers `impact` for a diff."""

    def __init__(self, search: SearchClient, text: TextChecks) -> None:
        self._search = search
        self._text = text

    async def impact(self, request: ImpactRequest, served: ServedGraph) -> ImpactReply:
        """Returns the dependents of the changed symbols. Raises PAYLOAD_TOO_LARGE."""
        graph = served.snapshot.graph
        diffs = await asyncio.to_thread(read_diff, request.diff)
        if len(diffs) > DIFF_FILES_MAX:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The diff has {len(diffs)} files; the limit is {DIFF_FILES_MAX}.",
                "Send it in parts.",
            )
        reads = asyncio.Semaphore(READS_AT_ONCE_MAX)

        async def lines_of(diff: FileDiff) -> list[str]:
            file, _ = impacts.indexed_as(graph, diff)
            if file == NONE or not diff.changes:
                return []
            async with reads:
                return await self._search.lines(request, graph.path(file))

        texts = await asyncio.gather(*map(lines_of, diffs))
        titles = TitleTexts()

        def answer() -> ImpactReply:
            read = [impacts.read_change(graph, diff, lines) for diff, lines in zip(diffs, texts, strict=True)]
            changes = impacts.ChangeSet(
                [file for file, _ in read], [one for _, found in read for one in found]
            )
            return impacts.impact_of(
                graph, served.snapshot.analysis.ranks.node, changes, request, served.receipt, texts=titles
            )

        reply = await asyncio.to_thread(answer)
        if await self._text.read_titles(request, titles):
            reply = await asyncio.to_thread(answer)
        return reply
