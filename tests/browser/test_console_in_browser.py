"""What only a browser can show: that pages hold no hostile markup, fit a phone, can be reached by anyone, and live."""

import os
import signal
from pathlib import Path

import pytest
from browser_town import PAYLOADS, REPO, HostileTown
from conftest import DESKTOP, FILES, PHONE, OpenPage
from playwright.sync_api import Browser, Page, expect

from bench.pictures.browsing import (
    ANSWER_MS_MAX,
    WIDER,
    BrowserMessages,
    inaccessible,
    inject,
    open_by_keyboard,
    show_card,
    wait_until_ready,
)

IMPORT_MS_MAX = 60_000
START_MS_MAX = 60_000
LINE_PX_MAX = 60
# Markup that only a payload makes.
FOREIGN = (
    'img, svg[onload], style, iframe, object, [onerror], [onload], a[href^="javascript:"], script:not([src])'
)
PAGES = [
    "repositories", "add", "search", "exact", "symbol search", "empty search", "repository", "remove", "folder",
    "folder of names", "file", "hostile file", "hostile document of code", "symbol", "map", "branches", "branch",
    "plain branch", "compare", "choose refs", "wiki", "documents", "document", "tasks", "wikis", "usage", "audit",
    "tokens", "health",
]  # fmt: skip
SHOWN_PAGES = [
    "Repositories", "Search", "Documents", "Tasks", "Wiki", "Usage", "Audit", "Tokens", "Health",
]  # fmt: skip


def test_every_page_is_listed(town: HostileTown) -> None:
    assert list(town.pages) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_harmless_fits_and_keeps_nobody_out(signed_in: OpenPage, page: str) -> None:
    """No message of the browser: a broken rule of the security policy is one."""
    for size in (DESKTOP, PHONE):
        signed_in.goto(signed_in.town.pages[page], size)
        assert not signed_in.page.evaluate(WIDER), f"wider than {size[0]} px"
        assert not signed_in.page.locator(FOREIGN).count()
        assert signed_in.page.evaluate("window.hostile") is None
    assert not inaccessible(signed_in.page)
    assert not signed_in.messages.problems


def test_hostile_text_is_there_to_be_read(signed_in: OpenPage) -> None:
    """Otherwise the tests above show pages without it."""
    signed_in.goto(signed_in.town.pages["hostile file"])
    shown = signed_in.page.inner_text("main")
    assert [payload for payload in PAYLOADS if payload in shown] == list(PAYLOADS)
    signed_in.goto("/tasks")
    assert PAYLOADS[0] in signed_in.page.inner_text("main")
    signed_in.goto("/documents")
    assert PAYLOADS[1] in signed_in.page.inner_text("main")


def test_an_injected_script_does_not_run(signed_in: OpenPage) -> None:
    signed_in.goto("/repos")
    assert not inject(signed_in.page)
    assert any("Content Security Policy" in one for one in signed_in.messages.problems)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_a_card_is_harmless_and_keeps_nobody_out(signed_in: OpenPage, scheme: str) -> None:
    signed_in.page.emulate_media(color_scheme=scheme)
    signed_in.messages.place = "card"
    show_card(signed_in.page, signed_in.base + signed_in.town.pages["file"], "charge_card")
    card = signed_in.page.locator(".card")
    expect(card).to_contain_text("def charge_card(cents: int)")
    assert not card.locator(FOREIGN).count()
    assert not inaccessible(signed_in.page)
    assert not signed_in.messages.problems


def test_a_token_signs_in_and_out(browser: Browser, town: HostileTown) -> None:
    page = browser.new_page()
    page.goto(town.stack.base + "/search?q=card")
    page.fill("#token", "prism_wrong")
    page.click("button.primary")
    expect(page.locator("[role=alert]")).to_contain_text("unknown, expired or revoked")
    assert not inaccessible(page)
    made = town.stack.prism("tokens", "create", "--label", "browser", "--scope", "read").split()
    page.fill("#token", next(word for word in made if word.startswith("prism_")))
    page.click("button.primary")
    page.wait_for_url("**/search?q=card", timeout=ANSWER_MS_MAX)
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login", timeout=ANSWER_MS_MAX)
    page.goto(town.stack.base + "/repos")
    assert "/login" in page.url
    page.close()


