"""What the pages of the console say: names that are not defined, weak results, where a search looks."""

import json
import re
from datetime import UTC, datetime

import pytest
from gateway_stack import (
    A_JOB,
    COMPONENT,
    DEPENDENCY,
    DETAIL,
    EXAMPLES,
    LAYER,
    OVERVIEW,
    REPOSITORY,
    SYMBOL,
    Stack,
    signed_in,
)

from prism_contracts import names
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.records import NO_TREE, PlanningReference
from prism_contracts.rpc.files import FileEntry
from prism_contracts.rpc.graph import CALL_HIERARCHY, ImpactReply
from prism_contracts.rpc.search import Intent

pytest_plugins = ["gateway_stack"]

ORIGIN = {"Sec-Fetch-Site": "same-origin"}


async def page_of(stack: Stack, address: str) -> str:
    """Returns the HTML of a page."""
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_a_name_of_a_library_shows_no_symbol_that_is_spelled_alike(stack: Stack) -> None:
    stack.fake.corrected = {"Main": "main"}
    page = await page_of(stack, "/r/acme/app/-/symbol/HEAD?name=Main")
    assert "<h2>Main is not defined in acme/app</h2>" in page
    near = page.index("Nearest names:")
    assert 'href="/r/acme/app/-/symbol/HEAD?name=main&amp;path=src%2Fapp.py"' in page[near:]
    assert "<h2>Uses</h2>" not in page
    assert "<h2>Calls</h2>" not in page
    assert "def main" not in page
    found = await page_of(stack, "/search?q=Main&mode=symbol")
    assert "No definition of Main" in found
    assert 'class="hit"' not in found


async def test_the_nearest_names_lead_to_their_definitions(stack: Stack) -> None:
    page = await page_of(stack, "/r/acme/app/-/symbol/HEAD?name=run")
    assert re.findall(r'<li><a href="(/r/acme/app/-/symbol/[^"]+)"', page) == [
        "/r/acme/app/-/symbol/HEAD?name=main&amp;path=src%2Fapp.py",
        "/r/acme/app/-/symbol/HEAD?name=run&amp;path=src%2Frun.py",
    ]
    found = await page_of(stack, "/search?q=run&mode=symbol")
    assert "q=main&amp;mode=symbol" in found


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (ErrorCode.SYMBOL_AMBIGUOUS, "Choose one above: its page lists what it calls."),
        (ErrorCode.SYMBOL_NOT_FOUND, "The graph has no function or type of this name"),
    ],
)
async def test_why_calls_are_missing_is_worded_for_a_page(stack: Stack, code: ErrorCode, shown: str) -> None:
    stack.fake.refused[CALL_HIERARCHY.reply] = PrismError(code, "main is two.", "Give file_path.")
    page = await page_of(stack, "/r/acme/app/-/symbol/HEAD?name=main")
    assert shown in page
    assert "file_path" not in page


async def test_a_result_leads_to_its_symbol(stack: Stack) -> None:
    page = await page_of(stack, "/search?q=how&ref=topic")
    header = re.search(r"<header>.*?</header>", page, re.DOTALL)[0]
    assert re.search(r'<a href="/r/acme/app/-/symbol/topic\?name=[^"]+path=[^"]+"[^>]*><b>', header)
    assert "score 0." in header


async def test_weak_results_are_folded(stack: Stack) -> None:
    hit = stack.fake.hits[0]
    stack.fake.hits = tuple(hit.model_copy(update={"score": score}) for score in (0.8, 0.09, 0.07, 0.01))
    page = await page_of(stack, "/search?q=how")
    strong, _, weak = page.partition("<summary>2 weaker results</summary>")
    assert (strong.count('class="hit"'), weak.count('class="hit"')) == (2, 2)
    assert "<b>4</b> results" in page


@pytest.mark.parametrize(("intent", "shown"), [(Intent.GENERAL, 0), (Intent.TEST, 1)])
async def test_an_intent_that_says_nothing_is_left_out(stack: Stack, intent: Intent, shown: int) -> None:
    stack.fake.intent = intent
    page = await page_of(stack, "/search?q=how")
    assert page.count("intent <b>") == shown
    assert re.search(r'title="How likely [^"]+">confidence <b>high</b>', page)


