"""The tools over MCP, with the SDK's client over HTTP, in both protocol versions."""

import asyncio
import json

import pytest
from gateway_stack import EXAMPLES
from jsonschema import Draft202012Validator
from mcp import MCPError

from prism_contracts.rpc.graph import (
    GraphEdge,
    GraphNode,
    OutsideType,
    TreeBranch,
    TypeHierarchyReply,
    TypeHierarchyRequest,
)
from prism_contracts.rpc.guidance import EditContextRequest
from prism_gateway.mcp.tools import edit

pytest_plugins = ["gateway_stack"]

CODE = [
    "search_code", "grep_code", "list_files", "get_file_outline", "get_symbol_definition", "find_references", "read_file", "prepare_to_edit",
    "get_call_hierarchy", "get_type_hierarchy", "find_path", "impact_of_change", "check_exists",
]  # fmt: skip
GRAPH = [
    "get_function_body", "get_dependencies", "find_unused", "get_module_map", "get_architecture",
]  # fmt: skip
DOCS = ["search_docs", "get_repo_context", "get_codebase_conventions"]
CONTEXT = ["get_context"]
WIKI = ["list_wiki_pages", "get_wiki_page", "generate_wiki"]
DOCUMENTS = [
    *("search_documents", "get_document", "get_document_metadata", "list_documents"),
    *("create_document", "update_document", "generate_embeddings", "generate_tags", "commit_to_git"),
]
FORGETS = {"remove_repository", "delete_branch_index", "close_overlay", "cancel_job"}
WRITES = {
    "register_repository",
    "update_repository",
    "reindex_repository",
    "clear_cache",
    "index_repository",
    "create_branch_index",
    "open_overlay",
    "send_feedback",
    "generate_wiki",
    "create_task",
    "update_task",
    "create_document",
    "update_document",
    "generate_embeddings",
    "commit_to_git",
    *FORGETS,
}
ADMIN = [
    *("ping", "whoami", "list_repos", "index_repository", "remove_repository"),
    *("create_branch_index", "delete_branch_index"),
    *("open_overlay", "close_overlay", "index_status", "cancel_job", "index_coverage"),
    *("register_repository", "update_repository", "repository_status", "reindex_repository", "clear_cache"),
]
FEEDBACK = ["send_feedback"]
TASKS = ["create_task", "get_task", "list_tasks", "update_task"]
CODE_CHARS_MAX = 7_200  # 1,800 tokens
ALL_CHARS_MAX = 25_000  # 6,250 tokens
TEXT_ONLY = {"X-Prism-Structured": ""}
FILE_LINES = 300  # lines of the file that the stand-in serves
MODES = ["2026-07-28", "legacy"]

# Fields that an answer has only when they are not empty.
SOMETIMES = {
    "bodies",
    "truncated",
    "changes",
    "references_not_found",
    "diagnostics",
    "next_actions",
    "job",
    "jobs",
    "active_job",
    "last_error",
    "files",
    "total_files",
    "total_lines",
    "overview",
    "component",
    # of traversals: pydantic omits defaults
    "in_text",
    "levels_in_text",
    "stops",
    "note",
    "outside",
    "structural",
    "by_macros",
    "notes",
    "answers",
    "others",
    "next_cursor",
    "backward",
    "used_by",
    "total_used_by",
    "not_compared",
}

