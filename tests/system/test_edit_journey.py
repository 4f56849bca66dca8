"""An agent prepares an edit over MCP, in a repository that was indexed with the command line."""

import asyncio

import pytest
from running_stack import WAIT_SECONDS_MAX, Agent, Json

REPO = "acme/parcels"
FILES = {
    "parcels/depot.py": '"""Depots."""\n\n\ndef weigh_parcel(parcel: dict) -> int:\n    """Weigh a parcel in grams."""\n    return 1\n',
    "parcels/day.py": "from parcels.depot import weigh_parcel\n\n\ndef run_day() -> int:\n    return weigh_parcel({})\n",
    "tests/test_day.py": "from parcels.day import run_day\n\n\ndef test_a_day():\n    assert run_day() == 1\n",
    "AGENTS.md": "# Rules\n\nParcels are weighed in grams.\n",
    "README.md": "# Parcels\n\nWhere parcels are.\n",
    "Makefile": "test:\n\tpytest\n",
}


@pytest.fixture
def parcels(shared_stack, make_repo) -> None:
    shared_stack.index(make_repo("parcels", FILES).folder, "--name", REPO)


@pytest.mark.usefixtures("parcels")
async def test_tools_return_the_context_of_an_edit(shared_stack) -> None:
    async with shared_stack.agent(REPO) as agent:
        edit = await agent.ask("prepare_to_edit", symbol="weigh_parcel")
        existing = await agent.ask("check_exists", intent="weigh a parcel in grams")
        conventions = await agent.ask("get_codebase_conventions")
        context = await agent.ask("get_repo_context", section="readme")
        missed = await agent.fails("prepare_to_edit", symbol="weigh_packet")
    assert edit["content"].startswith("def weigh_parcel")
    assert [entry["symbol"] for entry in edit["uses"]["groups"]["callers"]] == ["run_day"]
    assert [(test["symbol"], test["via"]) for test in edit["tests"]] == [("test_a_day", "run_day")]
    assert [rule["content"] for rule in edit["rules"]] == [FILES["AGENTS.md"].rstrip()]
    assert existing["verdict"] == "likely"
    assert existing["existing"][0]["name"] == "weigh_parcel"
    assert "make (Makefile): test" in [one["statement"] for one in conventions["conventions"]]
    assert [document["content"] for document in context["documents"]] == [FILES["README.md"].rstrip()]
    assert missed["code"] == "symbol_not_found"
    assert missed["details"]["suggestions"][0].split(" ")[0] == "weigh_parcel"


C_REPO = "acme/scales"
C_FILES = {
    "depot.h": "int weigh_parcel(int grams);\n",
    "depot.c": '#include "depot.h"\nint weigh_parcel(int grams) { return grams; }\n',
    "test/test_unity.c": """#include "../depot.h"
static void weighs_a_parcel(void) {
  weigh_parcel(1);
}
int main(void) {
  RUN_TEST(weighs_a_parcel);
}
""",
    "test/test_google.cpp": """#include "../depot.h"
TEST_F(Depot, weighs) {
  EXPECT_EQ(weigh_parcel(1), 1);
}
""",
    "test/test_catch.cpp": """#include "../depot.h"
TEST_CASE("a parcel is weighed", "[depot]") {
  REQUIRE(weigh_parcel(1) == 1);
}
""",
}


async def impact_of(agent: Agent, symbol: str) -> Json:
    """Returns the impact of a change, once the graph is built."""
    async with asyncio.timeout(WAIT_SECONDS_MAX):
        while True:
            found, code = await agent.outcome("impact_of_change", symbol=symbol)
            if found:
                return found
            assert code == "graph_not_built", code
            await asyncio.sleep(0.05)


@pytest.fixture
def scales(shared_stack, make_repo) -> None:
    shared_stack.index(make_repo("scales", C_FILES).folder, "--name", C_REPO)


@pytest.mark.usefixtures("scales")
async def test_tools_name_the_tests_that_macros_of_c_define(shared_stack) -> None:
    names = {"weighs_a_parcel", "Depot.weighs", "a parcel is weighed"}
    async with shared_stack.agent(C_REPO) as agent:
        impact = await impact_of(agent, "weigh_parcel")
        edit = await agent.ask("prepare_to_edit", symbol="weigh_parcel")
        uses = await agent.ask("find_references", symbols=["weigh_parcel"])
    assert {test["symbol"] for test in edit["tests"]} == names
    tests = uses["answers"][0]["groups"]["tests"]
    assert {(entry["symbol"], entry["line"]) for entry in tests} == {
        ("weighs_a_parcel", 3),
        ("Depot.weighs", 3),
        ("a parcel is weighed", 3),
    }
    assert {test["node"]["symbol"] for test in impact["tests"]} == names
