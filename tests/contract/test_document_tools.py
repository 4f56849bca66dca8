"""The tools and routes of documents, with the SDK's client, the gateway and workspace on a real NATS server."""

import subprocess

import pytest

from prism_contracts import names
from prism_contracts.records import AnchoredKind, AnchorsRecord, anchors_key
from prism_gateway.mcp.tools.documents import Period
from prism_runtime.records import Records, open_bucket

pytest_plugins = ["gateway_stack"]

DOCUMENTS = "/mcp?toolsets=documents"
REST = "/api/v1/documents"
DRAFT = {
    "title": "Retries of deliveries",
    "content": "# Retries\n\nThree times.\n",
    "tags": ["delivery"],
    "category": "operations",
    "metadata": {"description": "Why.", "sources": ["https://example.com"], "custom": {"reviewed": True}},
}


async def call(client, tool: str, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refused(client, tool: str, **arguments) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    error = result.structured_content["error"]
    assert error["next_action"]
    return error["code"]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_document_is_written_read_changed_and_committed(stack, mode) -> None:
    async with stack.mcp(mode, DOCUMENTS) as client:
        made = await call(client, "create_document", **DRAFT)
        name = made["document_id"]
        assert made["path"].startswith("generated/")
        read = await call(client, "get_document", path=made["path"])
        assert (read["document_id"], read["content"]) == (name, DRAFT["content"])
        assert (read["metadata"]["custom"], read["metadata"]["is_draft"]) == ({"reviewed": True}, True)
        assert "title: Retries of deliveries" in read["frontmatter"]
        changed = await call(
            client, "update_document", document_id=name, updates={"content": "Four times.\n"}, version=1
        )
        assert changed["changes_applied"] == ["content"]
        committed = await call(client, "commit_to_git", message="Write about retries")
        assert committed["files_committed"] == [made["path"]]
        metadata = await call(client, "get_document_metadata", document_id=name)
        assert (metadata["metadata"]["is_draft"], metadata["metadata"]["commit"]) == (
            False,
            committed["commit_hash"],
        )
        assert "versions" not in metadata
        await call(client, "update_document", document_id=name, updates={"content": "Five times.\n"})
        with_versions = await call(client, "get_document_metadata", document_id=name, include_versions=True)
        draft, commit = with_versions["versions"]
        assert (draft["version"], commit["version"]) == ("3", committed["commit_hash"])
        assert draft["author"] == commit["author"] != ""
        old = await call(client, "get_document", document_id=name, version=commit["version"])
        assert old["content"] == "Four times.\n"
        changed = await call(client, "get_document", document_id=name, diff_from=commit["version"])
        assert "\n-Four times.\n+Five times.\n" in changed["diff"]
        assert "content" not in changed


async def test_related_documents_are_listed_when_asked_for(stack) -> None:
    async with stack.mcp(path=DOCUMENTS) as client:
        name = (await call(client, "create_document", **DRAFT))["document_id"]
        assert "related" not in await call(client, "get_document_metadata", document_id=name)
        answer = await client.call_tool(
            "get_document_metadata", {"document_id": name, "include_related": True}
        )
    assert answer.structured_content["related"] == []
    assert answer.content[0].text.endswith("related:\nnone")
    assert stack.fake.last().query.startswith(DRAFT["title"])


async def test_documents_are_listed_by_filter(stack) -> None:
    async with stack.mcp(path=DOCUMENTS) as client:
        made = await call(client, "create_document", **DRAFT)
        await call(client, "create_document", title="Colors", content="Blue.\n")
        day = made["created_at"][:10]
        wanted = {"tags": ["Delivery"], "date_range": {"start": day, "end": day}}
        listed = await call(client, "list_documents", filter=wanted, sort_by="title", sort_order="asc")
        assert [one["document_id"] for one in listed["documents"]] == [made["document_id"]]
        page = await client.call_tool("list_documents", {"limit": 1})
        assert page.structured_content["total"] == 2
        assert "1 more document: offset=1." in page.content[0].text


async def test_arguments_of_a_search_reach_workspace(stack) -> None:
    async with stack.mcp(path=DOCUMENTS) as client:
        await call(client, "create_document", **DRAFT)
        found = await call(client, "search_documents", query="main", filter_tags=["delivery"])
    assert (found["results"], found["total_found"]) == ([], 0)
    asked = stack.fake.last()
    assert (asked.repo, asked.query, asked.corpus) == ("prism/documents", "main", "docs")


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("get_document", {}, "invalid_argument"),
        ("get_document", {"document_id": "a", "path": "b.md"}, "invalid_argument"),
        ("get_document", {"document_id": "none"}, "document_not_found"),
        ("get_document", {"document_id": "none", "version": "soon"}, "invalid_argument"),
        ("get_document_metadata", {"path": "../secret.md"}, "invalid_path"),
        ("list_documents", {"sort_by": "size"}, "invalid_argument"),
        ("list_documents", {"filter": {"date_range": {"start": "soon"}}}, "invalid_argument"),
        ("create_document", {"title": "", "content": "x"}, "invalid_argument"),
        ("update_document", {"document_id": "none", "updates": {"title": "x"}}, "document_not_found"),
        ("generate_tags", {"document_id": "none"}, "document_not_found"),
        ("generate_embeddings", {"document_id": "none"}, "document_not_found"),
        ("generate_embeddings", {}, "invalid_argument"),
        ("commit_to_git", {"message": "Nothing"}, "nothing_to_commit"),
        ("commit_to_git", {"message": ""}, "invalid_argument"),
    ],
)
async def test_a_call_that_cannot_be_answered_says_why(stack, tool, arguments, code) -> None:
    async with stack.mcp(path=DOCUMENTS) as client:
        assert await refused(client, tool, **arguments) == code


