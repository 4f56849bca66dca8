"""The main job: a repository is indexed, questions are answered, changes are followed."""

import json
import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from running_stack import SERVICES, RunningStack
from source_repos import FILES, PYTHON, SEEN, SKIPPED, GitRepo

MODES = ["2026-07-28", "legacy"]
REPO = "acme/ledger"
METRICS_PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


@pytest.fixture(autouse=True)
def _indexed(ledger):
    """Indexes the repository that every test here asks about."""


def lines(text: str, first: int, last: int) -> str:
    return "".join(text.splitlines(keepends=True)[first - 1 : last])


def check_receipt(receipt, repo: GitRepo) -> None:
    assert receipt["repo"] == REPO
    assert receipt["indexed_commit"] == receipt["head_commit"] == repo.head
    assert receipt["lag_seconds"] == 0
    assert (receipt["files_indexed"], receipt["files_skipped"]) == (SEEN - SKIPPED, SKIPPED)
    assert receipt["files_failed"] == 0
    assert receipt["skipped_reasons"] == {"binary": 1}
    assert receipt["dirty"] is False
    assert not receipt["missing_legs"]


def test_the_job_counts_every_file_once(ledger, ledger_repo) -> None:
    assert ledger["state"] == "complete"
    assert ledger["commit"] == ledger_repo.head
    assert ledger["ref"] == "main"
    counts = ledger["counts"]
    assert (counts["seen"], counts["indexed"], counts["skipped"]) == (SEEN, SEEN - SKIPPED, SKIPPED)
    assert ledger["sent"]["files"] == SEEN - SKIPPED


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("move money from one account to another", ("bank/account.py", "transfer_funds")),
        ("retryWithBackoff", ("web/retry.ts", "retryWithBackoff")),
        ("drop the least recently used cache entry", ("cache/lru.go", "")),
        ("great circle distance", ("geo/src/distance.rs", "haversine_distance")),
        ("where is an address split into mailbox and host", ("mail/src/AddressParser.java", "")),
    ],
)
async def test_search_code_finds_the_lines(shared_stack, ledger_repo, mode, query, place) -> None:
    path, symbol = place
    async with shared_stack.agent(REPO, mode) as agent:
        answer = await agent.ask("search_code", query=query, limit=3, detail="full")
        top = await agent.ask("search_code", query=query, limit=3)
    hit = answer["results"][0]
    assert (hit["repo"], hit["file_path"]) == (REPO, path)
    if symbol:
        assert symbol in hit["content"]
    shown = lines(str(FILES[path]), hit["start_line"], hit["end_line"])
    assert hit["content"].rstrip("\n") == shown.rstrip("\n")
    (symbol_hit, *_) = top["results"]
    assert symbol_hit["file_path"] == path
    text = str(FILES[path]).split("\n")
    assert symbol_hit["lines"]
    for line in symbol_hit["lines"]:
        assert symbol_hit["start_line"] <= line["number"] <= symbol_hit["end_line"]
        assert text[line["number"] - 1].strip() == line["text"].strip()
    scores = [hit["score"] for hit in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert hit["legs"]
    check_receipt(answer["receipt"], ledger_repo)


@pytest.mark.parametrize("mode", MODES)
async def test_every_tool_answers_about_what_was_indexed(shared_stack, ledger_repo, mode) -> None:
    async with shared_stack.agent(REPO, mode) as agent:
        grep = await agent.ask("grep_code", pattern="withdraw(")
        regex = await agent.ask("grep_code", pattern=r"^func \(c \*\w+\)", regex=True)
        whole = await agent.ask("read_file", file_path="bank/account.py")
        part = await agent.ask("read_file", file_path="bank/account.py", start_line=8, end_line=9)
        files = await agent.ask("list_files")
        globbed = await agent.ask("list_files", glob="**/*.{go,rs}")
        outline = await agent.ask("get_file_outline", file_path="bank/account.py")
        definitions = await agent.ask(
            "get_symbol_definition", symbols=["Account.withdraw", "EvictOldest", "transfer_fund"]
        )
        uses = await agent.ask("find_references", symbols=["Account.deposit"])
        body = await agent.ask("get_function_body", symbol="transfer_funds")
        docs = await agent.ask("search_docs", query="how do I install it")
    numbers = [number for number, line in enumerate(PYTHON.splitlines(), 1) if "withdraw(" in line]
    assert [(m["file_path"], m["line"]) for m in grep["matches"]] == [("bank/account.py", n) for n in numbers]
    assert grep["complete"]
    assert [match["text"] for match in regex["matches"]] == ["func (c *LruCache) EvictOldest() {"]
    assert whole["content"] == PYTHON
    assert whole["line_count"] == len(PYTHON.splitlines())
    assert part["content"] == lines(PYTHON, 8, 9)
    searchable = sorted(path for path in FILES if path not in ("logo.png", "build/output.py"))
    assert [file["file_path"] for file in files["files"]] == searchable
    assert files["total"] == len(searchable)
    assert [file["file_path"] for file in globbed["files"]] == ["cache/lru.go", "geo/src/distance.rs"]
    names = [symbol["name"] for symbol in outline["symbols"]]
    assert {"Account", "Account.withdraw", "Account.deposit", "transfer_funds"} <= set(names)
    method, go, misspelt = definitions["answers"]
    assert method["definitions"][0]["file_path"] == "bank/account.py"
    assert go["definitions"][0]["file_path"] == "cache/lru.go"
    assert misspelt["symbol"] == "transfer_funds"
    assert definitions["receipt"]["corrected"] == {"transfer_fund": "transfer_funds"}
    (deposit,) = uses["answers"]
    assert [
        (found["file_path"], found["symbol"], found["status"]) for found in deposit["groups"]["callers"]
    ] == [("bank/account.py", "transfer_funds", "resolved")]
    assert "def transfer_funds(" in body["body"]
    assert "target.deposit(cents)" in body["body"]
    assert docs["results"][0]["file_path"] == "docs/guide.md"
    assert "setup-ledger" in docs["results"][0]["content"]
    for answer in (grep, regex, whole, part, files, globbed, outline, definitions, uses, body, docs):
        check_receipt(answer["receipt"], ledger_repo)


@pytest.mark.parametrize("mode", MODES)
async def test_the_tools_about_the_index_itself(shared_stack, ledger, ledger_repo, mode) -> None:
    async with shared_stack.agent(REPO, mode) as agent:
        ping = await agent.ask("ping")
        me = await agent.ask("whoami")
        repos = await agent.ask("list_repos")
        status = await agent.ask("index_status", job=ledger["job"])
        coverage = await agent.ask("index_coverage")
    assert ping["status"] == "ok"
    assert ping["tool_count"] >= 14
    assert (me["tenant"], me["repo"]) == ("default", REPO)
    mine = next(repo for repo in repos["repositories"] if repo["name"] == REPO)
    assert mine["head_commit"] == ledger_repo.head
    assert status["job"]["state"] == "complete"
    assert status["job"]["counts"]["seen"] == SEEN
    assert (coverage["files"], coverage["indexed"]) == (SEEN, SEEN - SKIPPED)
    assert (coverage["skipped"], coverage["failed"]) == (SKIPPED, 0)
    assert coverage["by_reason"] == {"binary": 1}
    assert [problem["file_path"] for problem in coverage["problems"]] == ["logo.png"]


def test_a_second_run_changes_nothing(shared_stack: RunningStack, ledger, ledger_repo) -> None:
    before = shared_stack.points(ledger["repo"])
    again = shared_stack.index(ledger_repo.folder, "--name", REPO)
    assert again["nothing_changed"]
    assert again["sent"]["files"] == 0
    counts = again["counts"]
    assert (counts["unchanged"], counts["skipped"], counts["indexed"]) == (SEEN - SKIPPED, SKIPPED, 0)
    assert shared_stack.points(ledger["repo"]) == before


async def test_an_import_updates_only_what_changed(shared_stack: RunningStack, make_repo) -> None:
    repo = make_repo("changing")
    name = "acme/changing"
    first = shared_stack.index(repo.folder, "--name", name)
    before = shared_stack.points(first["repo"])

    repo.write({
        "bank/account.py": PYTHON.replace("transfer_funds", "shift_money"),
        "bank/audit.py": "def list_bookings():\n    return []\n",
    })  # fmt: skip
    repo.git("rm", "--quiet", "mail/src/AddressParser.java")
    repo.git("mv", "cache/lru.go", "cache/least_recently_used.go")
    repo.commit()
    second = shared_stack.index(repo.folder, "--name", name)

    counts = second["counts"]
    assert (counts["seen"], counts["indexed"], counts["removed"]) == (SEEN, 3, 2)
    assert second["sent"]["files"] == 3
    touched = {
        "bank/account.py", "bank/audit.py", "mail/src/AddressParser.java",
        "cache/lru.go", "cache/least_recently_used.go",
    }  # fmt: skip
    after = shared_stack.points(first["repo"])

    def untouched(points):
        return {key: p for key, p in points.items() if p["payload"]["path"] not in touched}

    assert untouched(after) == untouched(before)
    async with shared_stack.agent(name) as agent:
        old = await agent.ask("grep_code", pattern="transfer_funds")
        new = await agent.ask("grep_code", pattern="shift_money")
        moved = await agent.ask("grep_code", pattern="func (c *LruCache) EvictOldest")
        added = await agent.ask("search_code", query="list_bookings")
        listed = await agent.ask("list_files")
        gone = await agent.fails("read_file", file_path="mail/src/AddressParser.java")
        removed = await agent.ask("search_code", query="AddressParser splitAddress")
        fresh = await agent.ask("read_file", file_path="bank/account.py")
    assert old["matches"] == []
    assert old["complete"]
    assert [match["file_path"] for match in new["matches"]] == ["bank/account.py"]
    assert [match["file_path"] for match in moved["matches"]] == ["cache/least_recently_used.go"]
    assert added["results"][0]["file_path"] == "bank/audit.py"
    assert {"mail/src/AddressParser.java", "cache/lru.go"}.isdisjoint(
        file["file_path"] for file in listed["files"]
    )
    assert gone["code"] == "file_not_found"
    assert all("splitAddress" not in hit["content"] for hit in removed["results"])
    assert fresh["content"] == PYTHON.replace("transfer_funds", "shift_money")
    assert fresh["receipt"]["indexed_commit"] == repo.head


async def test_uncommitted_work_is_indexed_and_marked_dirty(shared_stack: RunningStack, make_repo) -> None:
    repo = make_repo("dirty", {"a.py": "def committed():\n    pass\n"})
    repo.write({"b.py": "def not_yet_committed():\n    pass\n"})
    job = shared_stack.index(repo.folder, "--name", "acme/dirty")
    assert (job["dirty"], job["counts"]["indexed"]) == (True, 2)
    async with shared_stack.agent("acme/dirty") as agent:
        answer = await agent.ask("search_code", query="not_yet_committed")
    assert answer["results"][0]["file_path"] == "b.py"
    assert answer["receipt"]["dirty"] is True


def test_a_ref_is_indexed_without_the_working_tree(shared_stack: RunningStack, make_repo) -> None:
    repo = make_repo("refs", {"a.py": "def first():\n    pass\n"})
    repo.git("tag", "v1")
    first = repo.head
    repo.write({"a.py": "def second():\n    pass\n"})
    repo.commit()
    job = shared_stack.index(repo.folder, "--name", "acme/refs", "--ref", "v1")
    assert (job["commit"], job["ref"]) == (first, "v1")
    error = shared_stack.prism_json(
        "index", str(repo.folder), "--name", "acme/refs", "--ref", "v9", "--wait", exit_code=1
    )["error"]
    assert error["code"] == "ref_not_found"


async def test_a_plain_folder_is_indexed_with_its_gitignores(shared_stack: RunningStack, tmp_path) -> None:
    folder = tmp_path / "plain"
    (folder / "nested").mkdir(parents=True)
    (folder / "a.py").write_text("def in_plain_folder():\n    pass\n")
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "x.log").write_text("ignored\n")
    (folder / "nested" / ".gitignore").write_text("secret*\n")
    (folder / "nested" / "secret.py").write_text("IGNORED = 1\n")
    (folder / "nested" / "kept.py").write_text("KEPT = 1\n")
    job = shared_stack.index(folder, "--name", "acme/plain")
    assert job["commit"].startswith("tree:")
    async with shared_stack.agent("acme/plain") as agent:
        listed = await agent.ask("list_files")
    assert [file["file_path"] for file in listed["files"]] == [
        ".gitignore", "a.py", "nested/.gitignore", "nested/kept.py",
    ]  # fmt: skip


