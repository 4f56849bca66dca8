"""Unused code: the real atlas and the real search, on real NATS and the real local store."""

from functools import partial

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.unused import (
    NAME_LINES,
    UNUSED,
    DoubtReason,
    NameLinesRequest,
    UnusedGroup,
    UnusedRequest,
)
from prism_runtime.packing import unpack_lines

pytest_plugins = ["graph_town"]

FILES = {
    "pyproject.toml": '[project]\nname = "parcels"\n\n[project.scripts]\nweigh = "parcels.rates:weigh"\n',
    "parcels/__init__.py": "",
    "parcels/rates.py": (
        "def _rate(zone):\n    return _base(zone)\n\n\n"
        "def _base(zone):\n    return 1\n\n\n"
        "def weigh():\n    return 2\n\n\n"
        "def tax(zone):\n    return 3\n\n\n"
        "def _toll():\n    return 4\n\n\n"
        "def _do_ship():\n    return 5\n\n\n"
        "def _seal():\n    return 6\n\n\n"
        '# "_seal" is mentioned here.\nSTEPS = ["_toll"]\nprint(globals()["_do_" + STEPS[0]])\n'
    ),
    "tests/test_rates.py": (
        "from parcels.rates import _seal\n\n\ndef test_it_seals():\n    assert _seal() == 6\n"
    ),
    "README.md": "Parcels are sealed by `_seal`. `_rate` is history.\n",
}


@pytest.fixture
async def ask(town):
    await town.import_(1, FILES)
    async with town.atlas(), town.search():
        await town.built(1)

        async def ask(rpc, request):
            return await town.answer(partial(town.ask, rpc, request))

        yield ask


def groups(reply):
    return {one.node.symbol: one.group for one in reply.definitions}


async def test_each_definition_without_a_use_is_in_one_group(ask):
    reply = await ask(UNUSED, UnusedRequest(tenant="any"))
    assert groups(reply) == {
        "_rate": UnusedGroup.UNUSED,
        "_base": UnusedGroup.UNUSED,
        "_seal": UnusedGroup.TESTS_ONLY,
        "tax": UnusedGroup.EXPORTED,
        "weigh": UnusedGroup.UNCLEAR,
        "_toll": UnusedGroup.UNCLEAR,
        "_do_ship": UnusedGroup.UNCLEAR,
    }
    assert reply.counts == {"unused": 2, "tests_only": 1, "exported": 1, "unclear": 3}
    doubts = {one.node.symbol: one.doubts[0] for one in reply.definitions if one.doubts}
    assert (doubts["weigh"].reason, doubts["weigh"].file_path) == (DoubtReason.TEXT, "pyproject.toml")
    assert (doubts["_toll"].file_path, doubts["_toll"].line) == ("parcels/rates.py", 30)
    assert doubts["_do_ship"].reason is DoubtReason.COMPUTED_NAME
    rate, base = reply.definitions[:2]
    assert (rate.mentions, base.below, base.users[0].symbol) == (1, 0, "_rate")
    assert not rate.certain, "the file looks names up while it runs"
    assert reply.receipt.graph_commit == "c1"


async def test_pages_go_on_where_the_last_one_ended(ask):
    found = []
    cursor = ""
    for _ in range(4):
        page = await ask(UNUSED, UnusedRequest(tenant="any", limit=2, cursor=cursor))
        found += [one.node.symbol for one in page.definitions]
        cursor = page.next_cursor
    assert (len(found), cursor) == (7, "")
    assert len(set(found)) == 7
    error = await ask(UNUSED, UnusedRequest(tenant="any", limit=2, cursor="WyJhIiwxXQ"))
    assert isinstance(error, PrismError)
    assert error.code is ErrorCode.INVALID_CURSOR


async def test_filters_choose_definitions(ask):
    only = await ask(UNUSED, UnusedRequest(tenant="any", group=UnusedGroup.UNUSED))
    assert list(groups(only)) == ["_rate", "_base"]
    assert only.counts["unclear"] == 3
    elsewhere = await ask(UNUSED, UnusedRequest(tenant="any", path_filter="parcels/other/**"))
    assert (elsewhere.definitions, elsewhere.examined) == ((), 0)
    other = await ask(UNUSED, UnusedRequest(tenant="any", language="go"))
    assert not other.definitions


async def test_search_says_where_names_stand(ask):
    reply = await ask(NAME_LINES, NameLinesRequest(tenant="any", names=("_seal", "_do_", "nowhere")))
    assert unpack_lines(reply.lines) == {
        "_seal\tprose\tREADME.md": [1],
        "_seal\tcode\tparcels/rates.py": [25],
        "_seal\tcomment\tparcels/rates.py": [29],
        "_do_\tstring\tparcels/rates.py": [31],
        "_seal\tcode\ttests/test_rates.py": [1, 5],
    }
    assert not reply.crowded


async def test_without_search_everything_is_unclear(town):
    await town.import_(1, FILES)
    async with town.atlas():
        await town.built(1)
        reply = await town.answer(partial(town.ask, UNUSED, UnusedRequest(tenant="any")))
    assert {one.group for one in reply.definitions} == {UnusedGroup.UNCLEAR}
    assert "text" in reply.receipt.missing_legs