async def test_documents_over_rest(stack) -> None:
    async with stack.rest() as http:
        made = await http.post(REST, json=DRAFT)
        assert made.status_code == 201, made.text
        one = f"{REST}/{made.json()['document_id']}"
        assert (await http.get(one)).json()["content"] == DRAFT["content"]
        assert (await http.get(f"{one}/metadata")).json()["metadata"]["category"] == "operations"
        changed = await http.patch(one, json={"updates": {"tags": ["retries"]}, "version": 1})
        assert changed.json()["changes_applied"] == ["tags"]
        stale = await http.patch(one, json={"updates": {"tags": []}, "version": 1})
        assert (stale.status_code, stale.json()["error"]["code"]) == (409, "document_conflict")
        assert (await http.get(REST, params={"tag": "retries"})).json()["total"] == 1
        tags = (await http.post(f"{one}/tags", json={"merge_with_existing": True})).json()
        assert tags["existing_tags"] == ["retries"]
        embeddings = (await http.post(f"{one}/embeddings", json={"force_regenerate": True})).json()
        assert (embeddings["embeddings_created"], embeddings["state"]) == (False, "pending")
        found = await http.post(f"{REST}/search", json={"query": "main"})
        assert found.status_code == 200, found.text
        committed = await http.post(f"{REST}/commit", json={"message": "Write about retries"})
        assert committed.json()["files_committed"] == [made.json()["path"]]
        versions = (await http.get(f"{one}/versions")).json()["versions"]
        assert [found["is_draft"] for found in versions] == [False]
        await http.patch(one, json={"updates": {"content": "Four times.\n"}})
        commit = versions[0]["version"]
        assert (await http.get(one, params={"version": commit})).json()["content"] == DRAFT["content"]
        assert "+Four times.\n" in (await http.get(f"{one}/diff", params={"base": commit})).json()["diff"]
        assert (await http.get(one, params={"version": "0" * 40})).status_code == 404
        assert (await http.get(f"{one}/versions", params={"cursor": "x y"})).status_code == 400
        assert (await http.get(f"{REST}/none")).status_code == 404
        assert (await http.post(REST, json=DRAFT | {"tenant": "other"})).status_code in {400, 422}


async def test_an_admin_sets_the_remote_over_rest(stack) -> None:
    remote, wanted = f"{REST}/remote", {"url": "ssh://git@192.88.99.1/acme/documents.git"}
    async with stack.rest() as http:
        assert (await http.get(remote)).json()["error"]["code"] == "remote_not_set"
        made = await http.put(remote, json=wanted)
        assert made.status_code == 200, made.text
        assert (made.json()["url"], made.json()["branch"]) == (wanted["url"], "main")
        assert (await http.get(remote)).json() == made.json()
        with_login = await http.put(remote, json={"url": "https://ada:hunter2xyz@192.88.99.1/a/b"})
        assert (with_login.status_code, with_login.json()["error"]["code"]) == (400, "clone_refused")
        assert (await http.delete(remote)).json()["url"] == ""


async def test_a_bundle_is_cloned_with_its_history(stack, tmp_path) -> None:
    def git(*command: str) -> str:
        return subprocess.run(
            ["git", "-C", str(tmp_path), *command], check=True, capture_output=True, text=True
        ).stdout.strip()

    async with stack.rest() as http:
        assert (await http.get(f"{REST}/bundle")).json()["error"]["code"] == "document_not_found"
        made = (await http.post(REST, json=DRAFT)).json()
        for content in ("Three times.\n", "Four times.\n"):
            await http.patch(f"{REST}/{made['document_id']}", json={"updates": {"content": content}})
            commit = (await http.post(f"{REST}/commit", json={"message": "Write"})).json()["commit_hash"]
        answer = await http.get(f"{REST}/bundle")
        assert answer.headers["content-type"] == "application/x-git-bundle"
        (tmp_path / "documents.bundle").write_bytes(answer.content)
    git("clone", "-q", "documents.bundle", "clone")
    git("-C", "clone", "fsck", "--strict")
    assert git("-C", "clone", "rev-parse", "HEAD") == commit
    assert git("-C", "clone", "rev-list", "--count", "HEAD") == "2"
    assert (tmp_path / "clone" / made["path"]).read_text().endswith("Four times.\n")