def test_prism_search_and_status_agree_with_mcp(shared_stack: RunningStack, ledger, ledger_repo) -> None:
    found = shared_stack.prism_json("search", "transfer money between accounts", "--repo", REPO)
    assert found["results"][0]["file_path"] == "bank/account.py"
    check_receipt(found["receipt"], ledger_repo)
    shown = shared_stack.prism("search", "transfer_funds", "--repo", REPO)
    assert "bank/account.py:" in shown.stdout

    status = shared_stack.prism_json("status")
    assert not status["errors"]
    assert {service["name"] for service in status["services"]} == {"supervisor", *SERVICES}
    assert all(service["ready"] for service in status["services"])
    mine = next(repo for repo in status["repositories"] if repo["name"] == REPO)
    indexed = [
        p for p in shared_stack.points(ledger["repo"]).values() if p["payload"].get("status") != "removed"
    ]
    assert mine["points"] == len(indexed)
    assert mine["layers"][0]["files"] == SEEN - SKIPPED
    assert status["memory"]["rss_bytes"] > 0
    assert shared_stack.prism("status").returncode == 0


def test_rest_answers_like_mcp_and_describes_itself(shared_stack: RunningStack, ledger_repo) -> None:
    with shared_stack.http() as http:
        answer = http.post("/api/v1/search", json={"query": "overdraft limit", "repo": REPO, "limit": 2})
        assert answer.status_code == 200
        assert answer.json()["results"][0]["file_path"] in ("bank/account.py", "docs/guide.md")
        check_receipt(answer.json()["receipt"], ledger_repo)
        grep = http.post("/api/v1/grep", json={"pattern": "replicas: 3", "repo": REPO}).json()
        assert [match["line"] for match in grep["matches"]] == [2]
        repos = http.get("/api/v1/repos").json()["repositories"]
        assert REPO in [repo["name"] for repo in repos]
        schema = http.get("/openapi.json").json()
        assert {"/api/v1/search", "/api/v1/repos", "/api/v1/ingest/snapshots"} <= schema["paths"].keys()
        assert http.get("/docs").status_code == 200
        json.dumps(schema)


