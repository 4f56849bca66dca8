"""Maps and architectures over a running stack: from `prism index` to the answer over MCP."""

import asyncio

from running_stack import WAIT_SECONDS_MAX, Agent, Json, RunningStack

FILES: dict[str, str | bytes] = {
    "pyproject.toml": "[project]\nname = 'parcels'\n",
    "parcels/__main__.py": "from parcels.route import Route\n\nRoute().next()\n",
    "parcels/route.py": '"""Where a parcel goes."""\n\nfrom parcels.stop import Stop\n\n\nclass Route:\n'
    "    def next(self) -> Stop:\n        return Stop()\n",
    "parcels/stop.py": '"""Where a parcel waits."""\n\n\nclass Stop:\n    def wait(self):\n        return 1\n',
    "tests/test_route.py": "from parcels.route import Route\n\n\ndef test_next():\n    Route().next().wait()\n",
}
REPO = "acme/parcels"


async def answer(agent: Agent, tool: str, commit: str, **arguments: str) -> Json:
    """Returns the answer from the graph of a commit, once it is served."""
    async with asyncio.timeout(WAIT_SECONDS_MAX):
        while True:
            found, code = await agent.outcome(tool, **arguments)
            if found and found["receipt"]["graph_commit"] == commit:
                return found
            assert code in {"", "graph_not_built"}, code
            await asyncio.sleep(0.05)


async def test_the_map_follows_changes_of_the_repository(shared_stack: RunningStack, make_repo) -> None:
    repo = make_repo("parcels", FILES)
    job = shared_stack.index(repo.folder, "--name", REPO)
    async with shared_stack.agent(REPO) as agent:
        found = await answer(agent, "get_module_map", job["commit"])
        assert [(entry["file_path"], entry["tier"]) for entry in found["entries"]][:2] == [
            ("parcels/stop.py", "core"),
            ("parcels/route.py", "significant"),
        ]
        assert found["entries"][0]["summary"] == "Where a parcel waits."
        assert found["entries"][0]["top_symbols"] == ["class Stop"]
        assert found["entries"][-1]["file_path"] == "tests/test_route.py"

        overview = (await agent.ask("get_architecture"))["overview"]
        assert [(entry["kind"], entry["file_path"]) for entry in overview["entry_points"]] == [
            ("script", "parcels/__main__.py")
        ]
        assert overview["components"][0]["name"] == "parcels"
        assert overview["components"][0]["description"] == "Around stop.py: Where a parcel waits."
        outline = await agent.ask("get_file_outline", path="parcels/stop.py")
        assert outline["description"] == "Where a parcel waits."
        assert overview["partitions"] == [{"folder": ".", "manifest": "pyproject.toml", "files": 5}]
        inside = (await agent.ask("get_architecture", component="parcels"))["component"]
        assert {entry["file_path"] for entry in inside["files"]} >= {"parcels/stop.py", "parcels/route.py"}

        (repo.folder / "parcels" / "stop.py").unlink()
        (repo.folder / "parcels" / "halt.py").write_text(str(FILES["parcels/stop.py"]))
        job = shared_stack.index(repo.folder, "--name", REPO)
        found = await answer(agent, "get_module_map", job["commit"])
        assert "parcels/stop.py" not in {entry["file_path"] for entry in found["entries"]}
        assert found["receipt"]["graph_lag_seconds"] == 0


async def test_missing_components_and_empty_maps_are_reported(shared_stack: RunningStack, make_repo) -> None:
    repo = make_repo("prose", {"README.md": "# Nothing but words\n"})
    job = shared_stack.index(repo.folder, "--name", "acme/prose")
    async with shared_stack.agent("acme/prose") as agent:
        found = await answer(agent, "get_module_map", job["commit"])
        assert (found["entries"], found["total"]) == ([], 0)
        assert (await agent.ask("get_architecture"))["overview"]["components"] == []
        missing = await agent.fails("get_architecture", component="bank")
        assert missing["code"] == "component_not_found"
        assert (await agent.fails("get_module_map", cursor="x"))["code"] == "invalid_cursor"
        assert (await agent.fails("get_module_map", repo="no/such"))["code"] == "repo_not_found"
        assert (await agent.fails("get_module_map", path_filter="[" * 2_000))["code"] == "invalid_argument"