CALLS = [
    ("search_code", {"query": "main", "limit": 3, "kind": "function"}),
    ("grep_code", {"pattern": "line", "limit": 3, "context_lines": 1}),
    ("read_file", {"file_path": "src/app.py", "start_line": 2, "end_line": 4}),
    ("list_files", {"glob": "src/**", "limit": 2}),
    ("get_file_outline", {"file_path": "src/app.py"}),
    ("get_symbol_definition", {"symbols": ["main", "mian"], "include_body": True}),
    ("find_references", {"symbols": ["main", "mian"], "limit": 2}),
    ("get_function_body", {"symbol": "main"}),
    ("get_call_hierarchy", {"symbol": "main", "limit": 3}),
    ("get_type_hierarchy", {"symbol": "Depot", "include_members": True}),
    ("get_dependencies", {"path": "src", "direction": "out"}),
    ("find_path", {"source": "main", "target": "Depot.ship"}),
    ("impact_of_change", {"symbol": "main"}),
    ("find_unused", {"group": "unused", "kind": "function"}),
    ("get_module_map", {"query": "main", "limit": 3}),
    ("send_feedback", {"useful": True, "hits": ["0a1b2c3d4e5f"], "comment": "good"}),
    ("get_architecture", {}),
    ("get_architecture", {"component": "src"}),
    ("prepare_to_edit", {"symbol": "main"}),
    ("check_exists", {"intent": "start the app"}),
    ("search_docs", {"query": "main"}),
    ("get_repo_context", {"section": "readme"}),
    ("get_repo_context", {"sections": ["readme", "vision"]}),
    ("get_codebase_conventions", {}),
    ("get_codebase_conventions", {"query": "naming"}),
    ("get_context", {"question": "start the app", "mode": "fast"}),
    ("get_context", {"question": "how does `main` start?", "domains": ["code"], "max_tokens": 500}),
    ("list_wiki_pages", {"repo": "acme/app"}),
    ("list_wiki_pages", {"query": "how parcels travel", "limit": 5}),
    ("get_wiki_page", {"key": "overview", "start_line": 1}),
    ("generate_wiki", {"repo": "acme/app"}),
    ("create_document", {"title": "Retries", "content": "Three times."}),
    ("list_documents", {"filter": {"search_title": "retries"}, "limit": 1}),
    ("search_documents", {"query": "main", "date_range": {"start": "2026-01-01"}}),
    ("ping", {}),
    ("whoami", {}),
    ("list_repos", {}),
    ("index_repository", {"url": "https://example.com/acme/app.git"}),
    ("index_repository", {"url": "https://example.com/acme/app.git", "force_reindex": True}),
    ("remove_repository", {"repo": "acme/app"}),
    ("register_repository", {"url": "https://example.com/acme/app.git", "index": False}),
    ("register_repository", {"url": "https://example.com/acme/app.git"}),
    ("update_repository", {"repo": "acme/app", "include": ["*.py"], "is_active": True}),
    ("repository_status", {"repo": "acme/app"}),
    ("repository_status", {"repo": "acme/app", "changes": 5, "path": "src"}),
    ("reindex_repository", {"repo": "acme/app", "force": True}),
    ("clear_cache", {"repo": "acme/app"}),
    ("create_branch_index", {"repo": "acme/app", "ref": "topic"}),
    ("delete_branch_index", {"repo": "acme/app", "ref": "topic"}),
    ("open_overlay", {"repo": "acme/app", "files": [{"path": "src/app.py", "content": None}]}),
    ("close_overlay", {"repo": "acme/app", "handle": "overlay:1"}),
    ("index_status", {"job": "job-1"}),
    ("index_status", {"repo": "acme/app"}),
    ("index_status", {}),
    ("cancel_job", {"job": "job-1"}),
    ("index_coverage", {"repo": "acme/app"}),
    ("create_task", {"title": "Retry deliveries", "planning_references": ["docs/plan.md"]}),
    ("get_task", {"task_id": "7c0d5a54"}),
    ("list_tasks", {"status": "in-progress", "query": "retry"}),
    ("update_task", {"task_id": "7c0d5a54", "status": "complete", "branch": "retry"}),
]


async def listed(stack, path: str = "/mcp", mode: str = "auto", **headers: str) -> list[str]:
    async with stack.mcp(mode, path, **headers) as client:
        return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("mode", MODES)
async def test_only_the_code_toolset_is_listed_by_default(stack, mode) -> None:
    assert await listed(stack, mode=mode) == CODE


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("code,docs", CODE + DOCS),
        ("docs", DOCS),
        ("code, graph", CODE + GRAPH),
        ("context", CONTEXT),
        ("wiki", WIKI),
        ("documents", DOCUMENTS),
        ("admin", ADMIN),
        ("feedback", FEEDBACK),
        ("tasks", TASKS),
        ("all", CODE + GRAPH + DOCS + CONTEXT + WIKI + DOCUMENTS + ADMIN + FEEDBACK + TASKS),
        ("", CODE),
    ],
)
async def test_toolsets_are_selected_by_url_or_header(stack, asked, expected) -> None:
    assert await listed(stack, f"/mcp?toolsets={asked}") == expected
    assert await listed(stack, **{"X-Prism-Toolsets": asked}) == expected


async def test_an_unknown_toolset_error_lists_the_known_ones(stack) -> None:
    async with stack.rest() as http:
        response = await http.post("/mcp?toolsets=code,cods", json={})
    assert response.status_code == 400
    error = response.json()["error"]
    assert "cods" in error["message"]
    assert error["data"]["details"]["toolsets"] == [
        "code",
        "graph",
        "docs",
        "context",
        "wiki",
        "documents",
        "admin",
        "feedback",
        "tasks",
        "all",
    ]


