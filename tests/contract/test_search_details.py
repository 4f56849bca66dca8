"""How much of a hit each detail shows, on a real nats-server and a real store."""

import uuid
from collections.abc import AsyncIterator, Callable

import pytest
from indexed_texts import file_point, open_index

from prism_contracts.rpc.search import Detail, Hit, SearchReply, SearchRequest

NAME = "acme/kiln"
KILN = '''"""Kilns."""

import heat


class Kiln:
    """A kiln."""

    def warm(self):
        """Warms it slowly, as glaze needs."""
        self.heat = 1

    def fire(self, glaze):
        """Fires the glaze of a pot until it is hard."""
        for pot in glaze.pots:
            self.harden(pot)

    def cool(self):
        self.heat = 0


def main():
    Kiln().fire(heat.GLAZE)
'''
FILES = {
    "src/kiln.py": KILN,
    "tests/kiln_test.py": "def test_fire_glaze_of_a_pot():\n    assert fire(glaze)\n",
    "examples/pot.py": "def fire_glaze_of_a_pot():\n    return Kiln().fire(pot)\n",
}
QUERY = "fire the glaze of a pot until hard"


@pytest.fixture
async def ask(nats_server, qdrant_url) -> AsyncIterator[Callable]:
    tenant = f"t{uuid.uuid4().hex}"
    points = [file_point(tenant, NAME, path, text) for path, text in FILES.items()]
    async with open_index(nats_server.url, qdrant_url, tenant, [NAME], points) as index:

        async def search(query: str = QUERY, **fields: object) -> SearchReply:
            return await index.search.search.search(SearchRequest(tenant=tenant, query=query, **fields))

        yield search


def place(hit: Hit) -> tuple[str, str, int, int]:
    return hit.file_path, hit.symbol, hit.start_line, hit.end_line


async def test_a_hit_is_a_symbol_with_its_range_in_every_detail(ask) -> None:
    replies = [await ask(detail=detail) for detail in Detail]
    assert [{place(hit) for hit in reply.results} for reply in replies] == [
        {place(hit) for hit in replies[0].results}
    ] * len(replies)
    assert place(replies[0].results[0]) == ("src/kiln.py", "Kiln.fire", 13, 16)


async def test_the_full_text_of_a_hit_is_its_symbol(ask) -> None:
    best = (await ask(detail=Detail.FULL)).results[0]
    assert best.content.rstrip("\n") == "\n".join(KILN.split("\n")[12:16])
    assert best.lines == ()


async def test_a_compact_hit_has_a_signature_and_no_text(ask) -> None:
    best = (await ask(detail=Detail.COMPACT)).results[0]
    assert (best.signature, best.content, best.lines, best.matched) == ("def fire(self, glaze):", "", (), ())


async def test_a_hit_that_shows_all_of_its_code_is_not_proposed_again(ask) -> None:
    reply = await ask(detail=Detail.TOP)
    assert reply.results[0].is_whole
    assert reply.next_actions == ()
    (action,) = (await ask(detail=Detail.COMPACT)).next_actions
    assert action == 'read_file places=["src/kiln.py:13-16"]'


@pytest.mark.parametrize("detail", Detail)
async def test_tests_and_examples_come_last(ask, detail) -> None:
    found = [hit.file_path for hit in (await ask("fire glaze of a pot", detail=detail)).results]
    assert found[0] == "src/kiln.py"
    assert set(found[-2:]) == {"tests/kiln_test.py", "examples/pot.py"}


@pytest.mark.parametrize(
    ("query", "first"),
    [("test of fire glaze of a pot", "tests/kiln_test.py"), ("example of fire glaze pot", "examples/pot.py")],
)
async def test_tests_and_examples_are_ranked_as_others_if_asked_for(ask, query, first) -> None:
    found = list(dict.fromkeys(hit.file_path for hit in (await ask(query)).results))
    assert found.index(first) < len(found) - 1