def test_the_keyboard_reaches_everything(signed_in: OpenPage) -> None:
    page = signed_in.page
    open_by_keyboard(page, signed_in.base, "charge a card")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/repos", timeout=ANSWER_MS_MAX)
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.matches('tbody tr')")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    assert not inaccessible(page)
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    signed_in.goto("/search?q=charge_card&mode=exact")
    for key in ("j", "j", "k"):
        page.keyboard.press(key)
    rows = page.locator(".hit")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator(".big")).to_be_focused()
    assert not signed_in.messages.problems


def test_results_arrive_while_a_question_is_typed(signed_in: OpenPage) -> None:
    signed_in.goto("/search")
    expect(signed_in.page.locator(".big")).to_be_focused()
    signed_in.page.keyboard.type("charge_card", delay=20)
    signed_in.page.wait_for_selector(".hit", timeout=ANSWER_MS_MAX)
    assert "q=charge_card" in signed_in.page.url
    assert not signed_in.messages.problems


def test_a_first_import_is_shown_from_its_start_to_its_end(signed_in: OpenPage, tree: Path) -> None:
    """Without a reload: the page stays as it is."""
    signed_in.goto("/repos")
    stays(signed_in.page)
    row = signed_in.page.locator("tbody tr", has_text="large")
    job = signed_in.page.locator("article.job", has_text="acme/large")
    with signed_in.town.stack.held_import(tree, "acme/large"):
        expect(job).to_contain_text(f"0 of {FILES} files", timeout=IMPORT_MS_MAX)
        expect(job).to_contain_text("indexing for")
        expect(row).to_contain_text("importing")
        expect(row).to_contain_text(f"0 of {FILES} files")
        names = signed_in.page.locator("tbody th a").all_inner_texts()
        assert names == sorted(names)
    expect(row.locator("i.dot.ok")).to_be_visible()
    expect(job).to_be_hidden()
    assert signed_in.page.evaluate("window.stays")
    assert not signed_in.messages.problems


def test_a_list_fills_and_empties_while_it_is_open(signed_in: OpenPage, browser: Browser, tree: Path) -> None:
    stack = signed_in.town.stack
    made = stack.prism("tokens", "create", "--label", "only one", "--scope", "read", "--repo", "acme/first")
    page = browser.new_page()
    page.goto(stack.base + "/login")
    page.fill("#token", next(word for word in made.split() if word.startswith("prism_")))
    page.click("button.primary")
    expect(page.get_by_role("heading", name="No repository yet")).to_be_visible()
    stays(page)
    stack.prism("index", str(tree), "--name", "acme/first", "--wait")
    row = page.locator("tbody tr", has_text="first")
    expect(row.locator("i.dot.ok")).to_be_visible()
    expect(page.get_by_role("heading", name="No repository yet")).to_be_hidden()
    signed_in.goto("/r/acme/first/-/remove")
    signed_in.page.fill("input[name=name]", "acme/first")
    signed_in.page.click("button.danger")
    expect(row).to_be_hidden()
    assert page.evaluate("window.stays")
    page.context.close()


def test_a_row_with_the_focus_changes_when_the_focus_leaves_it(signed_in: OpenPage, tree: Path) -> None:
    stack, page = signed_in.town.stack, signed_in.page
    stack.prism("index", str(tree), "--name", "acme/focused", "--wait")
    signed_in.goto("/repos")
    row = page.locator("tbody tr", has_text="focused")
    row.locator("a").focus()
    (tree / "one_more.py").write_text("more = 1\n")
    jobs = page.locator("article.job", has_text="acme/focused")
    with stack.held_import(tree, "acme/focused"):
        expect(jobs).to_be_visible(timeout=IMPORT_MS_MAX)
        expect(row.locator("a")).to_be_focused()
        expect(row).not_to_contain_text("indexing")
        page.locator(".brand").focus()
        expect(row).to_contain_text("indexing")
    expect(row.locator("i.dot.ok")).to_be_visible()