async def test_options_of_exact_search_reach_the_service(stack) -> None:
    async with stack.mcp("legacy") as client:
        asked = {
            "query": "line",
            "in": "comment",
            "exclude": "tests/**",
            "source_only": True,
            "path": "!docs/**",
        }
        result = await client.call_tool("grep_code", asked)
        assert not result.is_error
        request = stack.fake.last()
        found = (request.pattern, request.only, request.exclude, request.source_only, request.path_filter)
        assert found == ("line", "comments", "tests/**", True, "!docs/**")
        await client.call_tool("grep_code", {"pattern": "line"})
        assert stack.fake.last().only is None


@pytest.mark.parametrize(("toolsets", "chars_max"), [("code", CODE_CHARS_MAX), ("all", ALL_CHARS_MAX)])
async def test_the_definitions_of_tools_are_cheap(stack, toolsets, chars_max) -> None:
    async with stack.mcp(path=f"/mcp?toolsets={toolsets}", **TEXT_ONLY) as client:
        tools = (await client.list_tools()).tools
    # What clients pass on to the model.
    listing = json.dumps([[tool.name, tool.description, tool.input_schema] for tool in tools])
    assert len(listing) <= chars_max


@pytest.mark.parametrize("mode", MODES)
async def test_answers_are_text_only_unless_asked(stack, mode) -> None:
    calls = [("ping", {}), ("search_code", {"query": "main"}), ("read_file", {"file_path": "missing.py"})]
    async with stack.mcp(mode, "/mcp?toolsets=all", **TEXT_ONLY) as client:
        assert [tool for tool in (await client.list_tools()).tools if tool.output_schema] == []
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            assert result.structured_content is None, name
            assert result.content[0].text, name


@pytest.mark.parametrize("asked", ["structured=true", "structured=1"])
async def test_url_asks_for_structured_content(stack, asked) -> None:
    async with stack.mcp(path=f"/mcp?{asked}", **TEXT_ONLY) as client:
        assert all(tool.output_schema for tool in (await client.list_tools()).tools)
        assert (await client.call_tool("search_code", {"query": "main"})).structured_content["results"]


async def test_every_tool_describes_input_output_and_effect(stack) -> None:
    async with stack.mcp(path="/mcp?toolsets=all") as client:
        tools = (await client.list_tools()).tools
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        assert tool.description
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint is (tool.name not in WRITES)
        assert tool.annotations.destructive_hint is (tool.name in FORGETS)


async def test_the_text_of_an_overlay_arrives_unchanged(stack) -> None:
    texts = ["A = 1\n", "QUJD", "", None]
    files = [{"path": f"{number}.py", "content": text} for number, text in enumerate(texts)]
    async with stack.mcp() as client:
        assert not (await client.call_tool("open_overlay", {"repo": "acme/app", "files": files})).is_error
    assert [file.content for file in stack.fake.last().files] == [b"A = 1\n", b"QUJD", b"", None]


async def test_an_overlay_opens_on_the_ref_argument(stack) -> None:
    files = [{"path": "a.py", "content": ""}]
    async with stack.mcp() as client:
        for asked in ({"ref": "topic"}, {"base_ref": "topic"}, {"ref": "topic", "base_ref": "topic"}):
            assert not (
                await client.call_tool("open_overlay", {"repo": "acme/app", "files": files, **asked})
            ).is_error
            assert stack.fake.last().base_ref == "topic"
        both = {"files": files, "ref": "topic", "base_ref": "main"}
        refused = (await client.call_tool("open_overlay", both)).structured_content
    assert refused["error"]["code"] == "invalid_argument"


@pytest.mark.parametrize("mode", MODES)
async def test_each_answer_matches_the_schema_of_its_tool(stack, mode) -> None:
    async with stack.mcp(mode, "/mcp?toolsets=all") as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for name, arguments in CALLS:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, (name, result.content)
            always = set(schemas[name]["properties"]) - SOMETIMES
            assert always <= set(result.structured_content), name
            (text,) = result.content
            assert text.text.strip()
            assert not text.text.startswith("{"), "the text repeats the JSON"


async def test_search_code_returns_lines_confidence_and_next_actions(stack) -> None:
    async with stack.mcp() as client:
        result = await client.call_tool("search_code", {"query": "main", "source_only": True})
    answer = result.structured_content
    empty = {
        "file_context",
        "lines",
        "signature",
        "matched",
        "callees",
        "callee_lines",
        "beside",
        "beside_lines",
    }
    left_out = {"symbol_start", "symbol_end", "is_whole", *empty}
    assert answer["results"] == [stack.fake.hits[0].model_dump(mode="json", exclude=left_out)]
    assert (answer["confidence"], answer["query_intent"]) == ("high", "definition")
    assert answer["next_actions"] == ["Read src/app.py."]
    assert answer["receipt"]["indexed_commit"] == "a" * 40
    assert "diagnostics" not in answer
    assert "truncated" not in answer
    assert result.meta["prism/timings_ms"] == {"embed": 2.5, "legs": 1.5}
    assert "src/app.py:3-5 main\n3: def main():" in result.content[0].text
    assert stack.fake.last().source_only


