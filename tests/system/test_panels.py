"""Every panel of the dashboards shows data, on a real Prometheus that reads a stack with work to do."""

import json
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from forge import Forge
from git_server import git_server
from running_stack import Json, RunningStack, until

from deploy.dashboards.queries import DASHBOARDS, queries_of_dashboards
from deploy.prometheus.laptop import prometheus
from prism_cli.stack.probes import free_port

pytestmark = pytest.mark.prometheus

SCRAPE_S = 1
# Longer than a round of work takes on a busy machine; pictures show rates of the last seconds.
RATE_INTERVAL = "10s" if os.environ.get("PRISM_DASHBOARDS_SECONDS") else "10m"
# `make pictures-dashboards` records for longer, and keeps what the panels show.
SECONDS = float(os.environ.get("PRISM_DASHBOARDS_SECONDS", "0"))
RECORD = os.environ.get("PRISM_DASHBOARDS_RECORD", "")
POINTS = 120
# Empty here, and why.
EMPTY = {
    "overview: How much disk is free?": "the volumes of Kubernetes; the disk of the data folder is shown",
    "search: Which tools fail?": "no call failed",
    "tenants: Which limits stop callers?": "no caller was over a limit",
    "qdrant: Dead copies of shards": "a metric of Qdrant, which the local store does not have",
    "qdrant: Waiting changes of the cluster": "a metric of Qdrant, which the local store does not have",
    "qdrant: Does it optimize?": "a metric of Qdrant, which the local store does not have",
    "qdrant: How much memory does a node take?": "metrics of Qdrant's process, which the local store does not have",
}


class Prometheus:
    """What panels ask."""

    def __init__(self, url: str) -> None:
        self._url = url

    def is_ready(self) -> bool:
        try:
            return httpx2.get(f"{self._url}/-/ready").status_code == 200
        except httpx2.TransportError:
            return False

    def ask(self, expr: str) -> list[Json]:
        answer = httpx2.get(f"{self._url}/api/v1/query", params={"query": expr}).json()
        assert answer["status"] == "success", answer
        return answer["data"]["result"]

    def has_value(self, expr: str) -> bool:
        return any(not math.isnan(float(line["value"][1])) for line in self.ask(expr))

    def over_time(self, expr: str, seconds: float) -> list[Json]:
        end = time.time()
        step = max(seconds / POINTS, SCRAPE_S)
        times = {"start": end - seconds, "end": end, "step": step}
        answer = httpx2.get(f"{self._url}/api/v1/query_range", params={"query": expr, **times}).json()
        assert answer["status"] == "success", answer
        return answer["data"]["result"]


@pytest.fixture
def forge(shared_stack: RunningStack, tmp_path: Path) -> Iterator[Forge]:
    (tmp_path / "served").mkdir()
    with git_server(tmp_path / "served") as url:
        yield Forge(tmp_path, url, shared_stack)


@pytest.fixture
def read_by(shared_stack: RunningStack, tmp_path: Path) -> Iterator[Prometheus]:
    listen = f"127.0.0.1:{free_port()}"
    with prometheus(shared_stack.data, tmp_path / "prometheus", listen, SCRAPE_S):
        yield Prometheus(f"http://{listen}")


async def test_every_panel_shows_data(read_by: Prometheus, forge: Forge) -> None:
    await until(read_by.is_ready, what="Prometheus is ready")
    began, turn = time.monotonic(), 0
    repo = forge.repository("panels/whole")
    waiting = {query.place: [] for query in queries_of_dashboards()}
    for place, expr in queries_of_dashboards(rate_interval=RATE_INTERVAL):
        waiting[place].append(expr)
    # Rates need two values, so work goes on until each panel had something to show.
    shown: set[str] = set()
    expected = set(waiting) - set(EMPTY)
    while not expected <= shown or time.monotonic() - began < SECONDS:
        turn += 1
        assert turn < max(12, SECONDS), sorted(expected - shown)
        await work(forge, repo, turn)
        shown |= {place for place, exprs in waiting.items() if any(map(read_by.has_value, exprs))}
    if RECORD:
        record(read_by, Path(RECORD), time.monotonic() - began)
    sources = read_by.ask("count by (source) (prism_searchable_seconds_count > 0)")
    assert {line["metric"]["source"] for line in sources} == {"push", "edit", "overlay", "upload", "clone"}
    # A reason that is none any more has to go.
    assert not {place for place, why in EMPTY.items() if "the local store does not have" in why} & shown


async def work(forge: Forge, repo, turn: int) -> None:
    """A push, an edit, an overlay, an upload, and questions with and without an answer."""
    name = "panels/whole"
    repo.write({"bank/pushed.py": f"def pushed_{turn}():\n    return {turn}\n"})
    repo.commit()
    forge.post(forge.payload(name, forge.push(repo)))
    forge.stack.send(
        "panels/sent", {f"sent_{turn % 3}.py": f"def sent_{turn}():\n    return {turn}\n".encode()}
    )
    edit = {"path": "edited.py", "content": f"def edited_{turn}():\n    return {turn}\n"}
    with forge.stack.http() as http:
        await until(
            # The job before it may still end.
            lambda: http.post("/api/v1/ingest/file", json={"repo": "panels/sent", **edit}).is_success,
            what="the edit is taken",
        )
    async with forge.stack.agent(name) as agent:
        opened = await agent.ask(
            "open_overlay", files=[{"path": "bank/mine.py", "content": f"MINE = {turn}\n"}]
        )
        await agent.ask("close_overlay", handle=opened["handle"])
        for words in ("retry an account", f"pushed {turn}", "retry an account"):
            await agent.ask("search_code", query=words)
        await agent.ask("grep_code", pattern="def pushed")
        await agent.ask("find_references", symbol="Account")
        await agent.outcome("get_symbol_definition", symbols=["no_such_symbol"])
        await agent.outcome("get_call_hierarchy", symbol="no_such_symbol")


def record(source: Prometheus, folder: Path, seconds: float) -> None:
    """Keeps what each panel shows over the time of the test."""
    folder.mkdir(parents=True, exist_ok=True)
    kept: dict[str, list[list[Json]]] = {}
    for place, expr in queries_of_dashboards(DASHBOARDS, RATE_INTERVAL):
        kept.setdefault(place, []).append(source.over_time(expr, seconds))
    (folder / "panels.json").write_text(json.dumps(kept), encoding="utf-8")