def test_the_menu_of_a_phone_is_one_line(signed_in: OpenPage) -> None:
    page = signed_in.page
    signed_in.goto("/repos", PHONE)
    menu, links = page.locator(".menu summary"), page.locator(".menu nav a")
    bar = page.locator("aside").bounding_box()
    assert bar
    assert bar["height"] < LINE_PX_MAX
    expect(links.first).to_be_hidden()
    assert page.get_by_role("navigation", name="Pages").count() == 0
    menu.focus()
    page.keyboard.press("Enter")
    expect(links.first).to_be_visible()
    assert page.get_by_role("navigation", name="Pages").count() == 1
    assert links.all_inner_texts() == SHOWN_PAGES
    assert not page.evaluate(WIDER)
    assert not inaccessible(page)
    page.keyboard.press("Escape")
    expect(links.first).to_be_hidden()
    expect(menu).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search", timeout=ANSWER_MS_MAX)
    assert not signed_in.messages.problems


def test_a_wide_window_has_no_menu_to_open(signed_in: OpenPage) -> None:
    signed_in.goto("/repos")
    expect(signed_in.page.locator(".menu")).to_be_hidden()
    assert signed_in.page.get_by_role("navigation", name="Pages").get_by_role("link").count() == len(
        SHOWN_PAGES
    )


def stays(page: Page) -> None:
    """Marks the document, to see whether it was loaded again."""
    page.evaluate("window.stays = true")


def test_a_page_streams_on_after_its_gateway_was_killed(signed_in: OpenPage, tree: Path) -> None:
    stack = signed_in.town.stack
    with signed_in.page.expect_request("**/repos/events"):
        signed_in.goto("/repos")
    stays(signed_in.page)
    with signed_in.page.expect_request("**/repos/events", timeout=START_MS_MAX):
        os.kill(stack.pid("gateway"), signal.SIGKILL)
    wait_until_ready(stack)
    job = signed_in.page.locator("article.job", has_text="acme/again")
    with stack.held_import(tree, "acme/again"):
        expect(job).to_be_visible(timeout=IMPORT_MS_MAX)
    assert signed_in.page.evaluate("window.stays")


def test_a_stream_that_a_proxy_refuses_is_asked_for_again(signed_in: OpenPage) -> None:
    """A browser gives a stream up at the first answer that is none."""
    page, refused = signed_in.page, []

    def refuse(route) -> None:
        refused.append(route.request.url)
        route.fulfill(status=503, body="starting") if len(refused) == 1 else route.continue_()

    page.route("**/repos/events", refuse)
    with page.expect_response(
        lambda answer: answer.url.endswith("/repos/events") and answer.ok and len(refused) == 2,
        timeout=ANSWER_MS_MAX,
    ):
        signed_in.goto("/repos")


def test_a_page_leads_to_the_sign_in_when_its_session_ends(browser: Browser, town: HostileTown) -> None:
    page = browser.new_page()
    page.goto(town.stack.link())
    messages = BrowserMessages(page)
    page.context.clear_cookies()
    page.goto(town.stack.base + "/repos")
    assert page.url.endswith("/login?next=/repos")
    assert not messages.problems
    page.close()


def test_what_a_ref_needs_is_said_where_it_is_missing(signed_in: OpenPage) -> None:
    signed_in.goto(f"/r/{REPO}/-/compare/HEAD...nowhere")
    expect(signed_in.page.locator("[role=alert]")).to_contain_text(
        f"prism index PATH --name {REPO} --ref nowhere"
    )
    assert not inaccessible(signed_in.page)


def test_the_audit_fits_a_window_beside_the_menu(signed_in: OpenPage) -> None:
    """A label may have 100 characters without a space, and details have ids."""
    signed_in.town.stack.prism("tokens", "create", "--label", "x" * 100, "--scope", "read")
    signed_in.goto("/audit", DESKTOP)
    expect(signed_in.page.locator("tbody tr").first).to_contain_text("x" * 100)
    assert not signed_in.page.evaluate(
        "[...document.querySelectorAll('.wide')].some((one) => one.scrollWidth > one.clientWidth)"
    )


def test_a_new_token_is_copied(signed_in: OpenPage) -> None:
    page = signed_in.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    signed_in.goto("/tokens")
    page.fill("#label", "copied")
    page.get_by_role("button", name="Create").click()
    secret = page.locator("#secret").inner_text()
    button = page.get_by_role("button", name="Copy the token")
    assert not inaccessible(page)
    button.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    assert not signed_in.messages.problems
