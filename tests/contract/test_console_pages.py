"""What the pages of the console say: names that are not defined, weak results, where a search looks."""

import re

import pytest
from gateway_stack import Stack, signed_in

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.graph import CALL_HIERARCHY
from prism_contracts.rpc.search import Intent

pytest_plugins = ["gateway_stack"]


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