async def test_nothing_found_comes_with_diagnostics(stack) -> None:
    async with stack.mcp() as client:
        result = await client.call_tool("search_code", {"query": "nothing"})
    assert not result.is_error
    assert result.structured_content["results"] == []
    assert result.structured_content["diagnostics"] == {"files_in_scope": 3}
    assert "Nothing found" in result.content[0].text


async def test_a_place_may_be_a_symbol(stack) -> None:
    async with stack.mcp() as client:
        places = ["main", "src/app.py:main", "mian", "src/app.py:7"]
        result = await client.call_tool("read_file", {"places": places})
        asked = stack.fake.last()
        await client.call_tool("read_file", {"path": "src/app.py:7"})
        assert stack.fake.last() == asked
    assert (asked.start_line, asked.end_line, asked.around) == (7, 7, True)
    first, second, missing, line = result.structured_content["files"]
    assert first == second
    assert (first["file_path"], first["content"], first["about"]) == (
        "src/app.py",
        "def main():\n    run()\n",
        "main",
    )
    assert (missing["place"], missing["error"]["code"]) == ("mian", "symbol_not_found")
    assert line["start_line"] == 7


async def test_bodies_of_several_symbols_come_in_one_answer(stack) -> None:
    async with stack.mcp() as client:
        result = await client.call_tool("get_function_body", {"symbols": ["main", "mian"]})
        lines = await client.call_tool("get_function_body", {"symbol": "main", "matching": "r.n"})
        wrong = await client.call_tool("get_function_body", {"symbol": "main", "matching": "(run"})
        missing = await client.call_tool("get_function_body", {"symbol": "mian", "matching": "x"})
    assert [file.get("about") for file in result.structured_content["files"]] == ["main", None]
    assert "mian: symbol_not_found: " in result.content[0].text
    assert "Near: main src/app.py:3-5, src/run.py:7." in result.content[0].text
    assert len(lines.structured_content["files"][0]["lines"]) == 2
    assert [answer.structured_content["error"]["code"] for answer in (wrong, missing)] == [
        "invalid_regex",
        "symbol_not_found",
    ]


async def test_read_file_reads_several_places(stack) -> None:
    async with stack.mcp() as client:
        places = ["src/app.py:1-2", "gone.py", "src/app.py:4"]
        result = await client.call_tool("read_file", {"places": places})
        both = await client.call_tool("read_file", {"places": places, "file_path": "src/app.py"})
    first, missing, last = result.structured_content["files"]
    assert (first["file_path"], first["start_line"], first["end_line"]) == ("src/app.py", 1, 2)
    assert (missing["place"], missing["error"]["code"]) == ("gone.py", "file_not_found")
    assert (last["start_line"], last["end_line"]) == (4, 4)
    assert "src/app.py:1-2\n1\t" in result.content[0].text
    assert "gone.py: file_not_found: " in result.content[0].text
    assert both.is_error


@pytest.mark.parametrize("way", ["mcp", "rest"])
async def test_hits_that_do_not_fit_follow_with_the_cursor(stack, way) -> None:
    hit = stack.fake.hits[0]
    stack.fake.hits = tuple(hit.model_copy(update={"content": "x" * 300, "end_line": n}) for n in range(30))
    shown, cursor, pages = [], "", 0
    while not pages or cursor:
        asked = {"query": "main", "limit": 30, "max_tokens": 1_000, "cursor": cursor}
        if way == "mcp":
            async with stack.mcp() as client:
                answer = (await client.call_tool("search_code", asked)).structured_content
        else:
            async with stack.rest() as http:
                answer = (await http.post("/api/v1/search", json=asked)).json()
        shown += [hit["end_line"] for hit in answer["results"]]
        cursor, pages = answer["next_cursor"], pages + 1
        assert answer.get("truncated", False) is bool(cursor)
    assert shown == list(range(30))
    assert pages > 2