@pytest.mark.parametrize(
    ("address", "ref"),
    [
        ("tree/HEAD", ""),
        ("tree/topic", "topic"),
        ("blob/feature~x/src/app.py", "feature/x"),
        ("symbol/HEAD?name=main", ""),
        ("symbol/topic?name=unknown", "topic"),
        ("map/HEAD", ""),
        ("branches", ""),
        ("branch/topic", "topic"),
        ("compare/HEAD...topic", "topic"),
    ],
)
async def test_the_search_of_a_page_keeps_its_repository_and_branch(
    stack: Stack, address: str, ref: str
) -> None:
    page = await page_of(stack, f"/r/acme/app/-/{address}")
    box = re.search(r'<form action="/search" role="search">.*?</form>', page)[0]
    assert 'name="repo" value="acme/app"' in box
    assert (f'name="ref" value="{ref}"' in box) if ref else ('name="ref"' not in box)
    assert f'placeholder="Search acme/app{f" at {ref}" if ref else ""}"' in box


async def test_a_file_page_warns_of_no_lines_that_nobody_requested(stack: Stack) -> None:
    page = await page_of(stack, "/r/acme/app/-/blob/HEAD/src/app.py")
    assert "300 lines" in page
    assert "The file ends with" not in page


async def test_a_task_is_worded_and_its_references_are_links(stack: Stack) -> None:
    stack.fake.references_of_task = tuple(
        PlanningReference(file_path=named, reference_type=kind)
        for named, kind in (
            ("docs/plan.md", "plan"),
            ("src/app.py:3-5", "code"),
            ("Session.get", "symbol"),
            ("7c0d5a54-3f0e-4c7b-9d1e-2a6b8c4f1e90", "document"),
            ("https://tracker.example/7", "url"),
            ("javascript:alert(1)", "url"),
        )
    )
    page = await page_of(stack, "/tasks/7c0d5a54-3f0e-4c7b-9d1e-2a6b8c4f1e90")
    assert re.findall(r'<li><a href="([^"]+)"', page) == [
        "/r/acme/app/-/blob/HEAD/docs/plan.md",
        "/r/acme/app/-/blob/HEAD/src/app.py#L3-L5",
        "/r/acme/app/-/symbol/HEAD?name=Session.get",
        "/documents/7c0d5a54-3f0e-4c7b-9d1e-2a6b8c4f1e90",
        "https://tracker.example/7",
    ]
    assert "Set the status to “need to be done”" in page
    assert "created with status “in-progress”" in page


async def test_the_name_of_a_repository_finds_its_tasks(stack: Stack) -> None:
    page = await page_of(stack, "/tasks?q=acme/app&status=in-progress")
    asked = next(one for one in stack.fake.asked if type(one).__name__ == "ListTasksRequest")
    assert (asked.query, asked.repo, asked.status) == ("", "acme/app", "in-progress")
    assert "<option selected>acme/app</option>" in page
    assert "<option selected>in-progress</option>" in page
    assert [one.lower() for one in re.findall(r'<section aria-label="([^"]+)"', page)] == ["in-progress"]


async def test_a_search_without_result_can_be_cleared(stack: Stack) -> None:
    page = await page_of(stack, "/tasks?q=nothing")
    assert "No task fits" in page
    assert '<a href="/tasks">Show all tasks</a></p>' in page
    for address in ("/documents?tag=ops", "/documents?q=nothing"):
        assert '<a href="/documents">Show all documents</a>' in await page_of(stack, address)


