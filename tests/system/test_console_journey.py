"""The console on a whole stack: sign in by a link, index hostile files, search, read, revoke."""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from running_stack import RunningStack, wait_until

REPO = "acme/hostile"
PAYLOAD = "<img src=x onerror=alert(1)>"
NAMES = ["src/payment.py", f"src/{PAYLOAD}.py", "docs/<script>alert(2)<!.md", "logo.png"]
CODE = f'''"""{PAYLOAD}"""


def charge_card(cents: int) -> str:
    """Charge a card: '"><svg onload=alert(3)>."""
    return "</code></pre><script>alert(4)</script>"


def pay() -> str:
    return charge_card(7)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The work tree of the repository."""
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def hostile(shared_stack: RunningStack, folder: Path) -> RunningStack:
    """The stack, with a repository whose paths, code and commit message are payloads."""
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0" if name.endswith(".png") else CODE.encode())
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", ".")
    _git(folder, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", PAYLOAD)
    shared_stack.index(folder, "--name", REPO)
    return shared_stack


@pytest.fixture
def browser(hostile: RunningStack) -> Iterator[httpx2.Client]:
    """A client that signed in by the link of `prism open`."""
    link = hostile.prism("open", "--print").stdout.split()[-1]
    with httpx2.Client(base_url=hostile.url, timeout=30, follow_redirects=True) as http:
        shown = http.get(link, headers={"Sec-Fetch-Site": "none"})
        assert shown.status_code == 200
        assert shown.url.path == "/repos"
        yield http


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def _check(page: httpx2.Response) -> str:
    """Returns the text of a page, whose hostile parts are text."""
    assert page.status_code == 200, page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<img" not in page.text
    assert "<svg onload" not in page.text
    assert not re.search(r"<script(?! src=\"/assets/)", page.text)
    assert not re.search(r"<[a-z][^>]*\s(?:on\w+|style)=", page.text)
    return page.text


def test_the_list_shows_the_repository_and_the_page_why_a_file_is_left_out(browser: httpx2.Client) -> None:
    assert "hostile" in _check(browser.get("/repos"))
    shown = _check(browser.get(f"/r/{REPO}"))
    assert "logo.png" in shown
    assert "binary" in shown


def test_a_search_leads_to_the_lines(browser: httpx2.Client) -> None:
    shown = _check(browser.get("/search", params={"q": "charge a card", "repo": REPO}))
    assert f"/r/{REPO}/-/blob/HEAD/" in shown
    assert "<mark>" in shown
    exact = _check(browser.get("/search", params={"q": "onerror=alert(1)", "mode": "exact", "repo": REPO}))
    assert "&lt;img src=x" in exact
    named = _check(browser.get("/search", params={"q": "charge_card", "mode": "symbol", "repo": REPO}))
    assert "definitions of" in named


@pytest.mark.parametrize("path", ["src/payment.py", f"src/{PAYLOAD}.py"])
def test_a_file_reads_as_it_is(browser: httpx2.Client, path: str) -> None:
    shown = _check(browser.get(f"/r/{REPO}/-/blob/HEAD/{quote(path)}"))
    assert 'href="?symbol=charge_card"' in shown
    assert "&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;" in shown
    _check(browser.get(f"/r/{REPO}/-/tree/HEAD/src"))


def test_a_name_leads_to_the_symbol_and_its_users(hostile: RunningStack, browser: httpx2.Client) -> None:
    def is_shown() -> bool:
        page = browser.get(f"/r/{REPO}/-/blob/HEAD/src/payment.py", params={"symbol": "charge_card"})
        assert page.url.path == f"/r/{REPO}/-/symbol/HEAD"
        return "Callers" in _check(page)

    wait_until(is_shown, what="the graph")


def test_a_card_has_the_signature_of_a_name(browser: httpx2.Client) -> None:
    card = _check(browser.get(f"/r/{REPO}/-/card/HEAD", params={"name": "charge_card", "path": NAMES[1]}))
    assert "def charge_card(cents: int)" in card
    assert "<p>Charge a card: &#39;&#34;&gt;.</p>" in card  # the index leaves tags of documentation out


def test_an_overlay_is_shown_beside_its_base(
    hostile: RunningStack, folder: Path, browser: httpx2.Client
) -> None:
    (folder / NAMES[0]).write_text(CODE.replace("charge_card(7)", f"charge_card(8)  # {PAYLOAD}"))
    (folder / NAMES[1]).unlink()
    (folder / "src" / f"new {PAYLOAD}.py").write_text(CODE)
    overlay = hostile.prism_json("sync", str(folder), "--name", REPO)
    shown = _check(browser.get(f"/r/{REPO}/-/branch/{quote(overlay['handle'])}"))
    for mark in ("added", "changed", "removed"):
        assert shown.count(f'<li><span class="mark {mark}">') == 1, mark
    assert "return charge_card(8)  # &lt;img" in shown
    assert 'class="l gone"' in shown
    assert overlay["handle"] in _check(browser.get(f"/r/{REPO}/-/branches"))


def test_the_other_pages_of_a_repository_answer(browser: httpx2.Client) -> None:
    for page in ("branches", "map/HEAD"):
        _check(browser.get(f"/r/{REPO}/-/{page}"))
    for page in ("/documents", "/tasks", "/wiki", "/usage", "/audit", "/tokens", "/health"):
        _check(browser.get(page))


def test_a_revoked_token_is_signed_out_within_a_second(hostile: RunningStack) -> None:
    made = hostile.prism_json("tokens", "create", "--label", "looker", "--scope", "read")
    with httpx2.Client(base_url=hostile.url, timeout=30) as http:
        answer = http.post(
            "/login", data={"token": made["secret"]}, headers={"Sec-Fetch-Site": "same-origin"}
        )
        assert answer.headers["location"] == "/repos"
        assert http.get("/repos").status_code == 200
        hostile.prism_json("tokens", "revoke", made["token"]["id"])
        began = time.monotonic()
        while (answer := http.get("/repos")).status_code == 200:
            assert time.monotonic() - began < 5
        assert answer.headers["location"] == "/login?next=/repos"