async def test_grep_code_counts(stack) -> None:
    async with stack.mcp() as client:
        result = await client.call_tool("grep_code", {"pattern": "line", "output_mode": "count"})
    answer = result.structured_content
    assert answer["files"] == [{"file_path": "src/app.py", "lines": FILE_LINES}]
    assert (answer["total_files"], answer["total_lines"], answer["matches"]) == (1, FILE_LINES, [])
    assert result.content[0].text.startswith("src/app.py:300\n\n300 lines in 1 file with matches; 1 shown;")


async def test_search_docs_searches_prose(stack) -> None:
    async with stack.mcp() as client:
        await client.call_tool("search_docs", {"query": "install"})
    assert stack.fake.last().corpus == "docs"


@pytest.mark.parametrize("name", ["grep_code", "list_files"])
async def test_paging_a_trimmed_answer_is_complete(stack, name) -> None:
    asked = {"pattern": "line", "limit": 300} if name == "grep_code" else {"limit": 500}
    field, key, total = (
        ("matches", "line", FILE_LINES) if name == "grep_code" else ("files", "file_path", 500)
    )
    seen, cursor, pages = [], "", 0
    async with stack.mcp() as client:
        while pages == 0 or cursor:
            result = await client.call_tool(name, {**asked, "cursor": cursor, "max_tokens": 1_000})
            answer = result.structured_content
            assert len(result.content[0].text) < 1_000 * 4
            assert answer.get("truncated", False) is bool(answer["next_cursor"])
            seen += [item[key] for item in answer[field]]
            cursor, pages = answer["next_cursor"], pages + 1
    assert len(seen) == len(set(seen)) == total
    assert pages > 1


async def test_a_cut_file_names_the_next_line(stack) -> None:
    async with stack.mcp() as client:
        first = await client.call_tool("read_file", {"file_path": "src/app.py", "max_tokens": 100})
        answer = first.structured_content
        assert answer["truncated"]
        assert answer["end_line"] < answer["line_count"] == FILE_LINES
        assert f"start_line={answer['end_line'] + 1}" in answer["next_actions"][0]
        assert answer["content"].splitlines() == [
            f"line {number}" for number in range(1, answer["end_line"] + 1)
        ]


async def test_a_map_fits_the_budget_and_continues_by_cursor(stack) -> None:
    async with stack.mcp() as client:
        first = await client.call_tool("get_module_map", {"limit": 300, "max_tokens": 500})
        second = await client.call_tool(
            "get_module_map", {"limit": 2, "cursor": first.structured_content["next_cursor"]}
        )
    shown = [entry["file_path"] for entry in first.structured_content["entries"]]
    assert 0 < len(shown) < 300
    assert first.structured_content["truncated"]
    text = first.content[0].text
    assert len(text) <= 500 * 4
    assert (
        "1.000 core src/part0.py (1 lines, 0 commits in 90 days) Does part 0.\n      class Part, function main"
        in text
    )
    assert "graph of bbbbbbbbbb (7 s behind the index)" in text
    assert second.structured_content["entries"][0]["file_path"] == f"src/part{len(shown)}.py"


async def test_an_architecture_is_rendered_as_lines(stack) -> None:
    async with stack.mcp() as client:
        overview = (await client.call_tool("get_architecture", {})).content[0].text
        detail = (await client.call_tool("get_architecture", {"component": "src"})).content[0].text
        narrow = await client.call_tool("get_architecture", {"max_tokens": 500})
    assert "#0 src: 2 files, 30 lines, 75% of all rank" in overview
    assert (
        "dependencies (9):\n  src -> lib: 4 references, 1 candidates (?), as src/app.py -> lib/run.py"
        in overview
    )
    assert "main src/app.py:3 main" in overview
    assert "2 members: src/a.py -> src/b.py -> src/a.py" in overview
    assert "src/odd.py belongs to lib, most of its folder to src" in overview
    assert "cycles of components" not in overview
    assert "4 references to main src/app.py:3" in detail
    assert "json: 2 files" in detail
    assert narrow.structured_content["truncated"]
    assert stack.fake.last().limit < 20


async def test_references_fit_the_budget_and_continue_by_cursor(stack) -> None:
    async with stack.mcp() as client:
        first = await client.call_tool(
            "find_references", {"symbols": ["main"], "limit": 200, "max_tokens": 500}
        )
        (answer,) = first.structured_content["answers"]
        shown = answer["groups"]["callers"]
        assert 0 < len(shown) < 200
        assert len(first.content[0].text) <= 500 * 4
        assert answer["next_cursor"] == str(len(shown))
        assert answer["counts"] == {"callers": 300}
        assert (
            shown[0].items()
            >= {"file_path": "src/app.py", "line": 1, "status": "resolved", "strategy": "import"}.items()
        )
        text = first.content[0].text
        assert f"{len(shown)} of 300 calls:\n  src/app.py\n    run\n      1: line 1\n" in text
        assert "code that contains the name and was not resolved (1):\n  src/app.py\n    900: # main" in text
        assert "Not complete: 1 line of code could not be resolved (listed above)." in text
        missed = await client.call_tool("find_references", {"symbols": ["mian"]})
        assert "mian: no definition. Similar names: main." in missed.content[0].text


