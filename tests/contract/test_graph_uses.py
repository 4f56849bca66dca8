"""Search requests references from the graph while the graph has the current files: both processes, real NATS,
real store.
"""

import asyncio

from graph_town import DEADLINE_S
from scip_files import At, columns_of, define, document, own

from prism_contracts.rpc.symbols import (
    REFERENCES,
    ReferenceGroup,
    ReferencesReply,
    ReferencesRequest,
    SymbolReferences,
)

pytest_plugins = ["graph_town"]

# The type of the call's receiver is declared in a file that does not contain the name, too far for a
# resolution on demand.
FILES = {
    "depot.py": "class Depot:\n    def shut(self): ...\n",
    "rack.py": "from depot import Depot\n\nclass Rack:\n    def __init__(self):\n        self.depot = Depot()\n",
    "shelf.py": "from rack import Rack\n\nclass Shelf(Rack): ...\n",
    "book.py": "from shelf import Shelf\n\nclass Book(Shelf): ...\n",
    "run.py": "from book import Book\n\ndef run(book: Book):\n    book.depot.shut()  # shut it\n",
}
CALL = "book.depot.shut()  # shut it"


async def uses(town, version: int) -> SymbolReferences:
    """Returns the answer of a search that has the record of this import, which arrives a moment after its
    write.
    """

    async def ask() -> ReferencesReply:
        request = ReferencesRequest(
            tenant=town.tenant, repo="", symbols=("Depot.shut",), wait_for_commit=f"c{version}"
        )
        return await town.ask(REFERENCES, request)

    return (await town.answer(ask)).answers[0]


async def uses_by_graph(town, version: int) -> SymbolReferences:
    """Waits until the graph answers, a moment after its record is written."""
    async with asyncio.timeout(DEADLINE_S):
        while not (answer := await uses(town, version)).reconciliation.resolved:
            await asyncio.sleep(0.02)
    return answer


def rows(answer: SymbolReferences) -> list[tuple[str, int, str, str]]:
    return [(entry.file_path, entry.line, entry.text, entry.strategy) for entry in answer.entries]


async def test_the_graph_answers_with_a_scip_index_too(town):
    shut = own("`depot`/Depot#shut().")
    documents = [
        document("depot.py", [define(shut, 1, 8, 12)]),
        document("shelf.py", []),
        document("call.py", [At(shut, 1, 5, 9)]),
    ]
    files = FILES | {"call.py": "def call(it):\n  it.shut()\n"}
    async with town.search(), town.atlas():
        await town.import_(1, files)
        index = await town.store_scip(columns_of(documents, {path: f"{path} of 1" for path in files}))
        await town.built(1, index)
        by_graph = [("call.py", 2, "it.shut()", "scip"), ("run.py", 4, CALL, "receiver_type")]
        async with asyncio.timeout(DEADLINE_S):
            while rows(await uses(town, 1)) != by_graph:
                await asyncio.sleep(0.02)


async def test_the_graph_answers_for_unchanged_files(town):
    async with town.search():
        await town.import_(1, FILES, announced=False)
        by_files = await uses(town, 1)
        assert rows(by_files) == [("run.py", 4, CALL, "only_definition")]
        async with town.atlas():
            await town.announce(1)
            await town.built(1)
            by_graph = await uses_by_graph(town, 1)
            assert rows(by_graph) == [("run.py", 4, CALL, "receiver_type")]
            assert by_graph.reconciliation == by_files.reconciliation.model_copy(
                update={
                    "resolved": 1,
                    "candidates": 0,
                    "candidate_lines": 0,
                    "lines_by_group": {ReferenceGroup.CALLERS: 1},
                }
            )
            counts = by_graph.reconciliation
            parts = (
                counts.definition_lines,
                *counts.lines_by_group.values(),
                counts.other_lines,
                counts.mentions,
            )
            assert sum(parts) + counts.unexplained == counts.text_lines

            await town.import_(2, {"run.py": "\n" + FILES["run.py"]}, announced=False)
            assert rows(await uses(town, 2)) == [("run.py", 5, CALL, "only_definition")]
            await town.announce(2)
            await town.built(2)
            assert rows(await uses_by_graph(town, 2)) == [("run.py", 5, CALL, "receiver_type")]

            await town.import_(3, {"run.py": "def run(): ...\n"}, announced=False)
            assert rows(await uses(town, 3)) == []  # in the graph the file still contains the name
            await town.import_(4, {"run.py": None}, announced=False)
            assert rows(await uses(town, 4)) == []
        await town.import_(5, FILES, announced=False)
        assert rows(await uses(town, 5)) == [("run.py", 4, CALL, "only_definition")]