def test_every_service_exposes_health_and_metrics(shared_stack: RunningStack) -> None:
    run = shared_stack.data / "run"
    addresses = {
        file.stem: json.loads(file.read_text()) for file in run.glob("*.json") if file.stem != "supervisor"
    }
    assert set(addresses) == {
        "ingest",
        "chunker",
        "embedder",
        "indexer",
        "search",
        "atlas",
        "workspace",
        "scribe",
        "gateway",
    }
    documented = set(re.findall(r"^\| `(\w+)`", METRICS_PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    with shared_stack.http() as http, shared_stack.qdrant() as qdrant:
        for name, address in addresses.items():
            base = f"http://127.0.0.1:{address['port']}"
            assert http.get(f"{base}/livez").json() == {"status": "ok", "service": name}
            ready = http.get(f"{base}/readyz")
            assert ready.status_code == 200
            assert set(ready.json()["checks"].values()) == {"ok"}, name
            metrics = http.get(f"{base}/metrics")
            assert "process_resident_memory_bytes" in metrics.text
            exposed = {family.name for family in text_string_to_metric_families(metrics.text)}
            assert "prism_build_info" in exposed, name
            assert {one for one in exposed if one.startswith("prism_")} <= documented, name
        for path in ("/livez", "/readyz", "/metrics"):
            assert qdrant.get(path).status_code == 200


def test_a_second_up_is_refused(shared_stack: RunningStack) -> None:
    error = shared_stack.prism_json("up", "--detach", "--port", "0", exit_code=3)["error"]
    assert error["code"] == "already_running"
    assert error["details"]["url"] == shared_stack.url


async def test_text_comes_before_a_table_of_contents(shared_stack: RunningStack) -> None:
    topics = ("overdraft rules", "transfer limits", "closing an account", "interest rates")
    contents = "# Overdraft rules and more\n\n" + "".join(
        f"- [{topic}]({topic[:4]}.md)\n" for topic in topics
    )
    text = "# Accounts\n\nThe overdraft rules let an account go below zero by five hundred coins and no further.\n"
    shared_stack.send("acme/handbook", {"README.md": contents.encode(), "pages/accounts.md": text.encode()})
    async with shared_stack.agent("acme/handbook") as agent:
        found = await agent.ask("search_docs", query="overdraft rules")
    assert [hit["file_path"] for hit in found["results"]] == ["pages/accounts.md", "README.md"]