def many_subtypes() -> TypeHierarchyReply:
    """Subtypes of a type that the repository does not define, more than any budget holds."""
    reply = TypeHierarchyReply.model_validate_json((EXAMPLES / "TypeHierarchyReply.json").read_text())
    via = GraphEdge(edge="extends", status="resolved", strategy="import", lines=(1,))
    nodes = (GraphNode(file_path=f"src/{n}.py", line=1, end_line=9, symbol=f"Late{n}") for n in range(200))
    return reply.model_copy(
        update={
            "roots": (),
            "supertypes": (),
            "subtypes": tuple(TreeBranch(node=node, via=via, depth=1) for node in nodes),
            "total_supertypes": 0,
            "total_subtypes": 200,
            "outside": OutsideType(name="Closeable", modules=()),
        }
    )


@pytest.mark.parametrize("kind", [None, "extends"])
async def test_references_beside_types_from_outside_fit_the_budget_together(stack, kind) -> None:
    stack.fake.replies[TypeHierarchyReply] = many_subtypes()
    asked = {"symbols": ["Closeable", "main", "Iterator"], "limit": 200, "max_tokens": 1_000}
    async with stack.mcp() as client:
        found = await client.call_tool("find_references", asked | ({"reference_type": kind} if kind else {}))
    assert list(found.structured_content["outside"]) == ["Closeable", "Iterator"]
    answers = {one["symbol"]: one for one in found.structured_content["answers"]}
    assert list(answers) == (["main"] if kind else ["Closeable", "main", "Iterator"])
    assert answers["main"]["groups"]["callers"]
    assert len(found.content[0].text) <= 1_000 * 4


async def test_types_from_outside_are_those_of_the_filter_and_the_page(stack) -> None:
    stack.fake.replies[TypeHierarchyReply] = many_subtypes()
    async with stack.mcp() as client:
        await client.call_tool("find_references", {"symbols": ["Closeable"], "path_filter": "src/**"})
        asked = next(one for one in stack.fake.asked if isinstance(one, TypeHierarchyRequest))
        assert (asked.path_filter, asked.with_text) == ("src/**", True)
        other = await client.call_tool("find_references", {"symbols": ["Closeable"], "page": "other"})
    assert "outside" not in other.structured_content


@pytest.mark.parametrize(
    ("arguments", "repo"), [({}, "acme/header"), ({"repo": "acme/argument"}, "acme/argument")]
)
async def test_the_repository_of_the_argument_wins_over_the_header(stack, arguments, repo) -> None:
    async with stack.mcp(**{"X-Prism-Repo": "acme/header"}) as client:
        for name, given in (
            ("search_code", {"query": "x"}),
            ("grep_code", {"pattern": "x"}),
            ("read_file", {"file_path": "src/app.py"}),
            ("get_symbol_definition", {"symbol": "main"}),
            ("find_references", {"symbols": ["main"]}),
            ("prepare_to_edit", {"symbol": "main"}),
            ("check_exists", {"intent": "main"}),
            ("get_repo_context", {}),
            ("get_codebase_conventions", {}),
            ("index_coverage", {}),
            ("index_status", {}),
        ):
            await client.call_tool(name, {**given, **arguments})
            assert stack.fake.last().repo == repo, name


@pytest.mark.parametrize(
    ("symbol", "asked"),
    [
        ("main", ("main", "", 0, 0)),
        ("src/app.py:7", ("", "src/app.py", 7, 7)),
        ("src/app.py:7-9", ("", "src/app.py", 7, 9)),
        ("src/app.py:App.run", ("App.run", "src/app.py", 0, 0)),
        ("App::run", ("App::run", "", 0, 0)),
    ],
)
async def test_an_edit_takes_a_place_for_a_symbol(stack, symbol, asked) -> None:
    async with stack.mcp() as client:
        await client.call_tool("prepare_to_edit", {"symbol": symbol})
    (request,) = [one for one in stack.fake.asked if isinstance(one, EditContextRequest)]
    assert (request.symbol, request.path, request.start_line, request.end_line) == asked