async def test_files_are_imported_read_by_path_and_exported_over_rest(stack) -> None:
    files = [
        {"path": "documents/guide.md", "text": "# Guide\r\n"},
        {"path": "documents/Guide.md", "text": "# Other\n"},
    ]
    async with stack.rest() as http:
        first, second = (await http.put(f"{REST}/files", json={"files": files})).json()["files"]
        assert (first["outcome"], second["outcome"], second["code"]) == (
            "created",
            "refused",
            "document_exists",
        )
        assert "documents/guide.md" in second["message"]
        read = (await http.get(f"{REST}/by-path", params={"path": "documents/guide.md"})).json()
        assert (read["document_id"], read["content"]) == (first["document_id"], "# Guide\n")
        assert (await http.get(f"{REST}/by-path", params={"path": "../guide.md"})).status_code == 400
        changed = await http.patch(f"{REST}/{first['document_id']}", json={"updates": {"title": "Mine"}})
        assert changed.json()["error"]["code"] == "document_read_only"
        exported = (await http.get(f"{REST}/files", params={"folder": "documents"})).json()
        assert [one["path"] for one in exported["files"]] == ["documents/guide.md"]
        assert exported["files"][0]["text"].startswith("---\ntitle: Guide\n")
        assert (await http.put(f"{REST}/files", json={"files": []})).status_code in {400, 422}


async def test_documents_are_listed_by_when_they_were_created_and_modified(stack) -> None:
    async with stack.rest() as http:
        made = (await http.post(REST, json=DRAFT)).json()
        changed = await http.patch(f"{REST}/{made['document_id']}", json={"updates": {"title": "Retries"}})
        modified = changed.json()["modified_at"]
        for wanted, total in (
            ({"modified_after": modified}, 1),
            ({"modified_before": made["created_at"]}, 0),
            ({"created_after": modified}, 0),
            ({"created_before": made["created_at"], "modified_after": made["created_at"]}, 1),
            ({"created_after": "2000-01-01", "created_before": "2000-12-31"}, 0),
        ):
            assert (await http.get(REST, params=wanted)).json()["total"] == total, wanted
        search = {"query": "main", "modified_range": {"start": modified}}
        assert (await http.post(f"{REST}/search", json=search)).status_code == 200
    async with stack.mcp(path=DOCUMENTS) as client:
        wanted = {"modified_range": {"end": "2000-01-01"}}
        assert (await call(client, "list_documents", filter=wanted))["total"] == 0


def test_a_day_at_the_end_of_a_range_is_part_of_it() -> None:
    asked = Period(start="2026-01-01", end="2026-01-31").asked()
    assert asked == {"start": "2026-01-01", "end": "2026-01-31T23:59:59.999999"}
    assert Period(end="2026-01-31T12:00:00Z").asked() == {"end": "2026-01-31T12:00:00Z"}


async def test_the_repository_of_the_connection_reaches_the_links_of_what_is_written(stack) -> None:
    at = {"X-Prism-Repo": "acme/bank-south"}
    bucket = Records(await open_bucket(stack.bus.js, names.KV_ANCHORS), AnchorsRecord)

    async def repos_of(document: str) -> list[str]:
        found = await bucket.get(anchors_key("default", AnchoredKind.DOCUMENT, document))
        return [one.repo for one in found.wanted]

    async with stack.mcp(path=DOCUMENTS, **at) as client:
        made = (await call(client, "create_document", **DRAFT))["document_id"]
        await call(client, "update_document", document_id=made, updates={"content": "Four.\n"})
        assert await repos_of(made) == ["acme/bank-south"] * 2
    async with stack.rest(**at) as http:
        made = (await http.post(REST, json=DRAFT)).json()["document_id"]
        own = {"updates": {"content": "Four.\n"}, "connected_repo": "acme/bank-north"}
        await http.patch(f"{REST}/{made}", json=own)
        await http.patch(f"{REST}/{made}", json={"updates": {"content": "Five.\n"}})
        assert await repos_of(made) == ["acme/bank-south", "acme/bank-north", "acme/bank-south"]
        files = {"files": [{"path": "documents/at-south.md", "text": "Text."}]}
        (stored,) = (await http.put(f"{REST}/files", json=files)).json()["files"]
        assert await repos_of(stored["document_id"]) == ["acme/bank-south"]
        await http.post("/api/v1/tasks", json={"title": "Close"})
        assert stack.fake.last().connected_repo == "acme/bank-south"
    async with stack.mcp(path="/mcp?toolsets=tasks", **at) as client:
        task = await call(client, "create_task", title="Close", repo="acme/bank-north")
        assert (stack.fake.last().repo, stack.fake.last().connected_repo) == (
            "acme/bank-north",
            "acme/bank-south",
        )
        await call(client, "update_task", task_id=task["id"], notes="Soon.")
        assert stack.fake.last().connected_repo == "acme/bank-south"