async def test_the_audit_of_a_token_has_what_was_done_to_it(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        form = {"label": "reviewer", "scopes": "read", "lasts": "7"}
        made = await http.post("/tokens", data=form, headers=ORIGIN)
        secret = re.search(r"prism_[0-9A-Za-z]{38}", made.text)[0]
        token = (await stack.tokens.find(secret)).id.partition(":")[2]
        revoked = await http.post(f"/tokens/{token}/revoke", headers=ORIGIN)
        told = (await http.get(revoked.headers["location"])).text
        await http.post("/r/acme/app/-/reindex", headers=ORIGIN)
        by_label, by_id, of_all, empty = [
            (await http.get(f"/audit{query}")).text
            for query in ("?actor=reviewer", f"?actor={token}", "", "?actor=none-of-us")
        ]
    assert "The token <b>reviewer</b> is revoked." in told
    for page in (by_label, by_id):
        assert page.count("<td>token ") == 2
        assert "repository indexed</td>" not in page
        assert '<a href="/audit">Show all changes</a>' in page
        assert f'<a href="/tokens" title="{token}">reviewer</a>' in page
    assert '<a href="/r/acme/app">acme/app</a>' in of_all
    assert "Show all changes" not in of_all
    assert 'history of <a href="/tasks">each task</a>' in of_all
    assert "No such change" in empty


async def test_a_new_token_can_be_copied_and_its_scopes_are_explained(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        form = {"label": "ci", "scopes": "read", "lasts": "7"}
        page = (await http.post("/tokens", data=form, headers=ORIGIN)).text
    assert 'data-copy="#secret" hidden>Copy the token</button>' in page
    for scope, allows in (("read", "ask questions"), ("admin", "manage tokens and repositories")):
        assert re.search(rf'value="{scope}"[^>]*> {scope} <span class="dim">{allows}', page)


async def test_the_documents_of_a_team_say_what_is_committed(stack: Stack) -> None:
    served = REPOSITORY.served.model_copy(update={"ref": "", "commit": NO_TREE, "dirty": True})
    documents = REPOSITORY.model_copy(update={"name": "prism/documents", "served": served})
    stack.fake.listed_repositories = (documents,)
    shown = []
    async with stack.rest() as http:
        await signed_in(http)
        for title in ("How it runs", "How it ends"):
            made = await http.post(
                "/api/v1/documents", json={"title": title, "content": "Text."}, headers=stack.headers
            )
            assert made.status_code == 201, made.text
            shown.append((await http.get("/r/prism/documents")).text)
            if title == "How it runs":
                done = await http.post(
                    "/api/v1/documents/commit", json={"message": "Add it"}, headers=stack.headers
                )
                assert done.status_code == 200, done.text
        listed = (await http.get("/documents")).text
        first = re.search(r'href="(/documents/[^"?]+)"><b>How it runs', listed)[1]
        page = (await http.get(first)).text
    assert "<dd>1 draft</dd>" in shown[0]
    assert re.search(r"<dd>[0-9a-f]{7} and 1 draft</dd>", shown[1])
    assert "<td>committed</td>" in listed
    assert re.search(r'committed in <a href="/r/prism/documents/-/blob/HEAD/[^"]+"', page)


async def test_an_import_names_its_branch_and_time_and_leads_to_what_it_left_out(stack: Stack) -> None:
    began = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
    error = ErrorBody(
        code=ErrorCode.CLONE_FAILED, message="git failed:\nfatal: <no> such ref", next_action=""
    )
    counts = A_JOB.counts.model_copy(update={"skipped": 1})
    stack.fake.listed_jobs = (
        A_JOB.model_copy(update={"created_at": began, "ref": "main", "counts": counts, "error": error}),
    )
    page = await page_of(stack, "/r/acme/app")
    row = re.search(r"<h2>Imports</h2>.*?<tbody>(.*?)</tr>", page, re.DOTALL)[1]
    assert "2026-03-04 05:06 UTC" in row
    assert "<td>main</td>" in row
    assert '<a href="#left-out"' in row
    assert '<td class="lines">git failed:\nfatal: &lt;no&gt; such ref' in row
    assert "not text, so there is nothing to search" in page


def files_of_topic(stack: Stack) -> None:
    """Have the layer `topic` change a file, add one, and remove all others."""
    file = FileEntry(file_path="src/000.py", blob="c" * 40, language="python", lines=2)
    stack.fake.files_of_layer = (file, file.model_copy(update={"file_path": "new.py"}))
    stack.fake.texts = {
        ("", "src/000.py"): "one\ntwo\n",
        ("topic", "src/000.py"): "one\n2\n",
        ("topic", "new.py"): "1\n",
    }


async def test_a_branch_counts_its_files_by_what_becomes_of_them(stack: Stack) -> None:
    files_of_topic(stack)
    page = await page_of(stack, "/r/acme/app/-/branch/topic")
    assert ">501 files: 1 added, 1 changed, 499 removed</p>" in page
    listed = await page_of(stack, "/r/acme/app/-/branches")
    differing = LAYER.files_changed + LAYER.files_hidden
    assert f"<td>{differing} file" in listed
    assert "Hidden" not in listed


async def test_a_branch_lists_the_symbols_that_it_removes(stack: Stack) -> None:
    files_of_topic(stack)
    gone = SYMBOL.model_copy(update={"name": "rest_after", "qualified_name": "rest_after", "name_line": 2})
    stack.fake.outlines = {("", "src/000.py"): (SYMBOL, gone)}
    page = await page_of(stack, "/r/acme/app/-/branch/topic")
    assert re.search(
        r'removed</span> <a href="/r/acme/app/-/symbol/HEAD\?name=rest_after&amp;path=src%2F000.py">rest_after</a>',
        page,
    )
    assert "used 4 times" in page
    reply = ImpactReply.model_validate_json((EXAMPLES / "ImpactReply.json").read_text())
    nearest = reply.tests[0].model_copy(update={"distance": 1})
    stack.fake.replies[ImpactReply] = reply.model_copy(update={"tests": (nearest,)})
    assert "1 step away" in await page_of(stack, "/r/acme/app/-/branch/topic")


async def test_a_comparison_begins_at_the_followed_branch(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get("/r/acme/app/-/compare", params={"from": "", "to": "topic"})
        form = (await http.get("/r/acme/app/-/compare")).text
    assert answer.headers["location"] == "/r/acme/app/-/compare/HEAD...topic"
    assert 'placeholder="HEAD"' in form
    assert "Known: <code>HEAD</code>, <code>topic</code>." in form


async def test_a_map_says_what_needs_a_component_and_what_is_a_guess(stack: Stack) -> None:
    lib = COMPONENT.model_copy(update={"id": 1, "name": "lib"})
    guess = DEPENDENCY.model_copy(update={"source": "lib", "target": "src", "references": 0, "candidates": 3})
    stack.fake.overview = OVERVIEW.model_copy(
        update={"components": (COMPONENT, lib), "dependencies": (DEPENDENCY, guess)}
    )
    page = await page_of(stack, "/r/acme/app/-/map/HEAD?by=folder")
    row = re.search(r"<b>lib</b>.*?</tr>", page, re.DOTALL)[0]
    assert row.endswith(
        '<td></td><td><a href="/r/acme/app/-/map/HEAD?by=folder&amp;component=src">src</a> '
        '<span class="dim num">4</span></td></tr>'
    )
    assert "1 more dependencies are by name only" in page
    assert "tests, generated files, documents and configuration are left out" in page
    stack.fake.detail = DETAIL.model_copy(update={"uses": (DEPENDENCY, guess)})
    page = await page_of(stack, "/r/acme/app/-/map/HEAD?component=src")
    needs = page[page.index("<h2>Needs</h2>") :]
    assert needs.index("4 references") < needs.index("and 1 by name only") < needs.index("3 by name only")


async def bury(stack: Stack, code: str, **body: object) -> None:
    """Stores a dead letter."""
    await stack.bus.js.publish(
        names.dead_letter_subject("default", "S", "c"),
        json.dumps({"tenant": "default", **body}).encode(),
        headers={
            "Prism-Subject": "prism.bulk.file.changed",
            "Prism-Consumer": "chunker-bulk-file-changed",
            "Prism-Code": code,
            "Prism-Reason": "It failed.",
        },
    )


async def test_a_dead_letter_names_its_place_and_whether_a_retry_helps(stack: Stack) -> None:
    job = A_JOB.model_copy(update={"layer": "x", "ref": "feature/x", "commit": "c0ffee1" + "0" * 33})
    stack.fake.listed_jobs = (job,)
    assert "given up</span>" not in await page_of(stack, "/repos")
    await bury(stack, "parse_failed", repo="r1", path="src/bad.py", job=job.job)
    await bury(stack, "message_invalid", repo="r1")
    await bury(stack, "unavailable", repo="r1", path="src/late.py")
    await bury(stack, "parse_failed", repo="removed", path="src/old.py")
    page = await page_of(stack, "/health")
    assert '<a href="/r/acme/app/-/blob/feature~x/src/bad.py"><code>src/bad.py</code></a>' in page
    assert re.search(r"<small>feature/x @ <code[^>]*>c0ffee1</code></small>", page)
    for advice in (
        "Retry reads the file again.",
        "Retry cannot help: it sends the same message, which cannot be read.",
        "Retry helps once chunker answers again.",
        "Retry cannot help while its repository is not known",
    ):
        assert page.count(advice) == 1
    assert '4<span class="hidden"> given up</span>' in await page_of(stack, "/repos")