async def test_an_edit_names_the_documents_of_its_place(stack, monkeypatch) -> None:
    monkeypatch.setattr(edit, "CONCERNING_S", 60.0)
    async with stack.mcp() as client:
        found = await client.call_tool("prepare_to_edit", {"symbol": "main"})
    asked = stack.fake.places[-1]
    assert (asked.tenant, asked.repo, asked.path) == ("default", "acme/app", "src/app.py")
    assert (asked.symbol, asked.start_line, asked.end_line) == ("main", 3, 5)
    assert [one["title"] for one in found.structured_content["concerning"]] == ["How it runs"]
    assert "main, stale since 4f7c2b9: its text changed" in found.content[0].text


WRONG = [
    ("search_code", {"query": "x", "color": "red"}, "color"),
    ("search_code", {}, "query"),
    ("search_code", {"query": None}, "query"),
    ("search_code", {"query": 5}, "query"),
    ("search_code", {"query": "x", "limit": "ten"}, "limit"),
    ("search_code", {"query": "x", "kind": "klass"}, "kind"),
    ("search_code", {"query": "x", "source_only": "yes"}, "source_only"),
    ("search_code", {"query": "x", "detail": "little"}, "detail"),
    ("search_code", {"query": "x", "detail": ""}, "detail"),
    ("grep_code", {"pattern": "x", "output_mode": "words"}, "output_mode"),
    ("get_symbol_definition", {}, "symbol"),
    ("get_symbol_definition", {"symbol": "a", "symbols": ["b"]}, "symbol"),
    ("get_symbol_definition", {"symbols": ["a"] * 21}, "symbols"),
    ("find_references", {"symbols": []}, "symbols"),
    ("get_call_hierarchy", {"symbol": "main", "direction": "up"}, "direction"),
    ("get_dependencies", {"path": "src", "direction": "up"}, "direction"),
    ("impact_of_change", {}, "symbol or diff"),
    ("impact_of_change", {"symbol": "main", "diff": "--- a"}, "symbol or diff"),
    ("find_references", {"symbols": ["a"] * 11}, "symbols"),
    ("find_references", {"symbols": ["a"], "reference_type": "knows"}, "reference_type"),
    ("check_exists", {}, "intent"),
    ("get_repo_context", {"section": "weather"}, "section"),
    ("ping", {"loud": True}, "loud"),
]


@pytest.mark.parametrize("mode", MODES)
async def test_an_invalid_argument_error_lists_the_accepted_ones(stack, mode) -> None:
    async with stack.mcp(mode) as client:
        for name, arguments, named in WRONG:
            result = await client.call_tool(name, arguments)
            assert result.is_error, arguments
            error = result.structured_content["error"]
            assert error["code"] == "invalid_argument"
            assert named in error["message"]
            assert ("query" in error["details"]["accepted"]) is (name == "search_code")
            assert result.content[0].text == f"invalid_argument: {error['message']} — {error['next_action']}"
    assert not stack.fake.asked


async def test_null_means_an_omitted_argument(stack) -> None:
    async with stack.mcp() as client:
        result = await client.call_tool("search_code", {"query": "x", "language": None, "repo": None})
    assert not result.is_error


@pytest.mark.parametrize("mode", MODES)
async def test_an_unknown_tool_error_lists_the_known_ones(stack, mode) -> None:
    async with stack.mcp(mode) as client:
        result = await client.call_tool("serch_code", {"query": "x"})
    assert result.is_error
    assert "search_code" in result.structured_content["error"]["details"]["tools"]


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("search_code", {"query": ""}, "empty_query"),
        ("search_code", {"query": "x", "repo": "no/such"}, "repo_not_found"),
        ("read_file", {"file_path": "src/none.py"}, "file_not_found"),
        ("get_function_body", {"symbol": "mian"}, "symbol_not_found"),
        ("index_status", {"job": "none"}, "job_not_found"),
        ("cancel_job", {"job": "none"}, "job_not_found"),
        ("index_repository", {"url": "file:///etc"}, "clone_refused"),
        ("remove_repository", {"repo": "acme/none"}, "repo_not_found"),
        ("repository_status", {"repo": "no/such"}, "repo_not_found"),
        ("register_repository", {"url": "file:///etc"}, "clone_refused"),
    ],
)
async def test_an_error_of_a_service_becomes_the_result(stack, name, arguments, code) -> None:
    async with stack.mcp() as client:
        result = await client.call_tool(name, arguments)
    assert result.is_error
    assert result.structured_content["error"]["code"] == code
    assert result.content[0].text.startswith(f"{code}: ")


