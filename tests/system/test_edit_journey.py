"""An agent prepares an edit over MCP, in a repository that was indexed with the command line."""

import pytest

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