async def test_a_miss_suggests_similar_names(stack) -> None:
    async with stack.mcp() as client:
        found = await client.call_tool("get_symbol_definition", {"symbol": "mian"})
        body = await client.call_tool("get_function_body", {"symbol": "mian"})
    assert found.structured_content["answers"][0]["suggestions"] == ["main src/app.py:3-5", "src/run.py:7"]
    assert "main" in found.content[0].text
    assert body.structured_content["error"]["details"]["suggestions"] == [
        "main src/app.py:3-5",
        "src/run.py:7",
    ]
    assert "suggestions: main" in body.content[0].text


async def test_a_service_that_is_down_is_unavailable(make_stack) -> None:
    stack = await make_stack(services=("ingest",))
    async with stack.mcp() as client:
        result = await client.call_tool("search_code", {"query": "x"})
        assert result.is_error
        assert result.structured_content["error"]["code"] == "unavailable"
        assert not (await client.call_tool("list_repos", {})).is_error


async def test_a_slow_service_exceeds_the_deadline(make_stack) -> None:
    stack = await make_stack(rpc_timeout_s=0.2)
    async with stack.mcp() as client:
        result = await client.call_tool("search_code", {"query": "slow"})
    assert result.is_error
    assert result.structured_content["error"]["code"] == "deadline_exceeded"


async def test_a_slow_call_delays_no_other(stack) -> None:
    async with stack.mcp() as client:
        slow = asyncio.create_task(client.call_tool("search_code", {"query": "slow"}))
        await stack.fake.slow_began.wait()
        assert not (await client.call_tool("search_code", {"query": "main"})).is_error
        assert not slow.done()
        stack.fake.slow_ends.set()
        assert not (await slow).is_error


IMPORTS = [
    ("index_repository", {"url": "https://example.com/acme/app.git"}),
    ("reindex_repository", {"repo": "acme/app", "force": True}),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("tool", "arguments"), IMPORTS)
async def test_an_import_is_followed_with_progress(stack, tool, arguments, mode) -> None:
    stack.fake.end_job_after(1)
    heard = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with stack.mcp(mode) as client:
        answer = await client.call_tool(tool, arguments, progress_callback=hear)
    assert answer.structured_content["job"]["state"] == "complete"
    assert [message for _, _, message in heard] == [
        "indexing acme/app: 2 of 3 files, 67 %",
        "indexing acme/app: 2 of 3 files, 67 %",
        "complete acme/app: 3 of 3 files, 100 %",
    ]
    assert sorted({progress for progress, _, _ in heard}) == [progress for progress, _, _ in heard]
    assert heard[-1][:2] == (100, 100)


async def test_an_import_without_progress_is_answered_at_once(stack) -> None:
    url = {"url": "https://example.com/acme/app.git"}
    async with stack.mcp() as client:
        started = await client.call_tool("index_repository", url)
        stack.fake.end_job_after(0)
        waited = await client.call_tool("index_repository", url | {"wait_s": 30})
    assert started.structured_content["job"]["state"] == "indexing"
    assert waited.structured_content["job"]["state"] == "complete"


async def test_a_cancelled_call_is_dropped(stack) -> None:
    async with stack.mcp() as client:
        with pytest.raises(MCPError):
            await client.call_tool("search_code", {"query": "slow"}, read_timeout_seconds=0.1)
        assert not (await client.call_tool("search_code", {"query": "main"})).is_error


async def test_a_foreign_host_is_refused(stack) -> None:
    async with stack.rest(Host="evil.example") as http:
        response = await http.post("/mcp", json={})
    assert response.status_code == 421


async def test_a_large_message_is_refused(make_stack) -> None:
    stack = await make_stack(mcp_bytes_max=1_000)
    async with stack.rest() as http:
        response = await http.post("/mcp", json={"padding": "x" * 1_000})
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "payload_too_large"


async def test_a_tree_fits_the_budget_and_continues_by_cursor(stack) -> None:
    async with stack.mcp() as client:
        answer = await client.call_tool(
            "get_call_hierarchy", {"symbol": "main", "limit": 200, "max_tokens": 500}
        )
    content = answer.structured_content
    assert 1 <= len(content["branches"]) < 200
    assert content["next_cursor"] == str(len(content["branches"]))


async def test_a_question_about_callers_is_answered_by_the_graph_first(stack) -> None:
    async with stack.mcp() as client:
        result = await client.call_tool("search_code", {"query": "who calls main"})
        plain = await client.call_tool("search_code", {"query": "who calls mian"})
    text = result.content[0].text
    assert text.index("calls") < text.index("confidence ")
    assert result.structured_content["graph"]["answers"][0]["symbol"] == "main"
    assert "graph" not in plain.structured_content
